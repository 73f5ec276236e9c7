/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* The driver in memory: listeners, links and frames. fake_private.h describes it. */

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <rte_string_fns.h>

#include "fake_private.h"

/* Maximum frames in a queue; the shared-memory driver's ring holds as many. */
#define MAX_FRAMES 256
/* Maximum clients that wait for accept. */
#define BACKLOG 128

struct fake_frame {
	STAILQ_ENTRY(fake_frame) next;
	uint64_t due;              /* when it arrives */
	bool is_credit;
	uint32_t len;
	uint32_t nb_fds;
	int fds[RTE_COMCH_FRAME_FDS];
	uint8_t data[];
};

struct fake_link {
	struct rte_comch_link base;
	struct fake_link *peer;    /* NULL: freed */
	STAILQ_HEAD(, fake_frame) rx;
	uint32_t nb_rx;
	uint64_t empty;            /* of rx: see fake_poll_again() */
	uint64_t busy;             /* the same for frames sent */
	uint32_t nb_tx;            /* for drop_at */
	uint32_t nb_tries;         /* for eagain_every */
	int event_fd;              /* -1 after shutdown */
	bool armed;
	bool armed_credits;
	bool accepted;             /* by the server */
	bool peer_gone;
	bool dropped;              /* by drop_at */
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
pthread_mutex_t fake_lock = PTHREAD_MUTEX_INITIALIZER;
uint64_t fake_now;

bool
fake_poll_again(struct fake_dev *fake, uint64_t *empty, bool found)
{
	bool again = !found && *empty == fake->nb_ticks;

	if (again) {
		fake->nb_ticks++;
		fake->now = ++fake_now;
		fake_data_run();
	}
	*empty = found || again ? UINT64_MAX : fake->nb_ticks;
	return again;
}

void
fake_signal(int fd)
{
	uint64_t one = 1;

	if (fd >= 0 && write(fd, &one, sizeof(one)) != sizeof(one))
		return; /* full, hence readable already */
}

static struct fake_link *
link_of(const struct rte_comch_link *link)
{
	return (struct fake_link *)(uintptr_t)link;
}

bool
fake_are_paired(const struct rte_comch_link *a, const struct rte_comch_link *b)
{
	return link_of(a)->peer == link_of(b);
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
	l->empty = l->busy = UINT64_MAX;
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

/* Delivered at this end, whether or not it was received. */
static bool
has_arrived(const struct fake_frame *f)
{
	return f->due <= fake_now;
}

/* The next frame to receive. A link that is down ignores its device's time. */
static struct fake_frame *
next_frame(const struct fake_link *l)
{
	uint64_t now = l->base.state == RTE_COMCH_LINK_DOWN ? fake_now :
		fake_dev_of(&l->base)->now;
	struct fake_frame *f = STAILQ_FIRST(&l->rx);

	return f != NULL && f->due <= now ? f : NULL;
}

/* Drop the frames that have not arrived at l. */
static void
drop_frames(struct fake_link *l)
{
	struct fake_frame *f, *tmp;

	STAILQ_FOREACH_SAFE(f, &l->rx, next, tmp) {
		if (has_arrived(f))
			continue;
		STAILQ_REMOVE(&l->rx, f, fake_frame, next);
		l->nb_rx--;
		frame_free(f);
	}
}

/* Release everything but the object itself; fake_lock is held. */
static void
link_shut(struct fake_link *l)
{
	struct fake_frame *f;

	link_down(l, -ECONNRESET, "closed locally");
	if (l->peer != NULL && !l->peer->peer_gone) {
		l->peer->peer_gone = true;
		drop_frames(l->peer);
		fake_signal(l->peer->event_fd);
	}
	if (l->event_fd >= 0)
		close(l->event_fd);
	l->event_fd = -1;
	while ((f = STAILQ_FIRST(&l->rx)) != NULL) {
		STAILQ_REMOVE_HEAD(&l->rx, next);
		frame_free(f);
	}
	l->nb_rx = 0;
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
		rte_strscpy(text, "place removed by fake_listener_lose()", size);
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
		fake_signal(l->watch_fd);
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
		/* The client still waits: signal it again. */
		fake_signal(l->event_fd);
	} else if (s != NULL) {
		TAILQ_REMOVE(&l->waiting, s, next);
		l->nb_waiting--;
		s->accepted = true;
		s->base.state = RTE_COMCH_LINK_UP;
		if (s->peer != NULL) {
			s->peer->accepted = true;
			fake_signal(s->peer->event_fd);
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
		fake_signal(l->event_fd);
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
		count = 0; /* there was no wake-up */
	if (link->state == RTE_COMCH_LINK_CONNECTING && l->accepted)
		link->state = RTE_COMCH_LINK_UP;
	if (l->dropped)
		link_down(l, -ECONNRESET, "link dropped by drop_at");
	else if (l->peer_gone)
		link_down(l, -ECONNRESET, "peer closed the link");
	/* Time passes, too, while the core waits for an operation and leaves frames unread. */
	if (fake_late_any(link)) {
		count = fake_dev_of(link)->nb_ticks;
		fake_poll_again(fake_dev_of(link), &count, false);
		fake_signal(l->event_fd);
	}
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

/*
 * Only polls advance time, so frames in flight and operations in progress would never wake
 * a sleeper: wake now.
 */
static bool
fake_link_arm(struct rte_comch_link *link, bool credits)
{
	struct fake_link *l = link_of(link);
	const struct fake_frame *f;

	pthread_mutex_lock(&fake_lock);
	l->armed = true;
	l->armed_credits = credits;
	if (fake_late_any(link))
		fake_signal(l->event_fd);
	STAILQ_FOREACH(f, &l->rx, next)
		if (l->armed && f->due > fake_dev_of(link)->now && (credits || !f->is_credit)) {
			l->armed = false;
			fake_signal(l->event_fd);
		}
	pthread_mutex_unlock(&fake_lock);
	return false;
}

/* Have all frames arrived at the peer? */
static bool
fake_link_idle(const struct rte_comch_link *link)
{
	struct fake_link *l = link_of(link);
	const struct fake_frame *last;
	bool idle;

	pthread_mutex_lock(&fake_lock);
	last = l->peer != NULL ? STAILQ_LAST(&l->peer->rx, fake_frame, next) : NULL;
	idle = last == NULL || has_arrived(last);
	fake_poll_again(fake_dev_of(link), &l->busy, idle);
	pthread_mutex_unlock(&fake_lock);
	return idle;
}

/* Copy a frame and duplicate its descriptors. */
static int
frame_copy(const struct rte_comch_frame *frame, struct fake_frame **copy)
{
	struct fake_frame *f;

	f = malloc(sizeof(*f) + frame->hdr_len + frame->payload_len);
	if (f == NULL)
		return -ENOMEM;
	f->len = frame->hdr_len + frame->payload_len;
	f->is_credit = frame->is_credit;
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

bool fake_full;

/* Check the device keys and the peer's queue before a frame is sent. */
static int
tx_check(struct fake_link *l)
{
	const struct fake_dev *fake = fake_dev_of(&l->base);

	if (l->base.state != RTE_COMCH_LINK_UP)
		return -ENOTCONN;
	if (fake_full)
		return -EAGAIN;
	if (fake->eagain_every > 0 && ++l->nb_tries % fake->eagain_every == 0)
		return -EAGAIN;
	if (l->peer != NULL && l->peer->nb_rx >= MAX_FRAMES)
		return -EAGAIN;
	if (fake->drop_at == 0 || ++l->nb_tx < fake->drop_at)
		return 0;
	link_down(l, -ECONNRESET, "link dropped by drop_at");
	fake_signal(l->event_fd);
	drop_frames(l);
	if (l->peer != NULL) {
		drop_frames(l->peer);
		l->peer->dropped = true;
		fake_signal(l->peer->event_fd);
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
	ret = tx_check(l);
	if (ret == 0)
		ret = frame_copy(frame, &f);
	if (ret == 0 && (peer == NULL || peer->event_fd < 0)) {
		frame_free(f); /* the peer has shut down */
	} else if (ret == 0) {
		f->due = fake_due(link);
		fake_dev_of(link)->nb_frames++;
		STAILQ_INSERT_TAIL(&peer->rx, f, next);
		peer->nb_rx++;
		if (peer->armed && (!frame->is_credit || peer->armed_credits)) {
			peer->armed = false;
			link->wakes++;
			fake_signal(peer->event_fd);
		}
	}
	pthread_mutex_unlock(&fake_lock);
	return ret;
}

void (*fake_after_pending)(void);

static bool
fake_frame_pending(const struct rte_comch_link *link)
{
	struct fake_link *l = link_of(link);
	bool pending;

	pthread_mutex_lock(&fake_lock);
	do
		pending = next_frame(l) != NULL;
	while (fake_poll_again(fake_dev_of(link), &l->empty, pending));
	pthread_mutex_unlock(&fake_lock);
	if (fake_after_pending != NULL)
		fake_after_pending();
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
	f = next_frame(l);
	if (f != NULL && f->len > size) {
		link_down(l, -EPROTO, "frame from peer is too long");
		ret = -EPROTO;
	} else if (f != NULL) {
		STAILQ_REMOVE_HEAD(&l->rx, next);
		l->nb_rx--;
		memcpy(buf, f->data, f->len);
		*nb_fds = f->nb_fds;
		memcpy(fds, f->fds, f->nb_fds * sizeof(*fds));
		ret = (int)f->len;
		free(f);
	}
	pthread_mutex_unlock(&fake_lock);
	return ret;
}

static const struct rte_comch_driver_ops fake_ops = {
	.name = "comch_fake",
	.valid_keys = fake_keys,
	.probe = fake_dev_probe,
	.remove = fake_dev_remove,
	.dev_xstats = fake_dev_xstats,
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
	.link_idle = fake_link_idle,
	.data = &fake_data_ops,
};

const struct rte_comch_driver_ops *
fake_driver_ops(void)
{
	return &fake_ops;
}

RTE_COMCH_DRIVER_REGISTER(fake, fake_ops)
