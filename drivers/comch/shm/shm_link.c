/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* A link, which is a socket and two regions: its handshake, its socket and its end. */

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <rte_atomic.h>
#include <rte_byteorder.h>

#include "sdk/comch_armed.h"
#include "sdk/comch_asym.h"
#include "sdk/comch_budget.h"
#include "sdk/comch_compat.h"
#include "sdk/comch_link.h"
#include "sdk/comch_memfd.h"
#include "shm_private.h"

/* Number of unrequested wake-ups that a peer may send. */
#define SPARE_WAKES 8
/* And for arms since the socket was read. It is read after some arms at most, see SCAN_EVENTS. */
#define MAX_WAKES 256

/*
 * The socket is read when it was readable for this many frames, or without one. A valid peer sends
 * a wake-up for each arm at most. Each takes 768 bytes of its socket's buffer, which is as large as
 * ours; the smallest one has room for 6. The socket is also read after a while without frames:
 * shm_out.c of the peer waits until all that it sent is read.
 */
#define UNREAD_WAKES 16
#define FEW_UNREAD_WAKES 4
#define LARGE_BUFFER (16 << 10)

#define HUNG_UP_EARLY "peer disconnected during the handshake"

void
shm_link_down(struct shm_link *l, int error, const char *text)
{
	if (l->base.state == RTE_COMCH_LINK_DOWN)
		return;
	l->base.state = RTE_COMCH_LINK_DOWN;
	l->base.try_again = false;
	l->base.error = error;
	l->base.text = text;
}

static void
use_own(struct shm_link *l, const struct shm_own *own)
{
	const struct shm_dev *shm = l->base.dev->priv;

	l->own = own->addr;
	l->own_cell = l->own->cell;
	l->own_cells = shm->cells;
	l->own_mask = shm->cells - 1;
	l->tx_limit = shm->cells;
}

/* Read the peer's credentials once, so that any thread can return them. */
static void
read_peer_cred(struct shm_link *l)
{
	struct ucred cred;
	socklen_t len = sizeof(cred);

	l->peer_id = (struct comch_foreign_peer){ .uid = -1, .pid = -1 };
	l->peer_gid = -1;
	if (getsockopt(l->sock, SOL_SOCKET, SO_PEERCRED, &cred, &len) != 0)
		return;
	l->peer_id = (struct comch_foreign_peer){ .uid = (int32_t)cred.uid, .pid = cred.pid };
	l->peer_gid = (int32_t)cred.gid;
}

static uint32_t
max_unread(int sock)
{
	socklen_t len = sizeof(int);
	int size = 0;

	return getsockopt(sock, SOL_SOCKET, SO_SNDBUF, &size, &len) == 0 && size >= LARGE_BUFFER ?
		UNREAD_WAKES : FEW_UNREAD_WAKES;
}

struct shm_link *
shm_link_create(struct rte_comch_dev *dev, int sock, bool is_client)
{
	struct shm_link *l = calloc(1, sizeof(*l));
	struct comch_quota *quota;

	if (l == NULL)
		return NULL;
	l->base.ops = dev->ops;
	l->base.dev = dev;
	l->base.state = RTE_COMCH_LINK_CONNECTING;
	l->sock = sock;
	l->is_client = is_client;
	l->wakes_allowed = SPARE_WAKES;
	l->max_unread = max_unread(sock);
	read_peer_cred(l);
	quota = comch_quota_get(l->peer_id.uid, l->peer_id.pid);
	if (quota == NULL) {
		free(l);
		return NULL;
	}
	shm_out_begin(&l->out, sock, quota);
	return l;
}

int
shm_link_send_fds(struct shm_link *l, char what, const int *fds, uint32_t nb_fds)
{
	int ret;

	if (!shm_out_take(&l->out, nb_fds))
		return -EAGAIN;
	ret = shm_sock_send(l->sock, &what, 1, fds, nb_fds);
	if (ret != 0)
		shm_out_give(&l->out, nb_fds);
	else
		shm_out_sent(&l->out, nb_fds);
	return ret;
}

/* Returns 0, and the region is the link's then, or a negative errno. */
static int
send_hello(struct shm_link *l, struct shm_own *own)
{
	struct shm_hello hello = {
		.magic = rte_cpu_to_le_32(shm_dev_of(&l->base)->magic),
		.version = rte_cpu_to_le_32(SHM_HELLO_VERSION),
	};
	int ret;

	hello.cells = rte_cpu_to_le_32(shm_dev_of(&l->base)->cells);
	hello.flags = rte_cpu_to_le_32(SHM_HELLO_F_CREDIT_BIT | SHM_HELLO_F_FENCE_BIT |
		(shm_dev_of(&l->base)->grows ? SHM_HELLO_F_GROWS : 0) |
		(comch_asym_global ? SHM_HELLO_F_MEMBARRIER : 0));
	ret = shm_sock_send(l->sock, &hello, sizeof(hello), &own->fd, 1);
	if (ret != 0)
		return ret;
	shm_own_close(own);
	use_own(l, own);
	return 0;
}

int
shm_link_say_hello(struct shm_link *l, struct shm_own *ready)
{
	const bool may = shm_out_take(&l->out, 1);
	struct shm_own made, *own = ready;
	int ret = may ? 0 : -EAGAIN;

	if (ret == 0 && ready == NULL) {
		ret = shm_own_create(l->base.dev, &made);
		own = ret == 0 ? &made : NULL;
	}
	if (ret == 0)
		ret = send_hello(l, own);
	if (ret == 0)
		shm_out_sent(&l->out, 1);
	else if (may)
		shm_out_give(&l->out, 1);
	if (ret != 0 && own != NULL)
		shm_own_free(l->base.dev, own);
	return ret;
}

static void
refuse_hello(struct shm_link *l, int err)
{
	if (err == -EXDEV) {
		/* So that the client knows, too. */
		if (!l->is_client)
			(void)shm_link_say_hello(l, NULL);
		shm_link_down(l, err, shm_dev_of(&l->base)->kind->stranger);
	} else if (err == -EPERM) {
		shm_link_down(l, -EPROTO, "peer's link memory lacks seals");
	} else if (err == -EMFILE) {
		shm_link_down(l, err, "peer has used up its share of this process's mappings");
	} else {
		shm_link_down(l, err, err == -EPROTO ? "invalid hello from peer" :
			strerrordesc_np(-err));
	}
}

/* Finish the peer's hello: answer it or complete the handshake, or fail. ret: its check. */
static void
answer_hello(struct shm_link *l, int ret)
{
	if (ret == 0 && !l->is_client)
		ret = shm_link_say_hello(l, NULL);
	/* Too many descriptors are in flight: retry later. */
	l->base.try_again = ret == -EAGAIN;
	if (ret == -EAGAIN)
		return;
	if (ret == -EPIPE || ret == -ECONNRESET) {
		shm_link_down(l, -ECONNRESET, HUNG_UP_EARLY);
		return;
	}
	if (ret != 0) {
		SHM_LOG(INFO, "device %s: handshake failed: %s", l->base.dev->info.name,
			strerror(-ret));
		refuse_hello(l, ret);
		return;
	}
	/* Not before: without our own region, no frame can be taken. */
	l->peer = l->peer_unanswered;
	l->peer_unanswered = NULL;
	l->base.state = RTE_COMCH_LINK_UP;
}

/* Check the peer's hello, and map its region. */
static int
take_hello(struct shm_link *l, const struct shm_hello *hello, int fd)
{
	const struct shm_dev *shm = shm_dev_of(&l->base);
	uint32_t cells = rte_le_to_cpu_32(hello->cells);
	uint64_t len;
	void *addr;
	int ret;

	if (rte_le_to_cpu_32(hello->magic) != shm->magic)
		return shm->kind->stranger != NULL ? -EXDEV : -EPROTO;
	if (rte_le_to_cpu_32(hello->version) != SHM_HELLO_VERSION ||
			cells < SHM_MIN_CELLS || cells > SHM_MAX_CELLS ||
			!rte_is_power_of_2(cells))
		return -EPROTO;
	len = shm_region_len(cells);
	if (comch_memfd_check_control(fd, len) != 0)
		return -EPERM;
	if (!comch_quota_take(l->out.quota, COMCH_QUOTA_MAPS, 1))
		return -EMFILE;
	ret = comch_memfd_map(fd, 0, len, false, &addr);
	if (ret != 0) {
		comch_quota_give(l->out.quota, COMCH_QUOTA_MAPS, 1);
		return ret == -ENOMEM ? ret : -EPERM;
	}
	(void)comch_memfd_populate(addr, SHM_FIRST_FRAMES, false);
	l->peer_unanswered = addr;
	l->peer_cell = l->peer_unanswered->cell;
	l->peer_cells = l->peer_first_cells = cells;
	l->peer_mask = cells - 1;
	l->grows = shm->grows && (rte_le_to_cpu_32(hello->flags) & SHM_HELLO_F_GROWS) != 0;
	l->peer_may_offer = l->looks = l->grows;
	l->peer_sets_credit_bit = (rte_le_to_cpu_32(hello->flags) & SHM_HELLO_F_CREDIT_BIT) != 0;
	l->base.fences = comch_armed_fences(comch_asym_global &&
		(rte_le_to_cpu_32(hello->flags) & SHM_HELLO_F_MEMBARRIER) != 0,
		(rte_le_to_cpu_32(hello->flags) & SHM_HELLO_F_FENCE_BIT) != 0);
	return 0;
}

/* Handle the first message, which has one descriptor. */
static void
on_hello(struct shm_link *l, struct comch_foreign_msg *msg)
{
	struct shm_hello hello;
	int ret = -EPROTO;

	if (msg->len == sizeof(hello) && msg->nb_fds == 1) {
		memcpy(&hello, msg->data, sizeof(hello));
		ret = take_hello(l, &hello, msg->fds[0]);
		/* Memory that this process has mapped: closing it drops no file. */
		if (ret == 0)
			close(msg->fds[--msg->nb_fds]);
	}
	comch_foreign_drop(msg);
	answer_hello(l, ret);
}

static void
recv_failed(struct shm_link *l, int err)
{
	if (err == -EMFILE)
		shm_link_down(l, err, "no free file descriptor for the peer's descriptors");
	else if (err == -ETIMEDOUT)
		shm_link_down(l, err, "timeout while closing a peer's descriptor");
	else if (err == -EDQUOT)
		shm_link_down(l, err, "too many blocked descriptors of the peer's user");
	else if (err == -EPROTO)
		shm_link_down(l, err, "peer sent a descriptor of an unsupported kind, or too many");
	else
		shm_link_down(l, err, strerrordesc_np(-err));
}

/* May be called by another thread. */
static bool
job_is_done(void *ctx, bool can_wake)
{
	struct shm_link *l = ctx;

	return comch_link_tell(&l->base, can_wake);
}

/* The threads that receive descriptors were busy. */
static void
read_again(struct shm_link *l)
{
	l->must_read = true;
	job_is_done(l, true);
}

/* Process a received message with descriptors. False: not received yet. */
static bool
take_job(struct shm_link *l)
{
	struct comch_foreign_msg msg;
	int ret = comch_foreign_take(l->job, &msg);

	if (ret == -EBUSY)
		read_again(l);
	if (ret != 0)
		return false;
	l->job = NULL;
	if (msg.len < 0)
		recv_failed(l, msg.len);
	else if (l->base.state == RTE_COMCH_LINK_CONNECTING)
		on_hello(l, &msg);
	else if (msg.len == 1 && msg.data[0] == SHM_SOCK_RING)
		shm_ring_offered(l, &msg);
	else
		shm_fds_arrived(l, &msg);
	return true;
}

/* True: it may be done already. */
static bool
start_job(struct shm_link *l)
{
	struct comch_peermap_limit limit = shm_mem_limit(&l->base);
	int ret;

	limit.no_wait = false;
	limit.trusted = false;
	ret = comch_foreign_recv(l->sock, &l->peer_id,
		l->base.state == RTE_COMCH_LINK_CONNECTING ? NULL : &limit, job_is_done, l,
		&l->job);
	if (ret == -EBUSY)
		read_again(l);
	else if (ret != 0)
		recv_failed(l, ret);
	return l->job != NULL;
}

/* A message of len bytes without descriptors; at least its first byte is at what. */
static void
take_plain(struct shm_link *l, const char *what, ssize_t len)
{
	if (l->base.state == RTE_COMCH_LINK_CONNECTING)
		shm_link_down(l, -EPROTO, "invalid hello from peer");
	else if (len != 1 || what[0] != SHM_SOCK_WAKE)
		shm_link_down(l, -EPROTO, "unexpected message on the socket");
	else if (l->wakes_allowed-- == 0)
		shm_link_down(l, -EPROTO, "peer floods the socket with wake-ups");
}

static void
on_plain(struct shm_link *l)
{
	char what[2];
	/* peer-read: comch_foreign_next() found a message without descriptors. */
	ssize_t len = recv(l->sock, what, sizeof(what), MSG_DONTWAIT);

	/* peer-read: the same. The peer closed since, with unread data: it can be read. */
	if (len < 0 && errno == ECONNRESET)
		len = recv(l->sock, what, sizeof(what), MSG_DONTWAIT);
	take_plain(l, what, len);
}

/* Has the peer closed its end, even if data is left to read? */
static bool
hung_up(const struct shm_link *l)
{
	struct pollfd pfd = { .fd = l->sock };

	return poll(&pfd, 1, 0) == 1 && (pfd.revents & POLLHUP) != 0;
}

/* The frames of its descriptors must be pending, or it is an error. */
static void
check_full_stash(struct shm_link *l)
{
	if (!shm_frame_pending(&l->base))
		shm_link_down(l, -EPROTO, "peer sent descriptors without frames");
	else if (hung_up(l))
		shm_link_down(l, -ECONNRESET, "peer process has exited");
}

/*
 * Read one message of the socket. False: none is left for now. *has_started: one job per call, as
 * each may take its time of this thread's CPU.
 */
static bool
read_sock_once(struct shm_link *l, bool *has_started)
{
	if (shm_fds_are_many(l)) {
		check_full_stash(l);
		return false;
	}
	switch (comch_foreign_next(l->sock)) {
	case COMCH_FOREIGN_NOTHING:
		l->wakes_allowed = SPARE_WAKES;
		return false;
	case COMCH_FOREIGN_PLAIN:
		on_plain(l);
		return true;
	case COMCH_FOREIGN_FDS_NEXT:
		if (*has_started) {
			read_again(l);
			return false;
		}
		*has_started = true;
		return start_job(l);
	default:
		shm_link_down(l, -ECONNRESET, l->base.state == RTE_COMCH_LINK_CONNECTING ?
			HUNG_UP_EARLY : "peer process has exited");
		return false;
	}
}

/* What follows a hello is read once that is answered. */
static bool
may_read(const struct shm_link *l)
{
	return l->base.state != RTE_COMCH_LINK_DOWN && l->peer_unanswered == NULL;
}

/* Bounded: a message is descriptors, an allowed wake-up, or an error that ends the link. */
void
shm_link_read_sock(struct shm_link *l)
{
	bool has_started = false;

	l->must_read = false;
	while (may_read(l) && (l->job == NULL || (take_job(l) && may_read(l))) &&
			read_sock_once(l, &has_started))
		;
}

/*
 * Is what made the socket readable the wake-up that we asked for, for a frame? It has served its
 * purpose.
 * Descriptors that follow are read when their frame is, see shm_fds_take() and shm_link_look().
 */
static bool
may_leave_unread(const struct shm_link *l)
{
	return l->base.may_leave && l->base.state == RTE_COMCH_LINK_UP && l->job == NULL &&
		!l->must_read && !l->base.needs_setup && !shm_fds_are_many(l) &&
		l->wakes_allowed > SPARE_WAKES + l->unread && shm_frame_pending(&l->base);
}

/* Read the wake-ups that were left unread. True: nothing else follows them. */
static bool
read_wakes(struct shm_link *l)
{
	char bytes[COMCH_FOREIGN_BYTES_MAX];
	uint32_t i, n;
	bool end;

	n = comch_foreign_bytes(l->sock, bytes, RTE_DIM(bytes), &end);
	for (i = 0; i < n && l->base.state == RTE_COMCH_LINK_UP; i++)
		take_plain(l, &bytes[i], 1);
	if (n > 0 && end)
		l->wakes_allowed = SPARE_WAKES;
	return n > 0 && end;
}

void
shm_link_poll(struct rte_comch_link *link)
{
	struct shm_link *l = container_of(link, struct shm_link, base);

	if (l->sock < 0)
		return;
	if (may_leave_unread(l) && (++l->unread < l->max_unread || read_wakes(l))) {
		l->unread %= l->max_unread;
		l->base.left_unread = l->unread > 0;
		return;
	}
	l->unread = 0;
	l->base.left_unread = false;
	if (l->base.try_again)
		answer_hello(l, 0);
	if (l->base.needs_setup)
		shm_ring_step(l);
	shm_link_read_sock(l);
	/* All its descriptors are stashed, or none will follow: read the frame. */
	if (shm_fds_nb(l) >= l->awaits_fds || (l->job == NULL && !l->must_read))
		l->awaits_fds = 0;
}

bool
shm_link_look(struct shm_link *l)
{
	l->looks = false;
	if (l->sock >= 0)
		shm_link_read_sock(l);
	if (l->base.state == RTE_COMCH_LINK_DOWN || (l->job == NULL && !l->must_read))
		return false;
	l->awaits_fds = 1;
	return true;
}

void
shm_link_shutdown(struct rte_comch_link *link)
{
	struct shm_link *l = container_of(link, struct shm_link, base);

	shm_link_down(l, -ECONNRESET, "closed by us");
	if (l->job != NULL)
		comch_foreign_cancel(l->job);
	l->job = NULL;
	if (l->sock >= 0) {
		/* The peer sees this at once; the close below may be deferred. */
		shutdown(l->sock, SHUT_RDWR);
		shm_out_end(&l->out, !l->is_client);
	}
	l->sock = -1;
	shm_fds_drop(l);
}

static void
unmap_peer(struct shm_link *l)
{
	const struct shm_link_shared *peer = l->peer != NULL ? l->peer : l->peer_unanswered;

	if (peer == NULL)
		return;
	munmap((void *)(uintptr_t)peer, shm_region_len(l->peer_first_cells));
	comch_quota_give(l->out.quota, COMCH_QUOTA_MAPS, 1);
}

void
shm_link_close(struct rte_comch_link *link)
{
	struct shm_link *l = container_of(link, struct shm_link, base);

	shm_link_shutdown(link);
	shm_ring_free(l);
	if (l->own != NULL)
		shm_own_unmap(l->base.dev, l->own);
	unmap_peer(l);
	comch_quota_put(l->out.quota);
	free(l->stash);
	free(l);
}

void
shm_link_peer(const struct rte_comch_link *link, struct rte_comch_peer_id *id)
{
	const struct shm_link *l = container_of(link, const struct shm_link, base);

	id->pid = l->peer_id.pid;
	id->uid = l->peer_id.uid;
	id->gid = l->peer_gid;
}

int
shm_link_fd(const struct rte_comch_link *link)
{
	return container_of(link, const struct shm_link, base)->sock;
}

bool
shm_link_arm(struct rte_comch_link *link, bool credits)
{
	struct shm_link *l = container_of(link, struct shm_link, base);

	if (l->wakes_allowed < MAX_WAKES)
		l->wakes_allowed++;
	/* The caller fences (W). */
	return l->own != NULL && comch_armed_ask(&l->own->armed, l->base.fences,
		credits ? COMCH_ARMED_CREDITS : 0);
}

void
shm_link_rest(struct rte_comch_link *link)
{
	struct shm_link *l = container_of(link, struct shm_link, base);

	if (l->own != NULL)
		comch_armed_rest(&l->own->armed);
}
