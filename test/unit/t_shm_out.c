/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* How many descriptors may be in flight, and to whom. shm_out.c. */

#include <criterion/criterion.h>

#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "t.h"

#include "sdk/comch_foreign.h"
#include "shm_out.h"


/* Of RLIMIT_NOFILE; an eighth may be in flight. */
#define NB_FILES 1024
#define MAX (NB_FILES / 8)

struct end {
	struct shm_out out;
	ino_t inode;
	int peer;
};

static void
begin(struct end *e, int32_t uid)
{
	struct stat st;
	int sv[2];

	T_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sv), 0);
	T_EQ(fstat(sv[0], &st), 0);
	e->inode = st.st_ino;
	shm_out_begin(&e->out, sv[0], comch_quota_get(uid, 1));
	e->peer = sv[1];
}

/* One descriptor. False: it has to wait. */
static bool
put(struct end *e)
{
	struct iovec iov = { .iov_base = (void *)(uintptr_t)"x", .iov_len = 1 };
	union comch_foreign_control control;
	const int fd = STDERR_FILENO;
	struct msghdr msg;

	if (!shm_out_take(&e->out, 1))
		return false;
	comch_foreign_pack(&msg, &iov, &control, &fd, 1);
	T_EQ(sendmsg(e->out.sock, &msg, MSG_NOSIGNAL), 1);
	shm_out_sent(&e->out, 1);
	return true;
}

static unsigned int
put_all(struct end *e)
{
	unsigned int n = 0;

	while (put(e))
		n++;
	return n;
}

/* The peer receives what is in flight; recv() drops the descriptors. */
static void
receive(struct end *e)
{
	char c;

	while (recv(e->peer, &c, 1, MSG_DONTWAIT) == 1)
		;
}

static void
leave(struct end *e)
{
	struct comch_quota *quota = e->out.quota;

	shm_out_end(&e->out, true);
	comch_quota_put(quota);
}

static void
end(struct end *e)
{
	close(e->peer);
	leave(e);
}

/* Is the socket open? Its number may be another file's by now. */
static bool
is_open(const struct end *e)
{
	struct stat st;

	return fstat(e->out.sock, &st) == 0 && st.st_ino == e->inode;
}

static void
set_limit(void)
{
	struct rlimit limit;

	T_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
	T_GE(limit.rlim_max, NB_FILES);
	limit.rlim_cur = NB_FILES;
	T_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

Test(shm_out, link)
{
	struct end a;

	set_limit();
	begin(&a, 7);
	T_EQ(put_all(&a), SHM_OUT_PER_LINK);
	/* Not before all have arrived. */
	T_EQ(recv(a.peer, &(char){ 0 }, 1, 0), 1);
	T_CHECK(!put(&a));
	receive(&a);
	T_EQ(put_all(&a), SHM_OUT_PER_LINK);
	end(&a);
}

/* Many links of a process, whatever their number; there is room for others. */
Test(shm_out, process)
{
	struct end a[64], b[4];
	unsigned int i, n = 0, others;

	set_limit();
	for (i = 0; i < RTE_DIM(a); i++) {
		begin(&a[i], 7);
		n += put_all(&a[i]);
	}
	T_GE(n, MAX / 4);
	T_LE(n, MAX / 2);
	for (i = 0; i < RTE_DIM(b); i++) {
		begin(&b[i], 8 + (int32_t)i);
		others = put_all(&b[i]);
		T_GT(others, 0);
		n += others;
	}
	T_LT(n, MAX);
	/* What arrives makes room for all, however many links had some. */
	for (i = 0; i < RTE_DIM(a); i++)
		receive(&a[i]);
	T_AWAIT(put(&a[63]));
	T_GT(put_all(&a[62]), 0);
	for (i = 0; i < RTE_DIM(a); i++)
		end(&a[i]);
	for (i = 0; i < RTE_DIM(b); i++)
		end(&b[i]);
}

static int
come_and_go(void)
{
	struct end e;

	begin(&e, 9);
	end(&e);
	return 0;
}

/* Links that come and go leave what is in flight: it counts until it has arrived. */
Test(shm_out, left)
{
	struct end a[200], b;
	unsigned int i, n = 0, nb_open = 0;

	set_limit();
	for (i = 0; i < RTE_DIM(a); i++) {
		begin(&a[i], 7);
		n += put(&a[i]);
		leave(&a[i]);
	}
	T_GE(n, MAX / 4);
	T_LE(n, MAX / 2);
	for (i = 0; i < RTE_DIM(a); i++)
		nb_open += is_open(&a[i]);
	T_EQ(nb_open, n);
	/* The peer receives it, or closes its end. */
	for (i = 0; i < RTE_DIM(a); i++) {
		if (i % 2 == 0)
			receive(&a[i]);
		close(a[i].peer);
	}
	/* Without EAL no worker checks them, only senders that need room. */
	begin(&b, 7);
	T_AWAIT(put(&b));
	end(&b);
	for (i = 0; i < n; i++)
		T_WAIT(come_and_go(), !is_open(&a[i]));
	begin(&b, 7);
	T_CHECK(put(&b));
	T_EQ(put_all(&b), SHM_OUT_PER_LINK - 1);
	end(&b);
}

/* What could not be sent is not in flight. */
Test(shm_out, not_sent)
{
	struct end a;
	unsigned int i;

	set_limit();
	begin(&a, 7);
	for (i = 0; i < 1000; i++) {
		T_CHECK(shm_out_take(&a.out, 4));
		shm_out_give(&a.out, 4);
	}
	end(&a);
}
