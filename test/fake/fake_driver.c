/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Links, frames and regions of the driver in memory; see fake_private.h. */

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include <rte_string_fns.h>

#include "sdk/comch_shown.h"
#include "sdk/comch_fork.h"
#include "sdk/comch_log.h"
#include "sdk/comch_memfd.h"
#include "sdk/comch_reaper.h"
#include "fake_private.h"

/* Frames that wait for a reader: a ring of the shared-memory driver has as many. */
#define MAX_FRAMES 256
/* Clients that wait for a server. */
#define BACKLOG 128

struct fake_frame {
	STAILQ_ENTRY(fake_frame) next;
	uint32_t len;
	uint32_t nb_fds;
	int fds[RTE_COMCH_FRAME_FDS];
	uint8_t data[];
};

struct fake_link {
	struct rte_comch_link base;
	struct fake_link *peer;    /* NULL: freed */
	STAILQ_HEAD(, fake_frame) rx;
	uint32_t nb_rx;            /* read without the lock */
	uint32_t nb_tx;            /* frames sent, for the knobs */
	uint32_t nb_tries;
	int event_fd;              /* -1 after shutdown */
	bool armed;
	bool armed_credits;
	bool taken;                /* the server has accepted */
	bool peer_gone;
	bool dropped;              /* by the knob */
	TAILQ_ENTRY(fake_link) next;
};

struct fake_listener {
	struct rte_comch_listener base;
	char func[RTE_COMCH_DEV_NAME_SIZE];
	char name[RTE_COMCH_NAME_SIZE];
	TAILQ_HEAD(, fake_link) waiting;
	uint32_t nb_waiting;
	uint32_t nb_slow;
	int event_fd;
	int watch_fd;
	bool lost;
	TAILQ_ENTRY(fake_listener) next;
};

static TAILQ_HEAD(, fake_listener) listeners = TAILQ_HEAD_INITIALIZER(listeners);
static pthread_mutex_t fake_lock = PTHREAD_MUTEX_INITIALIZER;

static void
ring(int fd)
{
	uint64_t one = 1;

	if (fd >= 0 && write(fd, &one, sizeof(one)) != sizeof(one))
		return; /* full: it is readable already */
}

static struct fake_link *
link_of(const struct rte_comch_link *link)
{
	return (struct fake_link *)(uintptr_t)link;
}

static const struct fake_dev *
dev_of(const struct rte_comch_link *link)
{
	return link->dev->priv;
}

static void
link_down(struct fake_link *l, int error, const char *text)
{
	if (l->base.state == RTE_COMCH_LINK_DOWN)
		return;
	l->base.state = RTE_COMCH_LINK_DOWN;
	l->base.error = error;
	l->base.text = text;
}

static struct fake_link *
link_new(struct rte_comch_dev *dev)
{
	struct fake_link *l = calloc(1, sizeof(*l));

	if (l == NULL)
		return NULL;
	l->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (l->event_fd < 0) {
		free(l);
		return NULL;
	}
	l->base.ops = dev->ops;
	l->base.dev = dev;
	l->base.state = RTE_COMCH_LINK_CONNECTING;
	STAILQ_INIT(&l->rx);
	return l;
}

static void
frame_free(struct fake_frame *f)
{
	while (f->nb_fds > 0)
		close(f->fds[--f->nb_fds]);
	free(f);
}

/* Let go of everything but the object itself; fake_lock held. */
static void
link_shut(struct fake_link *l)
{
	struct fake_frame *f;

	link_down(l, -ECONNRESET, "closed by us");
	if (l->peer != NULL && !l->peer->peer_gone) {
		l->peer->peer_gone = true;
		ring(l->peer->event_fd);
	}
	if (l->event_fd >= 0)
		close(l->event_fd);
	l->event_fd = -1;
	while ((f = STAILQ_FIRST(&l->rx)) != NULL) {
		STAILQ_REMOVE_HEAD(&l->rx, next);
		frame_free(f);
	}
	__atomic_store_n(&l->nb_rx, 0, __ATOMIC_RELEASE);
}

static void
link_free(struct fake_link *l)
{
	link_shut(l);
	if (l->peer != NULL)
		l->peer->peer = NULL;
	free(l);
}

static struct fake_listener *
find_listener(const char *func, const char *name)
{
	struct fake_listener *l;

	TAILQ_FOREACH(l, &listeners, next)
		if (strcmp(l->func, func) == 0 && strcmp(l->name, name) == 0)
			return l;
	return NULL;
}

static void
listener_free(struct fake_listener *l)
{
	if (l->event_fd >= 0)
		close(l->event_fd);
	if (l->watch_fd >= 0)
		close(l->watch_fd);
	free(l);
}

static int
fake_listen(struct rte_comch_dev *dev, uint16_t rep, const char *name,
		struct rte_comch_listener **listener)
{
	const struct fake_dev *fake = dev->priv;
	struct fake_listener *l;
	int ret = 0;

	l = calloc(1, sizeof(*l));
	if (l == NULL)
		return -ENOMEM;
	l->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	l->watch_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (l->event_fd < 0 || l->watch_fd < 0) {
		listener_free(l);
		return -EMFILE;
	}
	l->base.ops = dev->ops;
	l->base.dev = dev;
	l->nb_slow = fake->slow_accept;
	rte_strscpy(l->func, dev->reps[rep].name, sizeof(l->func));
	rte_strscpy(l->name, name, sizeof(l->name));
	TAILQ_INIT(&l->waiting);
	pthread_mutex_lock(&fake_lock);
	if (find_listener(l->func, l->name) != NULL)
		ret = -EADDRINUSE;
	else
		TAILQ_INSERT_TAIL(&listeners, l, next);
	pthread_mutex_unlock(&fake_lock);
	if (ret != 0) {
		listener_free(l);
		return ret;
	}
	*listener = &l->base;
	return 0;
}

static void
fake_unlisten(struct rte_comch_listener *listener)
{
	struct fake_listener *l = (struct fake_listener *)listener;
	struct fake_link *s;

	pthread_mutex_lock(&fake_lock);
	TAILQ_REMOVE(&listeners, l, next);
	while ((s = TAILQ_FIRST(&l->waiting)) != NULL) {
		TAILQ_REMOVE(&l->waiting, s, next);
		link_free(s);
	}
	pthread_mutex_unlock(&fake_lock);
	listener_free(l);
}

static int
fake_listener_watch_fd(const struct rte_comch_listener *listener)
{
	return ((const struct fake_listener *)listener)->watch_fd;
}

static int
fake_listener_check(struct rte_comch_listener *listener, char *text, size_t size)
{
	struct fake_listener *l = (struct fake_listener *)listener;
	uint64_t count;
	bool lost;

	pthread_mutex_lock(&fake_lock);
	lost = read(l->watch_fd, &count, sizeof(count)) == sizeof(count) && l->lost;
	pthread_mutex_unlock(&fake_lock);
	if (lost)
		rte_strscpy(text, "the place was removed, as asked for", size);
	return lost ? -ENOENT : 0;
}

void
fake_listener_lose(const char *func, const char *name)
{
	struct fake_listener *l;

	pthread_mutex_lock(&fake_lock);
	l = find_listener(func, name);
	if (l != NULL) {
		l->lost = true;
		ring(l->watch_fd);
	}
	pthread_mutex_unlock(&fake_lock);
}

static int
fake_listener_fd(const struct rte_comch_listener *listener)
{
	return ((const struct fake_listener *)listener)->event_fd;
}

static int
fake_accept(struct rte_comch_listener *listener, struct rte_comch_link **link)
{
	struct fake_listener *l = (struct fake_listener *)listener;
	struct fake_link *s;
	int ret = -EAGAIN;

	pthread_mutex_lock(&fake_lock);
	s = TAILQ_FIRST(&l->waiting);
	if (s != NULL && l->nb_slow > 0) {
		l->nb_slow--;
		/* What was not taken is told of again. */
		ring(l->event_fd);
	} else if (s != NULL) {
		TAILQ_REMOVE(&l->waiting, s, next);
		l->nb_waiting--;
		s->taken = true;
		s->base.state = RTE_COMCH_LINK_UP;
		if (s->peer != NULL) {
			s->peer->taken = true;
			ring(s->peer->event_fd);
		}
		*link = &s->base;
		ret = 0;
	}
	pthread_mutex_unlock(&fake_lock);
	return ret;
}

static int
fake_connect(struct rte_comch_dev *dev, uint16_t rep, const char *name,
		struct rte_comch_link **link)
{
	struct fake_link *c, *s = NULL;
	struct fake_listener *l;
	int ret = -ENOENT;

	c = link_new(dev);
	if (c == NULL)
		return -EMFILE;
	pthread_mutex_lock(&fake_lock);
	l = find_listener(dev->reps[rep].name, name);
	if (l != NULL && l->nb_waiting >= BACKLOG) {
		ret = -EAGAIN;
	} else if (l != NULL) {
		s = link_new(l->base.dev);
		ret = s != NULL ? 0 : -EMFILE;
	}
	if (ret == 0) {
		c->peer = s;
		s->peer = c;
		TAILQ_INSERT_TAIL(&l->waiting, s, next);
		l->nb_waiting++;
		ring(l->event_fd);
		*link = &c->base;
	} else {
		link_free(c);
	}
	pthread_mutex_unlock(&fake_lock);
	return ret;
}

static void
fake_link_poll(struct rte_comch_link *link)
{
	struct fake_link *l = link_of(link);
	uint64_t count;

	pthread_mutex_lock(&fake_lock);
	if (l->event_fd >= 0 && read(l->event_fd, &count, sizeof(count)) < 0)
		count = 0; /* nothing had woken us */
	if (link->state == RTE_COMCH_LINK_CONNECTING && l->taken)
		link->state = RTE_COMCH_LINK_UP;
	if (l->dropped)
		link_down(l, -ECONNRESET, "link dropped, as asked for");
	else if (l->peer_gone)
		link_down(l, -ECONNRESET, "peer is gone");
	pthread_mutex_unlock(&fake_lock);
}

static void
fake_link_shutdown(struct rte_comch_link *link)
{
	pthread_mutex_lock(&fake_lock);
	link_shut(link_of(link));
	pthread_mutex_unlock(&fake_lock);
}

static void
fake_link_close(struct rte_comch_link *link)
{
	pthread_mutex_lock(&fake_lock);
	link_free(link_of(link));
	pthread_mutex_unlock(&fake_lock);
}

static int
fake_link_fd(const struct rte_comch_link *link)
{
	return link_of(link)->event_fd;
}

static void
fake_link_arm(struct rte_comch_link *link, bool credits)
{
	pthread_mutex_lock(&fake_lock);
	link_of(link)->armed = true;
	link_of(link)->armed_credits = credits;
	pthread_mutex_unlock(&fake_lock);
}

/* A private copy, with descriptors of its own. */
static int
frame_copy(const struct rte_comch_frame *frame, struct fake_frame **copy)
{
	struct fake_frame *f;

	f = malloc(sizeof(*f) + frame->hdr_len + frame->payload_len);
	if (f == NULL)
		return -ENOMEM;
	f->len = frame->hdr_len + frame->payload_len;
	memcpy(f->data, frame->hdr, frame->hdr_len);
	if (frame->payload_len > 0)
		memcpy(f->data + frame->hdr_len, frame->payload, frame->payload_len);
	for (f->nb_fds = 0; f->nb_fds < frame->nb_fds; f->nb_fds++) {
		f->fds[f->nb_fds] = fcntl(frame->fds[f->nb_fds], F_DUPFD_CLOEXEC, 0);
		if (f->fds[f->nb_fds] >= 0)
			continue;
		frame_free(f);
		return -EMFILE;
	}
	*copy = f;
	return 0;
}

/* What the knobs, or a full queue, say to one more frame. */
static int
tx_verdict(struct fake_link *l)
{
	const struct fake_dev *fake = dev_of(&l->base);

	if (l->base.state != RTE_COMCH_LINK_UP)
		return -ENOTCONN;
	if (fake->eagain_every > 0 && ++l->nb_tries % fake->eagain_every == 0)
		return -EAGAIN;
	if (l->peer != NULL && l->peer->nb_rx >= MAX_FRAMES)
		return -EAGAIN;
	if (fake->drop_at == 0 || ++l->nb_tx < fake->drop_at)
		return 0;
	link_down(l, -ECONNRESET, "link dropped, as asked for");
	ring(l->event_fd);
	if (l->peer != NULL) {
		l->peer->dropped = true;
		ring(l->peer->event_fd);
	}
	return -ENOTCONN;
}

static int
fake_frame_tx(struct rte_comch_link *link, const struct rte_comch_frame *frame)
{
	struct fake_link *l = link_of(link), *peer;
	struct fake_frame *f;
	int ret;

	pthread_mutex_lock(&fake_lock);
	peer = l->peer;
	ret = tx_verdict(l);
	if (ret == 0)
		ret = frame_copy(frame, &f);
	if (ret == 0 && (peer == NULL || peer->event_fd < 0)) {
		frame_free(f); /* nobody will read it */
	} else if (ret == 0) {
		STAILQ_INSERT_TAIL(&peer->rx, f, next);
		__atomic_store_n(&peer->nb_rx, peer->nb_rx + 1, __ATOMIC_RELEASE);
		if (peer->armed && (!frame->is_credit || peer->armed_credits)) {
			peer->armed = false;
			link->wakes++;
			ring(peer->event_fd);
		}
	}
	pthread_mutex_unlock(&fake_lock);
	return ret;
}

void (*fake_looked)(void);

static bool
fake_frame_pending(const struct rte_comch_link *link)
{
	bool pending = __atomic_load_n(&link_of(link)->nb_rx, __ATOMIC_ACQUIRE) > 0;

	if (fake_looked != NULL)
		fake_looked();
	return pending;
}

static int
fake_frame_rx(struct rte_comch_link *link, void *buf, uint32_t size,
		int fds[RTE_COMCH_FRAME_FDS], uint32_t *nb_fds)
{
	struct fake_link *l = link_of(link);
	struct fake_frame *f;
	int ret = -EAGAIN;

	pthread_mutex_lock(&fake_lock);
	f = STAILQ_FIRST(&l->rx);
	if (f != NULL && f->len > size) {
		link_down(l, -EPROTO, "peer's frame is too long");
		ret = -EPROTO;
	} else if (f != NULL) {
		STAILQ_REMOVE_HEAD(&l->rx, next);
		__atomic_store_n(&l->nb_rx, l->nb_rx - 1, __ATOMIC_RELEASE);
		memcpy(buf, f->data, f->len);
		*nb_fds = f->nb_fds;
		memcpy(fds, f->fds, f->nb_fds * sizeof(*fds));
		ret = (int)f->len;
		free(f);
	}
	pthread_mutex_unlock(&fake_lock);
	return ret;
}

static int
fake_mem_export(struct rte_comch_link *link, const struct rte_comch_mr *mr,
		struct rte_comch_mem_desc *desc)
{
	struct rte_comch_mr_info info;
	int ret;

	RTE_SET_USED(link);
	ret = rte_comch_mem_info_get(mr, &info);
	if (ret != 0)
		return ret;
	if (info.kind != RTE_COMCH_MEM_SEALED)
		return -ENOTSUP;
	desc->kind = info.kind;
	desc->len = info.len;
	desc->fd = rte_comch_mr_fd(mr, &desc->offset);
	return desc->fd >= 0 ? 0 : -ENOTSUP;
}

/* What our own copies of the library's files want of it. */
int comch_logtype;
bool comch_forked;

static int
fake_mem_import(struct rte_comch_link *link, const struct rte_comch_mem_desc *desc,
		struct rte_comch_region *region)
{
	const struct comch_shown_limit limit = {
		.used = link->dev->imported, .max = UINT64_MAX,
	};
	struct comch_shown *f;
	int ret;

	if (dev_of(link)->short_import || desc->offset > INT64_MAX - desc->len)
		return -EPERM;
	ret = comch_shown_get(desc->fd, desc->offset, desc->len, &limit, &f);
	if (ret != 0)
		return ret;
	*region = (struct rte_comch_region){
		.addr = f->addr + desc->offset, .len = desc->len, .fd = -1, .priv = f,
	};
	return 0;
}

static void
fake_region_free(struct rte_comch_link *link, struct rte_comch_region *region)
{
	RTE_SET_USED(link);
	if (region->addr == NULL)
		return;
	if (region->priv != NULL)
		comch_shown_put(region->priv);
	else
		comch_reaper_unmap(region->addr, region->len, region->used);
	if (region->fd >= 0)
		close(region->fd);
	*region = (struct rte_comch_region){ .fd = -1 };
}

static int
fake_region_create(struct rte_comch_link *link, size_t len, struct rte_comch_region *region)
{
	void *addr = NULL;
	int fd;

	if (dev_of(link)->no_region)
		return -ENOMEM;
	fd = comch_memfd_create("comch_fake", len, COMCH_MEMFD_ONE_WRITER, &addr);
	if (fd < 0)
		return fd;
	*region = (struct rte_comch_region){ .addr = addr, .len = len, .fd = fd };
	return 0;
}

static int
fake_region_map(struct rte_comch_link *link, int fd, size_t len,
		struct rte_comch_region *region)
{
	void *addr;
	int ret;

	RTE_SET_USED(link);
	ret = comch_memfd_check_control(fd, len);
	if (ret == 0)
		ret = comch_memfd_map(fd, 0, len, false, &addr);
	if (ret == 0)
		*region = (struct rte_comch_region){ .addr = addr, .len = len, .fd = -1 };
	return ret;
}

static const struct rte_comch_region_ops fake_regions = {
	.mem_export = fake_mem_export,
	.mem_import = fake_mem_import,
	.region_free = fake_region_free,
	.region_create = fake_region_create,
	.region_map = fake_region_map,
};

static const struct rte_comch_driver_ops fake_ops = {
	.name = "comch_fake",
	.valid_keys = fake_keys,
	.probe = fake_dev_probe,
	.remove = fake_dev_remove,
	.listen = fake_listen,
	.unlisten = fake_unlisten,
	.accept = fake_accept,
	.listener_fd = fake_listener_fd,
	.listener_watch_fd = fake_listener_watch_fd,
	.listener_check = fake_listener_check,
	.connect = fake_connect,
	.link_poll = fake_link_poll,
	.link_close = fake_link_close,
	.link_shutdown = fake_link_shutdown,
	.link_fd = fake_link_fd,
	.link_arm = fake_link_arm,
	.frame_tx = fake_frame_tx,
	.frame_rx = fake_frame_rx,
	.frame_pending = fake_frame_pending,
	.data = &rte_comch_data_mapped,
	.regions = &fake_regions,
};

RTE_COMCH_DRIVER_REGISTER(fake, fake_ops)
