/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* The shared-memory driver, attacked over its socket. */

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "victim.h"

V_SUITE(sock);

/* Say hello in a way that cannot be: the victim hangs up, and that is all. */
static void
bad_hello(const void *data, size_t len, const int *fds, uint32_t nb_fds)
{
	struct raw_peer a = { .own_fd = -1 };
	struct victim v;

	v_open(&v, NULL);
	a.sock = v_dial();
	T_GE(raw_sock_send(a.sock, data, len, fds, nb_fds), 0);
	v_expect_hangup(&a);
	raw_close(&a);
	v_close(&v);
}

static const struct shm_hello good_hello = {
	.magic = SHM_HELLO_MAGIC, .version = SHM_HELLO_VERSION, .cells = RAW_CELLS,
};

static size_t
link_len(void)
{
	return (shm_link_len(RAW_CELLS) + 4095) & ~UINT64_C(4095);
}

/* A good region, a hello with one field changed. */
static void
bad_field(uint32_t magic, uint32_t version, uint32_t cells)
{
	const struct shm_hello hello = {
		.magic = magic, .version = version, .cells = cells,
	};
	struct raw_mem m;

	raw_mem_new(&m, 8 << 20, MFD_ALLOW_SEALING, RAW_SEALS);
	bad_hello(&hello, sizeof(hello), &m.fd, 1);
	raw_mem_free(&m);
}

/* A good hello with memory that will not do. */
static void
bad_fd(int fd)
{
	T_GE(fd, 0);
	bad_hello(&good_hello, sizeof(good_hello), &fd, 1);
	close(fd);
}

Test(sock, hello_garbage)
{
	uint8_t junk[300];

	t_fill(junk, sizeof(junk), 1);
	bad_hello(junk, sizeof(junk), NULL, 0);
}

Test(sock, hello_short)
{
	bad_hello(&good_hello, sizeof(good_hello) - 1, NULL, 0);
}

Test(sock, hello_one_byte)
{
	bad_hello("w", 1, NULL, 0);
}

Test(sock, hello_magic)
{
	bad_field(SHM_HELLO_MAGIC + 1, SHM_HELLO_VERSION, RAW_CELLS);
}

Test(sock, hello_version)
{
	bad_field(SHM_HELLO_MAGIC, SHM_HELLO_VERSION + 1, RAW_CELLS);
}

Test(sock, hello_no_cells)
{
	bad_field(SHM_HELLO_MAGIC, SHM_HELLO_VERSION, 0);
}

Test(sock, hello_one_cell)
{
	bad_field(SHM_HELLO_MAGIC, SHM_HELLO_VERSION, 1);
}

Test(sock, hello_odd_cells)
{
	bad_field(SHM_HELLO_MAGIC, SHM_HELLO_VERSION, 100);
}

Test(sock, hello_huge_cells)
{
	bad_field(SHM_HELLO_MAGIC, SHM_HELLO_VERSION, UINT32_C(1) << 31);
}

Test(sock, hello_most_cells)
{
	bad_field(SHM_HELLO_MAGIC, SHM_HELLO_VERSION, UINT32_MAX);
}

Test(sock, hello_no_fd)
{
	bad_hello(&good_hello, sizeof(good_hello), NULL, 0);
}

Test(sock, hello_two_fds)
{
	struct raw_mem m;
	int fds[2];

	raw_mem_new(&m, link_len(), MFD_ALLOW_SEALING, RAW_SEALS);
	fds[0] = fds[1] = m.fd;
	bad_hello(&good_hello, sizeof(good_hello), fds, 2);
	raw_mem_free(&m);
}

/* More than a frame may ever carry: room for three, rounded up, takes four. */
static void
many_fds(const void *data, size_t len, uint32_t nb)
{
	int fds[RAW_MAX_FDS];
	struct raw_mem m;
	uint32_t i;

	raw_mem_new(&m, link_len(), MFD_ALLOW_SEALING, RAW_SEALS);
	for (i = 0; i < nb; i++)
		fds[i] = m.fd;
	bad_hello(data, len, fds, nb);
	raw_mem_free(&m);
}

Test(sock, hello_four_fds)
{
	many_fds(&good_hello, sizeof(good_hello), 4);
}

Test(sock, hello_sixteen_fds)
{
	many_fds(&good_hello, sizeof(good_hello), RAW_MAX_FDS);
}

/* Nothing but descriptors: no end of the stream, and nothing to keep. */
Test(sock, hello_empty_with_fds)
{
	many_fds("", 0, 3);
}

Test(sock, hello_pipe)
{
	int fds[2];

	T_EQ(pipe2(fds, O_CLOEXEC), 0);
	bad_fd(fds[0]);
	close(fds[1]);
}

Test(sock, hello_dev_zero)
{
	bad_fd(open("/dev/zero", O_RDWR | O_CLOEXEC));
}

Test(sock, hello_socket)
{
	bad_fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
}

Test(sock, hello_file)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s/file", t_dir());
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	T_EQ(posix_fallocate(fd, 0, (off_t)link_len()), 0);
	bad_fd(fd);
}

Test(sock, hello_directory)
{
	bad_fd(open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

static void
bad_memfd(size_t len, unsigned int flags, unsigned int seals)
{
	struct raw_mem m;

	raw_mem_new(&m, len, flags, seals);
	bad_hello(&good_hello, sizeof(good_hello), &m.fd, 1);
	raw_mem_free(&m);
}

Test(sock, memfd_unsealed)
{
	bad_memfd(link_len(), MFD_ALLOW_SEALING, 0);
}

Test(sock, memfd_unsealable)
{
	bad_memfd(link_len(), 0, 0);
}

Test(sock, memfd_may_shrink)
{
	bad_memfd(link_len(), MFD_ALLOW_SEALING, RAW_SEALS & ~F_SEAL_SHRINK);
}

Test(sock, memfd_may_grow)
{
	bad_memfd(link_len(), MFD_ALLOW_SEALING, RAW_SEALS & ~F_SEAL_GROW);
}

Test(sock, memfd_not_final)
{
	bad_memfd(link_len(), MFD_ALLOW_SEALING, RAW_SEALS & ~F_SEAL_SEAL);
}

Test(sock, memfd_short)
{
	bad_memfd(link_len() - 4096, MFD_ALLOW_SEALING, RAW_SEALS);
}

static void
bad_holes(size_t len, size_t hole)
{
	int fd = memfd_create("raw", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	T_GE(fd, 0);
	T_EQ(ftruncate(fd, (off_t)len), 0);
	if (hole < len)
		T_EQ(fallocate(fd, 0, (off_t)hole, (off_t)(len - hole)), 0);
	T_EQ(fcntl(fd, F_ADD_SEALS, RAW_SEALS), 0);
	bad_fd(fd);
}

Test(sock, memfd_hole)
{
	bad_holes(link_len(), link_len());
}

Test(sock, memfd_first_page_hole)
{
	bad_holes(link_len(), 4096);
}

/* Blocks enough, but none where the ring is. */
Test(sock, memfd_blocks_elsewhere)
{
	bad_holes(2 * link_len(), link_len());
}

Test(sock, memfd_hugetlb)
{
	int fd = memfd_create("raw", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_HUGETLB);

	if (fd < 0)
		t_skip("no hugetlb memfd here: %s", strerror(errno));
	T_EQ(ftruncate(fd, 2 << 20), 0);
	T_EQ(fcntl(fd, F_ADD_SEALS, RAW_SEALS), 0);
	bad_fd(fd);
}

/* Without that seal its holes could be punched, and we would fill them with pages of ours. */
Test(sock, memfd_without_future_write)
{
	bad_memfd(link_len(), MFD_ALLOW_SEALING, RAW_SEALS_PAYLOAD);
}

Test(sock, memfd_longer_than_said)
{
	bad_memfd(link_len() + 4096, MFD_ALLOW_SEALING, RAW_SEALS);
}

/* Once the memory was imported, its size no longer matters. */
Test(sock, truncate_after)
{
	struct raw_peer a;
	struct victim v;

	v_open(&v, NULL);
	v_link(&a, RAW_CELLS);
	T_NE(ftruncate(a.own_fd, 0), 0);
	T_NE(fallocate(a.own_fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4096), 0);
	T_NE(fcntl(a.own_fd, F_ADD_SEALS, F_SEAL_WRITE), 0);
	v_check(&v);
	raw_close(&a);
	v_close(&v);
}

/* Silent clients cost a time-out, and honest ones go on meanwhile. */
Test(sock, silent)
{
	struct raw_peer a[3];
	struct victim v;
	uint64_t begin;

	v_open(&v, NULL);
	begin = t_now_ms();
	a[0] = (struct raw_peer){ .sock = v_dial(), .own_fd = -1 };
	v_link(&a[1], RAW_CELLS);
	T_UNTIL(raw_is_hung_up(&a[0]) && raw_is_hung_up(&a[1]));
	T_GE(t_now_ms() - begin, 8500);
	T_TIME_LE(t_now_ms() - begin, 13000);
	raw_close(&a[0]);
	raw_close(&a[1]);
	v_close(&v);
}

/* Wake-ups without reason: as many as a socket holds. */
static void
wake_flood(struct victim *v)
{
	struct rte_comch_conn *conn;
	struct raw_peer a;
	unsigned int i;

	conn = v_connect(v, &a);
	/* A few too many are allowed, but not without end. */
	for (i = 0; i < 20; i++) {
		raw_wake(&a);
		t_settle();
	}
	v_expect_alive(v, &a, conn);
	for (i = 0; i < 1000; i++)
		if (raw_sock_send(a.sock, "w", 1, NULL, 0) < 0)
			break;
	/* Not each run looks at sockets. */
	T_WAIT(v_run(v), t_count(v->p.dpu, RTE_COMCH_EVENT_DISCONNECTED, conn) > 0);
	v_check(v);
	v_expect_end(v, conn);
	raw_close(&a);
	t_forget(v->p.dpu);
}

Test(sock, wake_flood)
{
	struct victim v;

	v_open(&v, NULL);
	wake_flood(&v);
	v_check_runs(&v);
	v_close(&v);
}

/* After the handshake: bytes that mean nothing. */
static void
odd_bytes(const void *data, size_t len, uint32_t nb_fds)
{
	const struct rte_comch_conn *conn;
	int fds[RAW_MAX_FDS];
	struct raw_peer a;
	struct victim v;
	uint32_t i;

	v_open(&v, NULL);
	conn = v_connect(&v, &a);
	for (i = 0; i < nb_fds; i++)
		fds[i] = a.own_fd;
	raw_sock_send(a.sock, data, len, fds, nb_fds);
	v_expect_down(&v, conn);
	raw_close(&a);
	v_close(&v);
}

Test(sock, odd_letter)
{
	odd_bytes("x", 1, 0);
}

Test(sock, odd_length)
{
	odd_bytes("ww", 2, 0);
}

Test(sock, wake_with_fd)
{
	odd_bytes("w", 1, 1);
}

Test(sock, fds_without_fd)
{
	odd_bytes("f", 1, 0);
}

Test(sock, fds_long)
{
	odd_bytes("ff", 2, 3);
}

Test(sock, fds_four)
{
	odd_bytes("f", 1, 4);
}

Test(sock, wake_with_four_fds)
{
	odd_bytes("w", 1, 4);
}

Test(sock, empty)
{
	odd_bytes("", 0, 0);
}

Test(sock, empty_with_fds)
{
	odd_bytes("", 0, 3);
}

/* Descriptors for frames that never come: so many are kept, and no more. */
static void
stash(struct victim *v, struct raw_peer *a, unsigned int nb)
{
	unsigned int i;

	for (i = 0; i < nb; i++) {
		raw_sock_send(a->sock, "f", 1, &a->own_fd, 1);
		if (i % 20 == 0)
			t_steps(v->p.dpu, 20);
	}
	t_settle();
	T_LE(t_fd_count(), v->nb_fds + 80);
}

Test(sock, fd_flood)
{
	struct raw_peer a;
	struct victim v;

	v_open(&v, NULL);
	v_connect(&v, &a);
	stash(&v, &a, 1000);
	v_check(&v);
	raw_close(&a);
	v_close(&v);
}

/* A peer whose descriptors wait for frames is seen to die all the same. */
Test(sock, fd_flood_and_die)
{
	const struct rte_comch_conn *conn;
	struct raw_peer a;
	struct victim v;

	v_open(&v, NULL);
	conn = v_connect(&v, &a);
	stash(&v, &a, 40);
	raw_close(&a);
	v_expect_down(&v, conn);
	v_close(&v);
}

/* Does it sleep for 20 ms? */
static bool
naps(struct t_node *node)
{
	return rte_comch_poll_arm(node->poll, RTE_COMCH_POLL_ANY) == 0 &&
		!t_readable(rte_comch_poll_fd(node->poll, RTE_COMCH_POLL_ANY), 20);
}

/* ... and lets a victim sleep that waits for events. */
Test(sock, fd_flood_lets_sleep)
{
	struct raw_peer a;
	struct victim v;

	v_open(&v, NULL);
	v_connect(&v, &a);
	stash(&v, &a, 40);
	/* Threads receive some of them, and wake it for each. */
	T_UNTIL(naps(v.p.dpu));
	raw_close(&a);
	v_close(&v);
}

/* Come and go, in each phase: nothing stays behind. */
static void
come_and_go(struct victim *v, unsigned int how)
{
	struct raw_peer a = { .own_fd = -1 };

	switch (how) {
	case 0:
		a.sock = v_dial();
		break;
	case 1:
		raw_open(&a, v_dial(), RAW_CELLS);
		break;
	case 2:
		v_link(&a, RAW_CELLS);
		break;
	case 3:
		v_link(&a, RAW_CELLS);
		raw_send_hello(&a, V_NAME, 4080, 64);
		break;
	default:
		v_connect(v, &a);
		raw_send_msg(&a, "bye", 3);
		break;
	}
	raw_close(&a);
	t_step_all();
}

Test(sock, connect_close_loop)
{
	const unsigned int nb = t_sanitized() ? 500 : 2000;
	struct victim v;
	uint64_t rss;
	unsigned int i;

	v_open(&v, NULL);
	for (i = 0; i < 500; i++)
		come_and_go(&v, i % 5);
	t_settle();
	T_UNTIL(rte_comch_server_nb_conns(v.p.server) == 1);
	rss = t_rss_kb();
	for (i = 0; i < nb; i++) {
		come_and_go(&v, i % 5);
		if (i % 100 == 0)
			t_forget(v.p.dpu);
	}
	t_forget(v.p.dpu);
	t_settle();
	T_EQ(t_fd_count(), v.nb_fds);
	if (!t_sanitized())
		T_LE(t_rss_kb(), rss + 4096);
	v_close(&v);
}

/* The attacker hears no more, but is not gone: what is due to him may be lost. */
Test(sock, deaf)
{
	struct rte_comch_conn *conn;
	struct rte_comch_consumer *c;
	struct raw_peer a;
	struct victim v;

	v_open(&v, NULL);
	conn = v_connect(&v, &a);
	T_EQ(shutdown(a.sock, SHUT_RD), 0);
	c = t_consumer_new(conn, NULL, NULL);
	T_EQ(rte_comch_consumer_start(c), -EINPROGRESS);
	t_settle();
	v_check(&v);
	if (rte_comch_consumer_state(c) == RTE_COMCH_STATE_STARTING)
		T_EQ(rte_comch_consumer_stop(c), -EINPROGRESS);
	T_UNTIL(rte_comch_consumer_state(c) == RTE_COMCH_STATE_IDLE);
	T_EQ(rte_comch_consumer_destroy(c), 0);
	raw_close(&a);
	v_close(&v);
}
