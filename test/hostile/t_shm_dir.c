/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* A directory made by another user; and clients that find no server. */

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <rte_errno.h>
#include <rte_log.h>

#include "victim.h"

V_SUITE(dir);

/* Most likely unused; a different one for each test that runs. */
#define OTHER_UID (1000000u + (uid_t)getpid())
#define LOG_SIZE 16384

/* Try to connect; the status that it ends with. */
static int
try_connect(struct t_node *node, int16_t dev)
{
	struct rte_comch_client *client = t_client_new(node, dev, V_NAME, NULL);
	int status;

	T_EQ(rte_comch_client_start(client), -EINPROGRESS);
	T_UNTIL(t_state_is(node, client, RTE_COMCH_STATE_IDLE));
	status = t_state_ev(node, client)->e.status;
	t_client_end(client);
	return status;
}

/* As a plain user without a variable, so that it is the directory below /tmp. */
static void
as_plain_user(char *path, size_t size)
{
	if (geteuid() != 0)
		t_skip("only root can be another user");
	unsetenv("COMCH_DIR");
	unsetenv("XDG_RUNTIME_DIR");
	snprintf(path, size, "/tmp/comch-%u", OTHER_UID);
	rmdir(path);
}

/* A client, and a server's device, on a directory of that owner and mode. */
static void
fallback_dir(uid_t owner, mode_t mode, int connect_status, int probe_status)
{
	struct t_log h = { 0 };
	int16_t host, dpu;
	struct t_node *node;
	char path[64];
	int status;

	as_plain_user(path, sizeof(path));
	T_EQ(mkdir(path, 0700), 0);
	T_EQ(chmod(path, mode), 0);
	T_EQ(chown(path, owner, owner), 0);
	node = t_node_new();
	T_EQ(seteuid(OTHER_UID), 0);
	T_EQ(rte_comch_dev_probe("comch_shm1,role=host", &host), 0);
	t_log_begin_at(&h, RTE_LOG_ERR);
	status = try_connect(node, host);
	t_log_stop(&h);
	T_EQ(rte_comch_dev_close(host), 0);
	T_EQ(rte_comch_dev_probe("comch_shm0,role=dpu", &dpu), probe_status);
	T_EQ(seteuid(0), 0);
	rmdir(path);
	T_EQ(status, connect_status);
	T_STR_HAS(h.text, path);
	free(h.text);
	t_node_free(node);
}

Test(dir, of_another_user)
{
	fallback_dir(OTHER_UID + 1, 0777, -EACCES, -EACCES);
}

Test(dir, others_may_write)
{
	fallback_dir(OTHER_UID, 0707, -EACCES, -EACCES);
}

Test(dir, group_may_write)
{
	fallback_dir(OTHER_UID, 0770, -EACCES, -EACCES);
}

/* Root's will do, if it can be entered: no server listens there. */
Test(dir, of_root)
{
	fallback_dir(0, 0755, -ENOENT, -EACCES);
}

/* A link in its place leads anywhere. */
Test(dir, link)
{
	struct t_node *node;
	char path[64];
	int16_t dev;

	as_plain_user(path, sizeof(path));
	unlink(path);
	T_EQ(symlink("/", path), 0); /* which others may enter */
	T_EQ(lchown(path, OTHER_UID, OTHER_UID), 0);
	node = t_node_new();
	T_EQ(seteuid(OTHER_UID), 0);
	T_EQ(rte_comch_dev_probe("comch_shm1,role=host", &dev), 0);
	T_EQ(try_connect(node, dev), -EACCES);
	T_EQ(rte_comch_dev_close(dev), 0);
	T_EQ(seteuid(0), 0);
	unlink(path);
	t_node_free(node);
}

/* What is logged goes to a program's own stream, which may set errno. */
static ssize_t
log_and_set_errno(void *cookie, const char *text, size_t len)
{
	size_t size = strlen(cookie);

	memcpy((char *)cookie + size, text, RTE_MIN(len, LOG_SIZE - 1 - size));
	errno = EXDEV;
	return (ssize_t)len;
}

/* A server's device on a directory that is refused, with its reason. */
static void
refused_dir(const char *dir, int status, const char *why)
{
	static const cookie_io_functions_t io = { .write = log_and_set_errno };
	char text[LOG_SIZE] = "", args[PATH_MAX + 64];
	int16_t dev;
	FILE *f;

	f = fopencookie(text, "w", io);
	T_CHECK(f != NULL);
	setbuf(f, NULL);
	rte_log_set_level_pattern("*comch*", RTE_LOG_ERR);
	rte_log_set_global_level(RTE_LOG_ERR);
	T_EQ(rte_openlog_stream(f), 0);
	snprintf(args, sizeof(args), "comch_shm0,role=dpu,dir=%s", dir);
	T_EQ(rte_comch_dev_probe(args, &dev), status);
	T_EQ(rte_openlog_stream(NULL), 0);
	fclose(f);
	T_STR_HAS(text, why);
	T_EQ(rte_comch_dev_count(), 0);
}

Test(dir, of_no_use)
{
	char path[PATH_MAX] = "/", file[64];
	FILE *f;

	refused_dir("run/comch", -EINVAL, "an absolute path");
	memset(path + 1, 'x', sizeof(path) - 2);
	refused_dir(path, -ENAMETOOLONG, "File name too long");
	snprintf(path, sizeof(path), "%s/missing/comch", t_dir());
	refused_dir(path, -ENOENT, "No such file or directory");
	snprintf(file, sizeof(file), "%s/file", t_dir());
	f = fopen(file, "w");
	T_CHECK(f != NULL);
	fclose(f);
	refused_dir(file, -ENOTDIR, "is not a directory");
}

/* The error names the directory: sides with different directories do not meet. */
Test(dir, error_names_it)
{
	struct t_log h = { 0 };
	struct t_pair p;

	t_pair_devs(&p, NULL);
	t_log_begin_at(&h, RTE_LOG_ERR);
	T_EQ(try_connect(p.host, p.host_dev), -ENOENT);
	t_log_stop(&h);
	T_STR_HAS(h.text, t_dir());
	T_STR_HAS(h.text, V_NAME);
	free(h.text);
	t_pair_close(&p);
}

/* Descriptors of ours in flight, more than a plain user may have. */
static unsigned int
fill_flight(int *pair, int fd, unsigned int max)
{
	unsigned int n = 0;

	T_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	while (n < max && raw_sock_send(pair[0], "x", 1, &fd, 1) == 1)
		n++;
	return n;
}

/* The server's hello finds no way for a while: the client waits, and gets it. */
Test(dir, hello_waits_for_descriptors_in_flight)
{
	struct rlimit lim, few;
	struct raw_peer a;
	struct victim v;
	unsigned int n;
	int pair[2];

	if (geteuid() != 0)
		t_skip("only root can become a plain user");
	v_open(&v, NULL);
	raw_open(&a, v_dial(), RAW_CELLS);
	/* A frame is there already: it is not read before the answer. */
	raw_send_hello(&a, V_NAME, 4080, 64);
	T_EQ(getrlimit(RLIMIT_NOFILE, &lim), 0);
	few = lim;
	few.rlim_cur = 128;
	/* The real uid as well: by that the kernel counts, and other tests have descriptors. */
	T_EQ(setresuid(OTHER_UID, OTHER_UID, 0), 0);
	T_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
	n = fill_flight(pair, a.sock, 1000);
	if (n == 1000)
		t_skip("this kernel does not count descriptors in flight");
	/* The attacker's own is one of them, and arrives. */
	few.rlim_cur = 120;
	T_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
	t_settle();
	T_CHECK(!raw_is_up(&a));
	T_CHECK(!raw_is_hung_up(&a));
	close(pair[0]);
	close(pair[1]);
	T_UNTIL(raw_is_up(&a));
	T_UNTIL(t_count(v.p.dpu, RTE_COMCH_EVENT_CONNECTED, NULL) > 0);
	T_EQ(setrlimit(RLIMIT_NOFILE, &lim), 0);
	T_EQ(setresuid(0, 0, 0), 0);
	raw_close(&a);
	v_close(&v);
}

static const char *
lock_path(void)
{
	static char path[PATH_MAX];

	raw_path(path, sizeof(path), t_dir(), "pf0", V_NAME);
	memcpy(strrchr(path, '.'), ".lock", sizeof(".lock"));
	return path;
}

/* Remove both files of a server, as a cleaning job does. */
static void
clean_up(void)
{
	char path[PATH_MAX];

	raw_path(path, sizeof(path), t_dir(), "pf0", V_NAME);
	T_EQ(unlink(path), 0);
	T_EQ(unlink(lock_path()), 0);
}

static bool
is_locked(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool locked = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;

	if (fd >= 0)
		close(fd);
	return locked;
}

/* A cleanup spares sockets in use, not locks. The name stays with its server all the same. */
Test(dir, lock_removed)
{
	const struct t_pair_conf conf = { .name = V_NAME };
	struct rte_comch_server_conf sc = { .conf_size = sizeof(sc), .name = V_NAME };
	struct rte_comch_server_stats before, after;
	struct rte_comch_server *second;
	struct t_node *node;
	struct t_pair p;

	t_pair_open(&p, &conf);
	T_EQ(rte_comch_server_stats_get(p.server, &before), 0);
	p.dpu->paused = true;
	T_EQ(unlink(lock_path()), 0);
	node = t_node_new();
	sc.poll = node->poll;
	second = rte_comch_server_create(p.dpu_dev, &sc);
	T_CHECK(second != NULL);
	T_EQ(rte_comch_server_start(second), -EADDRINUSE);
	/* The first one has not seen that, and locks its name anew. */
	p.dpu->paused = false;
	T_UNTIL(is_locked(lock_path()));
	T_EQ(rte_comch_server_start(second), -EADDRINUSE);
	T_EQ(rte_comch_server_stats_get(p.server, &after), 0);
	T_EQ(memcmp(&before, &after, sizeof(after)), 0);
	T_EQ(rte_comch_server_state(p.server), RTE_COMCH_STATE_RUNNING);
	T_EQ(rte_comch_server_destroy(second), 0);
	t_node_free(node);
	t_pair_close(&p);
}

/* A process that ended by a signal leaves both: its name is free. */
Test(dir, socket_left_behind)
{
	const struct t_pair_conf conf = { .name = V_NAME };
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	struct t_pair p;
	int sock;

	t_pair_open(&p, &conf);
	t_pair_close(&p);
	raw_path(sun.sun_path, sizeof(sun.sun_path), t_dir(), "pf0", V_NAME);
	sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	T_EQ(bind(sock, (const struct sockaddr *)&sun, sizeof(sun)), 0);
	close(sock);
	t_pair_open(&p, &conf);
	t_pair_close(&p);
}

/* Another one got the name before the first had noticed: that one's files stay. */
Test(dir, replaced)
{
	const struct t_pair_conf conf = { .name = V_NAME };
	struct rte_comch_server *second;
	struct t_node *node;
	const struct t_ev *ev;
	struct t_pair p;

	t_pair_open(&p, &conf);
	node = t_node_new();
	p.dpu->paused = true;
	clean_up();
	second = t_server_new(node, p.dpu_dev, V_NAME, 0, NULL);
	p.dpu->paused = false;
	T_UNTIL(t_state_is(p.dpu, p.server, RTE_COMCH_STATE_IDLE));
	ev = t_state_ev(p.dpu, p.server);
	T_EQ(ev->e.status, -ENOENT);
	T_STR_HAS(ev->text, "replaced");
	T_EQ(rte_comch_server_state(second), RTE_COMCH_STATE_RUNNING);
	T_EQ(rte_comch_server_start(p.server), -EADDRINUSE);
	T_UNTIL(rte_comch_client_state(p.client) == RTE_COMCH_STATE_IDLE);
	T_EQ(rte_comch_client_start(p.client), -EINPROGRESS);
	T_UNTIL(t_count(node, RTE_COMCH_EVENT_CONNECTED, NULL) == 1);
	t_client_end(p.client);
	p.client = NULL;
	t_server_end(second);
	t_node_free(node);
	t_pair_close(&p);
}

/* A server's file that is touched is not lost. */
Test(dir, touched)
{
	const struct t_pair_conf conf = { .name = V_NAME };
	char path[PATH_MAX];
	struct t_pair p;

	t_pair_open(&p, &conf);
	raw_path(path, sizeof(path), t_dir(), "pf0", V_NAME);
	T_EQ(chmod(path, 0600), 0);
	T_EQ(chmod(path, 0666), 0);
	t_settle();
	T_EQ(rte_comch_server_state(p.server), RTE_COMCH_STATE_RUNNING);
	T_EQ(t_count(p.dpu, RTE_COMCH_EVENT_STATE, NULL), 0);
	t_pair_close(&p);
}

/* A directory that is moved takes the way to the server with it. */
Test(dir, moved)
{
	const struct t_pair_conf conf = { .name = V_NAME };
	char from[PATH_MAX], to[PATH_MAX + 8];
	struct t_pair p;

	t_pair_open(&p, &conf);
	snprintf(from, sizeof(from), "%s/pf0", t_dir());
	snprintf(to, sizeof(to), "%s.gone", from);
	T_EQ(rename(from, to), 0);
	T_UNTIL(t_state_is(p.dpu, p.server, RTE_COMCH_STATE_IDLE));
	T_EQ(t_state_ev(p.dpu, p.server)->e.status, -ENOENT);
	T_EQ(rename(to, from), 0);
	t_pair_close(&p);
}

/* What a socket's path leads to as soon as it is bound; NULL: to the socket. */
static const char *swap_for;

/* Stands before the C library's: the moment after it is the attacker's. */
int
bind(int sock, const struct sockaddr *addr, socklen_t len)
{
	int (*next)(int sock, const struct sockaddr *addr, socklen_t len);
	const char *path = ((const struct sockaddr_un *)addr)->sun_path;
	int ret;

	*(void **)&next = dlsym(RTLD_NEXT, "bind");
	ret = next(sock, addr, len);
	if (ret == 0 && swap_for != NULL) {
		T_EQ(unlink(path), 0);
		T_EQ(symlink(swap_for, path), 0);
	}
	return ret;
}

/* A writer of the directory cannot make us open a file to all users. */
Test(dir, socket_swapped_for_a_link)
{
	struct rte_comch_server_conf sc = { .conf_size = sizeof(sc), .name = V_NAME };
	struct rte_comch_server *server;
	char path[PATH_MAX], secret[PATH_MAX];
	struct t_pair p;
	struct stat st;
	FILE *f;

	t_pair_devs(&p, NULL);
	snprintf(path, sizeof(path), "%s/pf0", t_dir());
	T_EQ(chmod(path, 0777), 0);
	snprintf(secret, sizeof(secret), "%s/secret", t_dir());
	f = fopen(secret, "w");
	T_CHECK(f != NULL);
	fclose(f);
	T_EQ(chmod(secret, 0600), 0);
	sc.poll = p.dpu->poll;
	server = rte_comch_server_create(p.dpu_dev, &sc);
	T_CHECK(server != NULL);
	swap_for = secret;
	T_EQ(rte_comch_server_start(server), -EACCES);
	swap_for = NULL;
	T_EQ(stat(secret, &st), 0);
	T_EQ(st.st_mode & 07777, 0600);
	/* Undisturbed, it starts; search permission is enough to connect, whatever our umask. */
	umask(077);
	T_EQ(rte_comch_server_start(server), 0);
	raw_path(path, sizeof(path), t_dir(), "pf0", V_NAME);
	T_EQ(stat(path, &st), 0);
	T_EQ(st.st_mode & 07777, 0666);
	t_server_end(server);
	T_EQ(unlink(secret), 0);
	t_pair_close(&p);
}
