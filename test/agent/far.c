/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* The connection to the agent, and what stands for far objects. */

#include <netdb.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "far.h"

#define MAX_OBJS (32 * 1024)
#define NB_BUCKETS 4096
/** How long an agent may take for one call, s; the environment may name another time. */
#define ANSWER_SECONDS 60
#define ANSWER_ENV "COMCH_AGENT_SECONDS"

static struct wire conn = { .fd = -1 };
static char peer[288];
static enum rte_comch_role role;
static int32_t pid;
static struct sockaddr_storage wake_addr;
static socklen_t wake_len;
/* Recursive: a call may need another one, for the twin of its poll or its memory. */
static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

static struct far_obj objs[MAX_OBJS];
static unsigned int nb_objs;
static struct far_obj *buckets[NB_BUCKETS];

bool
far_on(void)
{
	return conn.fd >= 0;
}

enum rte_comch_role
far_role(void)
{
	return role;
}

int32_t
far_pid(void)
{
	return pid;
}

static int
connect_to(const char *address)
{
	const struct addrinfo hints = { .ai_family = AF_INET, .ai_socktype = SOCK_STREAM };
	const char *colon = strrchr(address, ':');
	struct addrinfo *ai;
	char host[256];
	int fd, rc;

	if (colon == NULL)
		T_FAIL("agent \"%s\": expected HOST:PORT", address);
	snprintf(host, sizeof(host), "%.*s", (int)(colon - address), address);
	rc = getaddrinfo(host, colon + 1, &hints, &ai);
	if (rc != 0)
		T_FAIL("agent %s: %s", address, gai_strerror(rc));
	fd = socket(ai->ai_family, ai->ai_socktype | SOCK_CLOEXEC, 0);
	if (fd < 0 || connect(fd, ai->ai_addr, ai->ai_addrlen) != 0)
		T_FAIL("agent %s: connect: %s", address, strerror(errno));
	memcpy(&wake_addr, ai->ai_addr, ai->ai_addrlen);
	wake_len = ai->ai_addrlen;
	freeaddrinfo(ai);
	return fd;
}

static void
greet(void)
{
	struct wire_hello ours, theirs;
	struct wire *w;
	int64_t rc;

	wire_hello_fill(&ours);
	w = far_begin(CALL_HELLO);
	wire_put(w, &ours, sizeof(ours));
	rc = far_do(w);
	wire_get(w, &theirs, sizeof(theirs));
	far_end();
	if (rc != 0 || !wire_hello_match(&ours, &theirs))
		T_FAIL("%s: built from another version, or with another layout", peer);
	pid = theirs.pid;
	((struct sockaddr_in *)&wake_addr)->sin_port = htons(theirs.wake_port);
}

void
far_connect(const char *address, enum rte_comch_role far_end_role)
{
	struct timeval patience = { .tv_sec = ANSWER_SECONDS * t_patience() };
	int fd = connect_to(address);

	if (getenv(ANSWER_ENV) != NULL)
		patience.tv_sec = atoi(getenv(ANSWER_ENV));
	if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) != 0)
		T_FAIL("setsockopt: %s", strerror(errno));
	role = far_end_role;
	snprintf(peer, sizeof(peer), "agent %s", address);
	wire_init(&conn, fd, peer);
	greet();
}

void
far_disconnect(void)
{
	unsigned int i;

	if (!far_on())
		return;
	wire_close(&conn);
	for (i = 0; i < nb_objs; i++)
		free(objs[i].posted);
	nb_objs = 0;
	memset(objs, 0, sizeof(objs));
	memset(buckets, 0, sizeof(buckets));
}

int
far_wake_connect(void)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || connect(fd, (struct sockaddr *)&wake_addr, wake_len) != 0)
		T_FAIL("%s: connect for wake-ups: %s", peer, strerror(errno));
	return fd;
}

struct wire *
far_begin(enum call call)
{
	pthread_mutex_lock(&lock);
	if (!far_on())
		T_FAIL("no agent");
	wire_begin(&conn, call);
	return &conn;
}

int64_t
far_do(struct wire *w)
{
	const uint32_t call = w->call;
	int64_t ret, err;

	wire_send(w);
	if (!wire_recv(w) || w->call != call)
		T_FAIL("%s: %s: the agent has closed the connection; its output says why",
				peer, wire_call_name(call));
	wire_get(w, &ret, sizeof(ret));
	wire_get(w, &err, sizeof(err));
	rte_errno = (int)err;
	return ret;
}

void
far_tell(struct wire *w)
{
	wire_send(w);
}

void
far_end(void)
{
	pthread_mutex_unlock(&lock);
}

int64_t
far_call(enum call call, uint64_t arg)
{
	struct wire *w = far_begin(call);
	int64_t ret;

	wire_u64(w, arg);
	ret = far_do(w);
	far_end();
	return ret;
}

int64_t
far_call2(enum call call, uint64_t arg, uint64_t arg2)
{
	struct wire *w = far_begin(call);
	int64_t ret;

	wire_u64(w, arg);
	wire_u64(w, arg2);
	ret = far_do(w);
	far_end();
	return ret;
}

bool
far_is(const void *ptr)
{
	return (uintptr_t)ptr >= (uintptr_t)objs && (uintptr_t)ptr < (uintptr_t)(objs + MAX_OBJS);
}

uint64_t
far_handle(const void *ptr)
{
	return ((const struct far_obj *)ptr)->handle;
}

void *
far_obj(enum rte_comch_obj_type type, uint64_t handle)
{
	struct far_obj **bucket = &buckets[(handle >> 6 ^ handle >> 18) % NB_BUCKETS];
	struct far_obj *o;

	if (handle == 0)
		return NULL;
	pthread_mutex_lock(&lock);
	for (o = *bucket; o != NULL; o = o->next)
		if (o->handle == handle && o->type == type)
			break;
	if (o == NULL) {
		T_LT(nb_objs, MAX_OBJS);
		o = &objs[nb_objs++];
		o->handle = handle;
		o->type = type;
		o->next = *bucket;
		*bucket = o;
	}
	pthread_mutex_unlock(&lock);
	return o;
}

struct far_obj *
far_obj_new(enum rte_comch_obj_type type, uint64_t handle)
{
	struct far_obj *o = far_obj(type, handle);

	if (o == NULL)
		return NULL;
	/* The agent may have used the address before. */
	o->nb_posted = 0;
	o->mp = NULL;
	far_data_init(o);
	return o;
}
