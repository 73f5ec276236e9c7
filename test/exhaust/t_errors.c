/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Which call failed? An error at the start of a server, or of a connection, prints a line with
 * the call, the path and what the kernel says, and the remedy where one is known. No other
 * cause is named.
 */

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fault.h"
#include "t_log.h"
#include "t_main.h"
#include "t_pair.h"

static const struct t_driver shm = { .name = "comch_shm", .has_dir = true };

#define LOCAL "use a local directory (dir=, COMCH_DIR)"

/* A call that fails, from the nth on. */
struct row {
	const char *call;
	unsigned int nth;
	int err;
	const char *line[3]; /* what is printed */
};

/* A pair that is not connected yet; its server is stopped. */
static void
pair_begin(struct t_pair *p)
{
	t_driver = &shm;
	t_eal_start(1);
	T_GT(fault_install("librte_comch"), 0);
	t_pair_ends(p, NULL);
	T_EQ(rte_comch_server_stop(p->server), 0);
}

static void
pair_end(struct t_pair *p)
{
	/* What failed once was not for ever. */
	T_EQ(rte_comch_server_start(p->server), 0);
	t_pair_connect(p);
	t_pair_close(p);
	t_eal_stop();
}

#define E_CASE(case_name, p) T_CASE_OF(struct t_pair, pair_begin, pair_end, case_name, p)

/* Start the server; the log's text is to be freed. */
static char *
start(const struct t_pair *p, int expected)
{
	struct t_log l;

	t_log_begin(&l);
	T_EQ(rte_comch_server_start(p->server), expected);
	t_log_stop(&l);
	T_CHECK(fault_disarm());
	return l.text;
}

static void
check_row(const struct t_pair *p, const struct row *row)
{
	unsigned int i;
	char *text;

	fprintf(stderr, "%s: %s\n", row->call, strerror(row->err));
	fault_arm_call(row->call, row->nth, row->err);
	text = start(p, -row->err);
	fputs(text, stderr);
	for (i = 0; i < RTE_DIM(row->line) && row->line[i] != NULL; i++)
		T_STR_HAS(text, row->line[i]);
	T_CHECK(strstr(text, "was replaced") == NULL);
	free(text);
}

E_CASE(server_start, p)
{
	static const struct row rows[] = {
		/* Of the lock file. */
		{ "open", 1, EMFILE, { "cannot create lock file /", "Too many open files" } },
		{ "open", 1, EACCES, { "cannot create lock file /", "Permission denied" } },
		{ "flock", 1, ENOLCK, { "cannot lock /", "No locks available", LOCAL } },
		{ "flock", 1, EINTR, { "cannot lock /", "Interrupted" } },
		{ "socket", 1, EMFILE, { "socket for /", "Too many open files" } },
		/* The one that asks whether the name is in use. */
		{ "socket", 2, EMFILE, { "socket for /", "Too many open files" } },
		{ "bind", 1, EOPNOTSUPP, { "bind /", "not supported", LOCAL } },
		{ "bind", 1, EPERM, { "bind /", "not permitted", LOCAL } },
		{ "bind", 1, ENOSPC, { "bind /", "No space left" } },
		{ "open", 2, EMFILE, { "open /", "Too many open files" } },
		{ "open", 2, ELOOP, { "open /", "symbolic links" } },
		{ "fstat", 2, EIO, { "fstat /", "Input/output error" } },
		{ "listen", 1, EADDRINUSE, { "listen /", "Address already in use" } },
	};
	unsigned int i;

	for (i = 0; i < RTE_DIM(rows); i++)
		check_row(p, &rows[i]);
}

/* No call is to blame for that. */
E_CASE(name_is_in_use, p)
{
	char *text;

	fault_arm_call("flock", 1, EWOULDBLOCK);
	text = start(p, -EADDRINUSE);
	T_STR_HAS(text, "name is in use");
	T_CHECK(strstr(text, "cannot lock") == NULL);
	free(text);
}

/* A umask that takes the socket's mode away, and no way to give it back. */
E_CASE(umask_without_proc, p)
{
	mode_t before = umask(0777);
	char *text;

	fault_arm_call("syscall chmod", 1, ENOENT);
	text = start(p, -ENOENT);
	umask(before);
	T_STR_HAS(text, "chmod /");
	T_STR_HAS(text, "the umask took 0666 away");
	T_CHECK(strstr(text, "was replaced") == NULL);
	free(text);
}

/* Another user, who may write to the directory, is faster. */
static void
remove_socket(void)
{
	t_place_lose("pf0", "sock");
}

E_CASE(socket_is_removed, p)
{
	char *text;

	fault_arm_before("open", 2, remove_socket);
	text = start(p, -ENOENT);
	T_STR_HAS(text, "open /");
	T_STR_HAS(text, "it was removed during start (check the directory's write permissions)");
	free(text);
}

static void
replace_socket(void)
{
	char path[PATH_MAX];
	glob_t found;
	int fd;

	snprintf(path, sizeof(path), "%s/pf0/*.sock", t_dir());
	T_EQ(glob(path, 0, NULL, &found), 0);
	T_EQ(unlink(found.gl_pathv[0]), 0);
	fd = open(found.gl_pathv[0], O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
	T_GE(fd, 0);
	close(fd);
	globfree(&found);
}

E_CASE(socket_is_replaced, p)
{
	char *text;

	fault_arm_before("open", 2, replace_socket);
	text = start(p, -EACCES);
	T_STR_HAS(text, "was replaced during start by a file of uid 0 (check the directory's write "
		"permissions)");
	free(text);
}

/* Connect while a call fails, in vain. */
static void
check_connect(const struct t_pair *p, const struct row *row)
{
	unsigned int i, begun = p->host->nb_of[RTE_COMCH_EVENT_STATE];
	struct t_log l;

	fprintf(stderr, "%s: %s\n", row->call, strerror(row->err));
	t_log_begin(&l);
	fault_arm_call(row->call, row->nth, row->err);
	T_EQ(rte_comch_client_start(p->client), -EINPROGRESS);
	T_UNTIL(p->host->nb_of[RTE_COMCH_EVENT_STATE] > begun &&
		rte_comch_client_state(p->client) == RTE_COMCH_STATE_IDLE);
	t_log_stop(&l);
	T_CHECK(fault_disarm());
	fputs(l.text, stderr);
	for (i = 0; i < RTE_DIM(row->line) && row->line[i] != NULL; i++)
		T_STR_HAS(l.text, row->line[i]);
	free(l.text);
}

E_CASE(connect, p)
{
	static const struct row rows[] = {
		{ "memfd_create", 1, EPERM,
			{ "memory file comch_link of ", "memfd_create: Operation not permitted" } },
		{ "memfd_create", 1, EMFILE, { "memory file comch_link of ", "Too many open" } },
		{ "fallocate", 1, ENOSPC, { "memory file comch_link of ", "fallocate: No space" } },
		{ "fallocate", 1, EOPNOTSUPP, { "fallocate: Operation not supported" } },
		{ "mmap", 1, ENOMEM, { "memory file comch_link of ", "mmap: Cannot allocate" } },
	};
	unsigned int i;

	T_EQ(rte_comch_server_start(p->server), 0);
	for (i = 0; i < RTE_DIM(rows); i++)
		check_connect(p, &rows[i]);
	T_EQ(rte_comch_server_stop(p->server), 0);
}
