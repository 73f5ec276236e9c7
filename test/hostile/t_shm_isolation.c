/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Other users: what they cannot connect to, take over, read or be taken for. */

#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rte_log.h>

#include "victim.h"

V_SUITE(isolation);

/* Most likely unused; a different one for each test that runs. */
#define OTHER_UID (1000000u + (uid_t)getpid())

/* Where both ends meet: others reach it, unlike what is below TMPDIR. */
static char dir[64];

static const char *
path_of(const char *suffix)
{
	static char path[PATH_MAX];

	raw_path(path, sizeof(path), dir, "pf0", V_NAME);
	if (suffix != NULL)
		memcpy(strrchr(path, '.') + 1, suffix, strlen(suffix) + 1);
	return path;
}

static int
probe(unsigned int number, const char *args, int16_t *dev)
{
	char text[256];

	snprintf(text, sizeof(text), "comch_shm%u,%s,dir=%s", number, args, dir);
	return rte_comch_dev_probe(text, dev);
}

/** The victim, root, and its device; what it logs. */
struct scene {
	struct t_node *node;
	int16_t dpu, host;
	struct rte_comch_server *server;
	struct t_log log;
};

static void
scene_open(struct scene *s)
{
	if (geteuid() != 0)
		t_skip("only root can be another user");
	memset(s, 0, sizeof(*s));
	snprintf(dir, sizeof(dir), "/tmp/comch-isolation-XXXXXX");
	T_CHECK(mkdtemp(dir) != NULL);
	T_EQ(chmod(dir, 0755), 0);
	s->node = t_node_new();
	T_EQ(probe(0, "role=dpu,rep=[pf0,pf1]", &s->dpu), 0);
	T_EQ(probe(1, "role=host,func=pf0", &s->host), 0);
}

static void
scene_serve(struct scene *s)
{
	s->server = t_server_new(s->node, s->dpu, V_NAME, 0, NULL);
}

/* The mode of the function's directory, which is the isolation. */
static void
scene_mode(mode_t mode)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/pf0", dir);
	T_EQ(chmod(path, mode), 0);
}

static void
scene_close(struct scene *s)
{
	char command[sizeof(dir) + 16];

	t_server_end(s->server);
	t_settle();
	T_EQ(rte_comch_dev_close(s->host), 0);
	T_EQ(rte_comch_dev_close(s->dpu), 0);
	t_node_free(s->node);
	snprintf(command, sizeof(command), "rm -r %s", dir);
	T_EQ(system(command), 0);
}

#define SCENE_CASE(name, s) \
	static void name##_in(struct scene *s); \
	Test(isolation, name) \
	{ \
		struct scene scene_; \
		scene_open(&scene_); \
		name##_in(&scene_); \
		scene_close(&scene_); \
	} \
	static void \
	name##_in(struct scene *s)

/* What the library logs until the end says the text, in one line. */
static void
log_begin(struct scene *s)
{
	t_log_begin_at(&s->log, RTE_LOG_ERR);
}

static void
log_says(struct scene *s, const char *text)
{
	t_log_stop(&s->log);
	T_STR_HAS(s->log.text, text);
	T_CHECK(strchr(s->log.text, '\n') == strrchr(s->log.text, '\n'));
	free(s->log.text);
}

/* Run by another user's process: the errno that it ends with, or 0. */
static int
as_other(int (*fn)(const void *arg), const void *arg)
{
	int status = 0;
	pid_t pid;

	pid = fork();
	T_GE(pid, 0);
	if (pid == 0) {
		if (setgroups(0, NULL) != 0 || setresgid(OTHER_UID, OTHER_UID, OTHER_UID) != 0 ||
				setresuid(OTHER_UID, OTHER_UID, OTHER_UID) != 0)
			_exit(255);
		_exit(fn(arg) == 0 ? 0 : errno);
	}
	T_EQ(waitpid(pid, &status, 0), pid);
	T_CHECK(WIFEXITED(status) && WEXITSTATUS(status) != 255);
	return WEXITSTATUS(status);
}

/* A client of this process as that user: how connecting ends. */
static int
connect_as(struct scene *s, uid_t uid, int16_t dev)
{
	struct rte_comch_client *client = t_client_new(s->node, dev, V_NAME, NULL);
	int status = 0;

	T_EQ(seteuid(uid), 0);
	T_EQ(rte_comch_client_start(client), -EINPROGRESS);
	T_UNTIL(t_state_is(s->node, client, RTE_COMCH_STATE_IDLE) ||
		t_state_is(s->node, client, RTE_COMCH_STATE_RUNNING));
	T_EQ(seteuid(0), 0);
	status = t_state_ev(s->node, client)->e.status;
	t_client_end(client);
	return status;
}

/* Connecting */

SCENE_CASE(connect_without_search_permission, s)
{
	scene_serve(s);
	log_begin(s);
	T_EQ(connect_as(s, OTHER_UID, s->host), -EACCES);
	log_says(s, dir);
	T_EQ(connect_as(s, 0, s->host), 0);
}

static int
dial(const void *arg)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int sock = socket(AF_UNIX, SOCK_SEQPACKET, 0);

	if (strlen(arg) >= sizeof(addr.sun_path))
		T_FAIL("%s: too long for a socket", (const char *)arg);
	memcpy(addr.sun_path, arg, strlen(arg) + 1);
	return connect(sock, (struct sockaddr *)&addr, sizeof(addr));
}

/* The socket's own mode lets all in: the directory decides. */
SCENE_CASE(dial_without_search_permission, s)
{
	scene_serve(s);
	T_EQ(as_other(dial, path_of(NULL)), EACCES);
	scene_mode(0710);
	T_EQ(as_other(dial, path_of(NULL)), EACCES);
	scene_mode(0711);
	T_EQ(as_other(dial, path_of(NULL)), 0);
}

/* The same name on another function: no server. */
SCENE_CASE(wrong_function, s)
{
	int16_t dev;

	scene_serve(s);
	T_EQ(probe(2, "role=host,func=pf1", &dev), 0);
	log_begin(s);
	T_EQ(connect_as(s, 0, dev), -ENOENT);
	log_says(s, "pf1");
	T_EQ(rte_comch_dev_close(dev), 0);
}

/* One that is let in is known by the kernel's word. */
SCENE_CASE(identity, s)
{
	struct rte_comch_client *client = t_client_new(s->node, s->host, V_NAME, NULL);
	struct rte_comch_conn_info info;
	struct rte_comch_conn *conn;
	unsigned int i;
	uid_t id;

	scene_serve(s);
	scene_mode(0711);
	T_EQ(setegid(OTHER_UID), 0);
	T_EQ(seteuid(OTHER_UID), 0);
	T_EQ(rte_comch_client_start(client), -EINPROGRESS);
	T_EQ(seteuid(0), 0);
	T_EQ(setegid(0), 0);
	T_UNTIL(t_count(s->node, RTE_COMCH_EVENT_CONNECTED, NULL) == 2);
	for (i = 0; i < 2; i++) {
		conn = t_find(s->node, RTE_COMCH_EVENT_CONNECTED, NULL, i)->e.conn;
		id = rte_comch_conn_server(conn) != NULL ? OTHER_UID : 0;
		T_EQ(rte_comch_conn_info_get(conn, &info), 0);
		T_EQ(info.peer_uid, id);
		T_EQ(info.peer_gid, id);
	}
	t_client_end(client);
}

/* Serving, with search permission only: clients may have it */

static struct rte_comch_server *
server_new(struct scene *s)
{
	struct rte_comch_server_conf conf = {
		.conf_size = sizeof(conf), .poll = s->node->poll, .name = V_NAME,
	};
	struct rte_comch_server *server = rte_comch_server_create(s->dpu, &conf);

	T_CHECK(server != NULL);
	return server;
}

/* A start that is refused, with one line. */
static void
start_is(struct scene *s, int err, const char *text)
{
	struct rte_comch_server *server = server_new(s);

	log_begin(s);
	T_EQ(rte_comch_server_start(server), err);
	log_says(s, text);
	T_EQ(rte_comch_server_destroy(server), 0);
	t_settle();
}

SCENE_CASE(serve_without_write_permission, s)
{
	struct rte_comch_server *server = server_new(s);

	scene_mode(0711);
	T_EQ(seteuid(OTHER_UID), 0);
	log_begin(s);
	T_EQ(rte_comch_server_start(server), -EACCES);
	log_says(s, "Permission denied");
	T_EQ(seteuid(0), 0);
	T_EQ(rte_comch_server_destroy(server), 0);
	t_settle();
	scene_serve(s);
	T_EQ(connect_as(s, 0, s->host), 0);
}

static int
remove_file(const void *arg)
{
	return unlink(arg);
}

static int
move_away(const void *arg)
{
	char to[PATH_MAX + 8];

	snprintf(to, sizeof(to), "%s.old", (const char *)arg);
	return rename(arg, to);
}

static int
open_to_write(const void *arg)
{
	return open(arg, O_RDWR) < 0 ? -1 : 0;
}

static int
open_to_read(const void *arg)
{
	return open(arg, O_RDONLY) < 0 ? -1 : 0;
}

static int
make_link(const void *arg)
{
	char to[PATH_MAX + 8];

	snprintf(to, sizeof(to), "/tmp/comch-isolation-%d", (int)getpid());
	return link(arg, to);
}

static int
change_mode(const void *arg)
{
	return chmod(arg, 0777);
}

static int
list(const void *arg)
{
	return opendir(arg) == NULL ? -1 : 0;
}

/* A client's user can do nothing to a server's files, and not even list them. */
SCENE_CASE(files_of_a_server, s)
{
	static const char *const suffixes[] = { "sock", "lock" };
	char path[PATH_MAX];
	unsigned int i;

	scene_serve(s);
	scene_mode(0711);
	for (i = 0; i < RTE_DIM(suffixes); i++) {
		T_EQ(as_other(remove_file, path_of(suffixes[i])), EACCES);
		T_EQ(as_other(move_away, path_of(suffixes[i])), EACCES);
		T_EQ(as_other(change_mode, path_of(suffixes[i])), EPERM);
	}
	T_EQ(as_other(make_link, path_of("lock")), EPERM);
	T_EQ(as_other(open_to_write, path_of("lock")), EACCES);
	/* flock() needs no more than this: a reader could keep the name. */
	T_EQ(as_other(open_to_read, path_of("lock")), EACCES);
	snprintf(path, sizeof(path), "%s/pf0", dir);
	T_EQ(as_other(list, path), EACCES);
	t_settle();
	T_EQ(rte_comch_server_state(s->server), RTE_COMCH_STATE_RUNNING);
	T_EQ(connect_as(s, 0, s->host), 0);
}

/* Squatting, in a directory that others may write to */

/* A file of another user in the place of the lock. */
static int
squat(const void *arg)
{
	int fd = open(arg, O_CREAT | O_EXCL | O_RDWR, 0666);

	return fd < 0 ? -1 : close(fd);
}

SCENE_CASE(squatted_lock, s)
{
	int fd;

	scene_mode(0777);
	T_EQ(as_other(squat, path_of("lock")), 0);
	/* As long as it is held; the kernel gives it up at the holder's death. */
	fd = open(path_of("lock"), O_RDWR | O_CLOEXEC);
	T_GE(fd, 0);
	T_EQ(flock(fd, LOCK_EX | LOCK_NB), 0);
	start_is(s, -EADDRINUSE, "name is in use");
	close(fd);
	scene_serve(s);
	T_EQ(connect_as(s, 0, s->host), 0);
}

static int
squat_by_directory(const void *arg)
{
	return mkdir(arg, 0777);
}

SCENE_CASE(squatted_by_directories, s)
{
	scene_mode(0777);
	T_EQ(as_other(squat_by_directory, path_of("lock")), 0);
	start_is(s, -EISDIR, "Is a directory");
	T_EQ(rmdir(path_of("lock")), 0);
	T_EQ(as_other(squat_by_directory, path_of("sock")), 0);
	start_is(s, -EADDRINUSE, "in use");
	T_EQ(rmdir(path_of("sock")), 0);
	/* What was refused has left nothing. */
	T_EQ(access(path_of("lock"), F_OK), -1);
	scene_serve(s);
}

static int
link_to_secret(const void *arg)
{
	char secret[PATH_MAX];

	snprintf(secret, sizeof(secret), "%s/secret", dir);
	return symlink(secret, arg);
}

static void
secret_is_untouched(const char *secret)
{
	struct stat st;

	T_EQ(lstat(secret, &st), 0);
	T_CHECK(S_ISREG(st.st_mode));
	T_EQ(st.st_size, 5);
	T_EQ(st.st_mode & 07777, 0600);
	T_EQ(st.st_uid, 0);
}

/* Links to a file of the victim's, which stays as it was. */
SCENE_CASE(links_to_a_secret, s)
{
	char secret[PATH_MAX];
	FILE *f;

	snprintf(secret, sizeof(secret), "%s/secret", dir);
	f = fopen(secret, "w");
	T_CHECK(f != NULL && fputs("quiet", f) >= 0);
	fclose(f);
	T_EQ(chmod(secret, 0600), 0);
	scene_mode(0777);
	T_EQ(as_other(link_to_secret, path_of("lock")), 0);
	start_is(s, -ELOOP, "Too many levels");
	T_EQ(unlink(path_of("lock")), 0);
	/* A hard link, which another user could not make (protected_hardlinks). */
	T_EQ(link(secret, path_of("lock")), 0);
	scene_serve(s);
	t_server_end(s->server);
	s->server = NULL;
	secret_is_untouched(secret);
	T_EQ(as_other(link_to_secret, path_of("sock")), 0);
	scene_serve(s);
	T_EQ(connect_as(s, 0, s->host), 0);
	t_server_end(s->server);
	s->server = NULL;
	secret_is_untouched(secret);
}

/* Directories */

/* A function's directory that is not ours, or not one: its owner would be the server. */
SCENE_CASE(directory_of_a_function, s)
{
	char path[PATH_MAX];
	int16_t dev;

	snprintf(path, sizeof(path), "%s/pf2", dir);
	T_EQ(mkdir(path, 0700), 0);
	T_EQ(chown(path, OTHER_UID, OTHER_UID), 0);
	log_begin(s);
	T_EQ(probe(2, "role=dpu,rep=pf2", &dev), -EACCES);
	t_log_stop(&s->log);
	T_STR_HAS(s->log.text, path);
	T_STR_HAS(s->log.text, "expected owner");
	free(s->log.text);
	T_EQ(rmdir(path), 0);
	T_EQ(symlink("/tmp", path), 0);
	log_begin(s);
	T_EQ(probe(2, "role=dpu,rep=pf2", &dev), -ENOTDIR);
	t_log_stop(&s->log);
	T_STR_HAS(s->log.text, "not a directory");
	free(s->log.text);
}

/* The memory of the process */

static int
list_fds(const void *arg)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/fd", *(const pid_t *)arg);
	return opendir(path) == NULL ? -1 : 0;
}

static int
open_fd(const void *arg)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", *(const pid_t *)arg, STDERR_FILENO + 1);
	return open(path, O_RDWR) < 0 ? -1 : 0;
}

static int
read_memory(const void *arg)
{
	uint8_t byte;
	struct iovec here = { .iov_base = &byte, .iov_len = 1 };
	struct iovec there = { .iov_base = dir, .iov_len = 1 };

	return process_vm_readv(*(const pid_t *)arg, &here, 1, &there, 1, 0) < 0 ? -1 : 0;
}

static int
attach(const void *arg)
{
	return ptrace(PTRACE_SEIZE, *(const pid_t *)arg, NULL, NULL) < 0 ? -1 : 0;
}

static int
take_fd(const void *arg)
{
	int pidfd = (int)syscall(SYS_pidfd_open, *(const pid_t *)arg, 0);

	return syscall(SYS_pidfd_getfd, pidfd, STDERR_FILENO + 1, 0) < 0 ? -1 : 0;
}

/* A client's user reaches the server's memory by what the server sends, only. */
SCENE_CASE(memory_of_a_server, s)
{
	const pid_t pid = getpid();

	scene_serve(s);
	scene_mode(0711);
	T_EQ(as_other(list_fds, &pid), EACCES);
	T_EQ(as_other(open_fd, &pid), EACCES);
	T_EQ(as_other(read_memory, &pid), EPERM);
	T_EQ(as_other(attach, &pid), EPERM);
	T_EQ(as_other(take_fd, &pid), EPERM);
}
