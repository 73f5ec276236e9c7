/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* A link: a socket and two regions, from hello to hang-up. */

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <rte_atomic.h>
#include <rte_byteorder.h>

#include "comch_asym.h"
#include "comch_compat.h"
#include "comch_memfd.h"
#include "shm_private.h"

/* Messages that one look takes from a socket: more than it holds. */
#define SOCK_BURST 4096

void
shm_link_down(struct shm_link *l, int error, const char *text)
{
	if (l->base.state == RTE_COMCH_LINK_DOWN)
		return;
	l->base.state = RTE_COMCH_LINK_DOWN;
	l->base.error = error;
	l->base.text = text;
}

/* Our region: made when we say hello. Returns its descriptor. */
static int
make_own(struct shm_link *l)
{
	const struct shm_dev *shm = l->base.dev->priv;
	void *addr = NULL;
	int fd;

	l->own_len = comch_memfd_round(shm_link_len(shm->cells));
	fd = comch_memfd_create("comch_link", l->own_len, COMCH_MEMFD_ONE_WRITER, &addr);
	if (fd < 0)
		return fd;
	l->own = addr;
	l->own_cells = shm->cells;
	l->own_mask = shm->cells - 1;
	l->tx_limit = shm->cells;
	return fd;
}

struct shm_link *
shm_link_create(struct rte_comch_dev *dev, int sock, bool is_client)
{
	struct shm_link *l = calloc(1, sizeof(*l));

	if (l == NULL)
		return NULL;
	l->base.ops = dev->ops;
	l->base.dev = dev;
	l->base.state = RTE_COMCH_LINK_CONNECTING;
	l->sock = sock;
	l->is_client = is_client;
	return l;
}

int
shm_link_say_hello(struct shm_link *l)
{
	struct shm_hello hello = {
		.magic = rte_cpu_to_le_32(SHM_HELLO_MAGIC),
		.version = rte_cpu_to_le_32(SHM_HELLO_VERSION),
	};
	int fd, ret;

	fd = make_own(l);
	if (fd < 0)
		return fd;
	hello.cells = rte_cpu_to_le_32(l->own_cells);
	hello.flags = rte_cpu_to_le_32(SHM_HELLO_F_CREDIT_BIT |
		(comch_asym_global ? SHM_HELLO_F_MEMBARRIER : 0));
	ret = shm_sock_send(l->sock, &hello, sizeof(hello), &fd, 1);
	/* The mapping stays; the descriptor would only count against our limit. */
	close(fd);
	if (ret == -EAGAIN) {
		munmap(l->own, l->own_len);
		l->own = NULL;
	}
	return ret;
}

/* The peer's hello is good: answer it, or go on, or give up. */
static void
answer_hello(struct shm_link *l, int ret)
{
	const struct shm_link_shared *peer = l->peer_later != NULL ? l->peer_later : l->peer;

	if (ret == 0 && !l->is_client)
		ret = shm_link_say_hello(l);
	/* Too many descriptors are under way: later, and until then no frame is read. */
	l->base.try_again = ret == -EAGAIN;
	l->peer_later = ret == -EAGAIN ? peer : NULL;
	l->peer = ret == -EAGAIN ? NULL : peer;
	if (ret == -EAGAIN)
		return;
	if (ret != 0) {
		SHM_LOG(WARNING, "a handshake on %s failed: %s", l->base.dev->info.name,
			strerror(-ret));
		shm_link_down(l, -EPROTO, ret == -EPERM ?
			"peer's memory is not sealed as it must be" : "handshake failed");
		return;
	}
	l->base.state = RTE_COMCH_LINK_UP;
}

/* Check what the peer said of itself, and map its region. */
static int
take_hello(struct shm_link *l, const struct shm_hello *hello, int fd)
{
	uint32_t cells = rte_le_to_cpu_32(hello->cells);
	uint64_t len;
	void *addr;
	int ret;

	if (rte_le_to_cpu_32(hello->magic) != SHM_HELLO_MAGIC ||
			rte_le_to_cpu_32(hello->version) != SHM_HELLO_VERSION ||
			cells < SHM_MIN_CELLS || cells > SHM_MAX_CELLS ||
			!rte_is_power_of_2(cells))
		return -EPROTO;
	len = comch_memfd_round(shm_link_len(cells));
	ret = comch_memfd_check_control(fd, len);
	if (ret == 0)
		ret = comch_memfd_map(fd, 0, len, false, &addr);
	if (ret != 0)
		return ret;
	l->peer = addr;
	l->peer_len = len;
	l->peer_cells = cells;
	l->peer_mask = cells - 1;
	l->peer_says_credits = (rte_le_to_cpu_32(hello->flags) & SHM_HELLO_F_CREDIT_BIT) != 0;
	l->base.light = comch_asym_global &&
		(rte_le_to_cpu_32(hello->flags) & SHM_HELLO_F_MEMBARRIER) != 0;
	return 0;
}

static void
close_all(const int *fds, uint32_t n)
{
	while (n > 0)
		close(fds[--n]);
}

/* Nothing was received, and nothing will be. */
static void
recv_failed(struct shm_link *l, int err, const char *odd, const char *gone)
{
	if (err == -EMFILE)
		shm_link_down(l, err, "no file descriptor left for what the peer sent");
	else if (err == -EPROTO)
		shm_link_down(l, err, odd);
	else
		shm_link_down(l, -ECONNRESET, gone);
}

static void
poll_hello(struct shm_link *l)
{
	int fds[RTE_COMCH_FRAME_FDS], len, ret;
	struct shm_hello hello;
	uint32_t nb_fds;

	len = shm_sock_recv(l->sock, &hello, sizeof(hello), fds, &nb_fds);
	if (len == -EAGAIN)
		return;
	if (len <= 0) {
		close_all(fds, nb_fds);
		recv_failed(l, len, "peer's hello cannot be",
			"peer hung up during the handshake");
		return;
	}
	ret = len == sizeof(hello) && nb_fds == 1 ? take_hello(l, &hello, fds[0]) : -EPROTO;
	close_all(fds, nb_fds);
	answer_hello(l, ret);
}

/* Keep descriptors until their frame is read. */
static int
stash(struct shm_link *l, const int *fds, uint32_t n)
{
	uint32_t i;

	if (l->stash_tail - l->stash_head + n > SHM_MAX_STASH) {
		close_all(fds, n);
		return -EPROTO;
	}
	for (i = 0; i < n; i++)
		l->stash[l->stash_tail++ % SHM_MAX_STASH] = fds[i];
	return 0;
}

/* Take what came on the socket. False: there is no more for now. */
static bool
poll_one(struct shm_link *l)
{
	int fds[RTE_COMCH_FRAME_FDS], len;
	uint32_t nb_fds;
	char what[2];

	len = shm_sock_recv(l->sock, what, sizeof(what), fds, &nb_fds);
	if (len == -EAGAIN)
		return false;
	if (len <= 0) {
		close_all(fds, nb_fds);
		recv_failed(l, len, "peer sent something odd on the socket",
			"peer process is gone");
		return false;
	}
	if (len == 1 && what[0] == SHM_SOCK_WAKE && nb_fds == 0)
		return true;
	if (len == 1 && what[0] == SHM_SOCK_FDS && nb_fds > 0 && stash(l, fds, nb_fds) == 0)
		return true;
	if (len != 1 || what[0] != SHM_SOCK_FDS)
		close_all(fds, nb_fds);
	shm_link_down(l, -EPROTO, "peer sent something odd on the socket");
	return false;
}

/* Has the peer closed its end, whatever is still to be read? */
static bool
hung_up(const struct shm_link *l)
{
	struct pollfd pfd = { .fd = l->sock };

	return poll(&pfd, 1, 0) == 1 && (pfd.revents & POLLHUP) != 0;
}

/* No place for more descriptors: their frames must be there, or they never will. */
static void
stash_is_full(struct shm_link *l)
{
	if (!shm_frame_pending(&l->base))
		shm_link_down(l, -EPROTO, "peer sent descriptors without frames");
	else if (hung_up(l))
		shm_link_down(l, -ECONNRESET, "peer process is gone");
}

void
shm_link_poll(struct rte_comch_link *link)
{
	struct shm_link *l = container_of(link, struct shm_link, base);
	int i;

	if (l->sock < 0)
		return;
	if (link->state == RTE_COMCH_LINK_CONNECTING) {
		if (l->peer_later != NULL)
			answer_hello(l, 0);
		else
			poll_hello(l);
	}
	/* Descriptors that frames still want may lie behind: no more than fit. */
	for (i = 0; i < SOCK_BURST && link->state == RTE_COMCH_LINK_UP; i++) {
		if (l->stash_tail - l->stash_head > SHM_MAX_STASH - RTE_COMCH_FRAME_FDS) {
			stash_is_full(l);
			break;
		}
		if (!poll_one(l))
			break;
	}
}

int
shm_link_take_fds(struct shm_link *l, int *fds, uint32_t nb_fds)
{
	uint32_t i;

	/* They were sent before their frame: if they are not here, they will not be. */
	while (l->stash_tail - l->stash_head < nb_fds)
		if (l->sock < 0 || !poll_one(l))
			return -EPROTO;
	for (i = 0; i < nb_fds; i++)
		fds[i] = l->stash[l->stash_head++ % SHM_MAX_STASH];
	return 0;
}

void
shm_link_shutdown(struct rte_comch_link *link)
{
	struct shm_link *l = container_of(link, struct shm_link, base);

	shm_link_down(l, -ECONNRESET, "closed by us");
	if (l->sock >= 0)
		close(l->sock);
	l->sock = -1;
	while (l->stash_head != l->stash_tail)
		close(l->stash[l->stash_head++ % SHM_MAX_STASH]);
}

void
shm_link_close(struct rte_comch_link *link)
{
	struct shm_link *l = container_of(link, struct shm_link, base);

	shm_link_shutdown(link);
	if (l->own != NULL)
		munmap(l->own, l->own_len);
	if (l->peer != NULL || l->peer_later != NULL)
		munmap((void *)(uintptr_t)(l->peer != NULL ? l->peer : l->peer_later),
			l->peer_len);
	free(l);
}

void
shm_link_peer(const struct rte_comch_link *link, struct rte_comch_peer_id *id)
{
	const struct shm_link *l = container_of(link, const struct shm_link, base);
	struct ucred cred;
	socklen_t len = sizeof(cred);

	id->pid = id->uid = id->gid = -1;
	if (getsockopt(l->sock, SOL_SOCKET, SO_PEERCRED, &cred, &len) != 0)
		return;
	id->pid = cred.pid;
	id->uid = (int32_t)cred.uid;
	id->gid = (int32_t)cred.gid;
}

int
shm_link_fd(const struct rte_comch_link *link)
{
	return container_of(link, const struct shm_link, base)->sock;
}

void
shm_link_arm(struct rte_comch_link *link, bool credits)
{
	struct shm_link *l = container_of(link, struct shm_link, base);

	/* Any new value asks for one wake-up; the caller fences (W). */
	if (l->own != NULL)
		comch_store_relaxed(&l->own->armed,
			((l->own->armed | SHM_ARMED_CREDITS) + 1) |
			(credits ? SHM_ARMED_CREDITS : 0));
}
