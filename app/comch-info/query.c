/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "app_eal.h"
#include "info.h"

/* EAL's name. Processes that share a directory append ":1" and so on. */
#define SOCKET_NAME "dpdk_telemetry.v2"
/* For stopped processes, which do not answer. */
#define TIMEOUT_S 5
#define GREETING_SIZE 1024
#define MAX_REPLY (UINT32_C(16) << 20)

/* Receive one message as a string; NULL with errno set. */
static char *
receive(struct info_process *p)
{
	char *buf = malloc(p->reply_size + 1);
	ssize_t len;

	if (buf == NULL)
		return NULL;
	do {
		len = recv(p->fd, buf, p->reply_size, 0);
	} while (len < 0 && errno == EINTR);
	if (len <= 0) {
		free(buf);
		errno = len == 0 ? ECONNRESET : errno;
		return NULL;
	}
	buf[len] = '\0';
	return buf;
}

static json_t *
receive_json(struct info_process *p)
{
	char *text = receive(p);
	json_t *json;

	if (text == NULL)
		return NULL;
	json = json_loads(text, 0, NULL);
	free(text);
	return json;
}

/* {"version":"DPDK 22.11.11","pid":1,"max_output_len":16384} */
static int
greet(struct info_process *p)
{
	json_int_t size;
	json_t *json;

	p->reply_size = GREETING_SIZE;
	errno = 0;
	json = receive_json(p);
	if (json == NULL)
		return errno != 0 ? -errno : -EPROTO;
	p->pid = json_integer_value(json_object_get(json, "pid"));
	snprintf(p->eal, sizeof(p->eal), "%s",
		json_is_string(json_object_get(json, "version")) ?
		json_string_value(json_object_get(json, "version")) : "?");
	size = json_integer_value(json_object_get(json, "max_output_len"));
	p->reply_size = size > 0 && size <= MAX_REPLY ? (size_t)size : 16384;
	json_decref(json);
	return 0;
}

static int
dial(struct info_process *p)
{
	const struct timeval timeout = { .tv_sec = TIMEOUT_S };
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	int ret;

	memcpy(sun.sun_path, p->path, sizeof(sun.sun_path));
	p->fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (p->fd < 0)
		return -errno;
	setsockopt(p->fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
	setsockopt(p->fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout));
	ret = connect(p->fd, (const struct sockaddr *)&sun, sizeof(sun)) == 0 ? 0 : -errno;
	if (ret == 0)
		ret = greet(p);
	if (ret != 0)
		close(p->fd);
	return ret;
}

/* Connect to a socket, which may be stale. */
static void
try_socket(struct info_found *found, const char *prefix, const char *name)
{
	struct info_process *p = &found->process[found->nb];
	char path[sizeof(p->path)];
	int ret;

	if (found->nb == INFO_MAX_PROCESSES || strncmp(name, SOCKET_NAME,
			strlen(SOCKET_NAME)) != 0)
		return;
	memset(p, 0, sizeof(*p));
	ret = snprintf(path, sizeof(path), "%s/%s/%s", found->dir, prefix, name);
	if (ret < 0 || (size_t)ret >= sizeof(path))
		return;
	memcpy(p->path, path, sizeof(path));
	snprintf(p->prefix, sizeof(p->prefix), "%s", prefix);
	ret = dial(p);
	if (ret == 0)
		found->nb++;
	else if (ret == -EACCES || ret == -EPERM)
		found->nb_denied++;
	else if (ret == -EAGAIN)
		INFO_ERR("%s: no answer within %d s", p->path, TIMEOUT_S);
	else if (ret == -ECONNRESET)
		/* EAL disconnects clients beyond its limit. */
		found->nb_full++;
	else if (ret != -ECONNREFUSED && ret != -ENOENT)
		INFO_ERR("%s: %s", p->path, strerror(-ret));
}

static void
try_prefix(struct info_found *found, const char *prefix)
{
	char path[sizeof(found->dir) + 256];
	struct dirent *e;
	DIR *d;

	if (prefix[0] == '.')
		return;
	snprintf(path, sizeof(path), "%s/%s", found->dir, prefix);
	d = opendir(path);
	if (d == NULL) {
		found->nb_denied += errno == EACCES;
		return;
	}
	while ((e = readdir(d)) != NULL)
		try_socket(found, prefix, e->d_name);
	closedir(d);
}

void
info_find(struct info_found *found, const char *prefix)
{
	struct dirent *e;
	DIR *d;

	found->nb = 0;
	found->nb_denied = 0;
	found->nb_full = 0;
	snprintf(found->dir, sizeof(found->dir), "%s/dpdk", app_eal_base());
	if (prefix != NULL) {
		try_prefix(found, prefix);
		return;
	}
	d = opendir(found->dir);
	if (d == NULL)
		return;
	while ((e = readdir(d)) != NULL)
		try_prefix(found, e->d_name);
	closedir(d);
}

void
info_found_close(struct info_found *found)
{
	while (found->nb > 0)
		close(found->process[--found->nb].fd);
}

json_t *
info_ask(struct info_process *p, const char *fmt, ...)
{
	json_t *reply, *answer;
	char request[128];
	const char *key;
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vsnprintf(request, sizeof(request), fmt, ap);
	va_end(ap);
	if (p->lost || len < 0 || (size_t)len >= sizeof(request))
		return NULL;
	p->lost = send(p->fd, request, (size_t)len, MSG_NOSIGNAL) != len;
	reply = p->lost ? NULL : receive_json(p);
	if (reply == NULL) {
		p->lost = true;
		return NULL;
	}
	/* {"/comch/conn/info": {...}}: the command without its parameters. */
	key = json_object_iter_key(json_object_iter(reply));
	answer = key != NULL ? json_incref(json_object_get(reply, key)) : NULL;
	json_decref(reply);
	if (json_is_null(answer)) {
		json_decref(answer);
		return NULL;
	}
	return answer;
}
