/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Counters, and a peer that does not keep to the rules: an owner gives an importer nothing but what
 * it checks, and an importer reaches nothing but the word.
 */

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <rte_comch_counter.h>
#include <rte_comch_poll.h>

#include "raw_remote.h"
#include "t_futex.h"
#include "t_main.h"

static size_t
page_len(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

/* A hostile owner */

struct owner {
	int listener, fd;
	struct comch_remote_desc desc;
	struct rte_comch_counter *counter; /* imported from it */
};

/* Up to where it has the importer's hello, and is to send a page. */
static void
owner_open(struct owner *o)
{
	struct comch_remote_hello hello;

	t_eal_start(1);
	o->listener = raw_remote_listen(o->desc.path, sizeof(o->desc.path));
	o->desc.version = COMCH_REMOTE_VERSION;
	memset(o->desc.key, 7, sizeof(o->desc.key));
	o->counter = rte_comch_counter_import((const uint8_t *)&o->desc);
	T_CHECK(o->counter != NULL);
	T_EQ(rte_comch_counter_connect(o->counter), -EAGAIN);
	o->fd = accept(o->listener, NULL, NULL);
	T_GE(o->fd, 0);
	T_EQ(recv(o->fd, &hello, sizeof(hello), 0), sizeof(hello));
	T_EQ(hello.kind, COMCH_REMOTE_COUNTER);
	T_EQ(memcmp(hello.key, o->desc.key, sizeof(hello.key)), 0);
}

/* What the importer makes of the owner's answer. */
static int
owner_close(struct owner *o)
{
	int ret = 0;

	T_WAIT(0, (ret = rte_comch_counter_connect(o->counter)) != -EAGAIN);
	rte_comch_counter_free(o->counter);
	close(o->fd);
	close(o->listener);
	T_EQ(unlink(o->desc.path), 0);
	t_eal_stop();
	return ret;
}

#define OWNER_CASE(name) T_CASE_OF(struct owner, owner_open, owner_refused, name, o)

static void
owner_refused(struct owner *o)
{
	T_EQ(owner_close(o), -ENOTCONN);
}

/* As it should be: what is below differs in one thing. */
T_CASE(good_page)
{
	struct owner o;
	int page;

	owner_open(&o);
	page = raw_remote_memfd(page_len(), true);
	T_EQ(fcntl(page, F_ADD_SEALS, F_SEAL_SEAL), 0);
	raw_remote_welcome(o.fd, &page, 1);
	T_EQ(owner_close(&o), 0);
	close(page);
}

/* Its owner could shorten it: the next access would end the importer. */
OWNER_CASE(page_not_sealed)
{
	int page = raw_remote_memfd(page_len(), false);

	raw_remote_welcome(o->fd, &page, 1);
	close(page);
}

OWNER_CASE(page_too_short)
{
	int page = raw_remote_memfd(page_len() / 2, true);

	raw_remote_welcome(o->fd, &page, 1);
	close(page);
}

OWNER_CASE(empty_page)
{
	int page = memfd_create("empty", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	T_EQ(fcntl(page, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW), 0);
	raw_remote_welcome(o->fd, &page, 1);
	close(page);
}

/* The importer has to write to it. */
OWNER_CASE(read_only_page)
{
	int page = raw_remote_memfd(page_len(), true);

	T_EQ(fcntl(page, F_ADD_SEALS, F_SEAL_WRITE), 0);
	raw_remote_welcome(o->fd, &page, 1);
	close(page);
}

OWNER_CASE(no_page)
{
	raw_remote_welcome(o->fd, NULL, 0);
}

OWNER_CASE(two_pages)
{
	int pages[] = { raw_remote_memfd(page_len(), true), raw_remote_memfd(page_len(), true) };

	raw_remote_welcome(o->fd, pages, 2);
	close(pages[0]);
	close(pages[1]);
}

/* A pipe, which no receiver lets in. */
OWNER_CASE(no_memory)
{
	int ends[2];

	T_EQ(pipe(ends), 0);
	raw_remote_welcome(o->fd, ends, 1);
	close(ends[0]);
	close(ends[1]);
}

OWNER_CASE(welcome_too_long)
{
	char welcome[64] = { 0 };

	T_EQ(send(o->fd, welcome, sizeof(welcome), MSG_NOSIGNAL), sizeof(welcome));
}

OWNER_CASE(odd_status)
{
	const struct comch_remote_welcome welcome = {
		.status = 1, .version = COMCH_REMOTE_VERSION,
	};

	T_EQ(send(o->fd, &welcome, sizeof(welcome), MSG_NOSIGNAL), sizeof(welcome));
}

OWNER_CASE(closed)
{
	T_EQ(shutdown(o->fd, SHUT_RDWR), 0);
}

/* A hostile importer: the test's process is the owner as well, which a thread serves. */

struct served {
	int16_t dev;
	struct rte_comch_counter *counter;
	struct comch_remote_desc desc;
};

static void
served_open(struct served *s)
{
	t_eal_start(1);
	T_EQ(rte_comch_dev_probe("comch_shm0,role=host,func=pf0", &s->dev), 0);
	s->counter = rte_comch_counter_create(RTE_COMCH_COUNTER_F_SHARED);
	T_CHECK(s->counter != NULL);
	T_EQ(rte_comch_counter_export(s->counter, s->dev, (uint8_t *)&s->desc), 0);
}

/* One that keeps to the rules is served. */
static void
still_serves(struct served *s)
{
	struct rte_comch_counter *c = rte_comch_counter_import((const uint8_t *)&s->desc);

	T_CHECK(c != NULL);
	T_WAIT(0, rte_comch_counter_connect(c) == 0);
	rte_comch_counter_set(s->counter, 9);
	T_EQ(rte_comch_counter_get(c), 9);
	rte_comch_counter_free(c);
}

static void
served_close(struct served *s)
{
	still_serves(s);
	rte_comch_counter_free(s->counter);
	T_EQ(rte_comch_dev_close(s->dev), 0);
	t_eal_stop();
}

#define SERVED_CASE(name) T_CASE_OF(struct served, served_open, served_close, name, s)

/* Connect, and say hello; what has this key, and is of this kind. */
static int
ask(const struct served *s, uint8_t flip, uint32_t kind)
{
	int fd = raw_remote_connect(s->desc.path);
	uint8_t key[COMCH_REMOTE_KEY];

	memcpy(key, s->desc.key, sizeof(key));
	key[COMCH_REMOTE_KEY - 1] ^= flip;
	raw_remote_hello(fd, key, kind);
	return fd;
}

SERVED_CASE(keys_and_kinds)
{
	static const uint32_t kinds[] = {
		COMCH_REMOTE_MEMORY, COMCH_REMOTE_COUNTER + 1, UINT32_MAX
	};
	unsigned int i;
	int fd;

	fd = ask(s, 1, COMCH_REMOTE_COUNTER);
	T_EQ(raw_remote_hear(fd), -ENOTCONN);
	close(fd);
	for (i = 0; i < RTE_DIM(kinds); i++) {
		fd = ask(s, 0, kinds[i]);
		T_EQ(raw_remote_hear(fd), -ENOTCONN);
		close(fd);
	}
}

/* What it gets cannot be shortened, nor be unsealed. */
SERVED_CASE(page_is_sealed)
{
	int fd = ask(s, 0, COMCH_REMOTE_COUNTER);
	int page = raw_remote_take_page(fd);

	T_EQ(ftruncate(page, 0), -1);
	T_EQ(errno, EPERM);
	T_EQ(ftruncate(page, (off_t)(2 * page_len())), -1);
	T_EQ(fcntl(page, F_ADD_SEALS, F_SEAL_WRITE), -1);
	T_EQ(errno, EPERM);
	/* A hole is filled, and the counter is 0. */
	rte_comch_counter_set(s->counter, 5);
	T_EQ(fallocate(page, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, (off_t)page_len()), 0);
	T_EQ(rte_comch_counter_add(s->counter, 1), 0);
	close(page);
	close(fd);
}

/* It talks on, does not read, or stays: others are served. */
SERVED_CASE(importers_that_stay)
{
	char junk[64] = { 0 };
	int fds[16];
	unsigned int i;

	for (i = 0; i < RTE_DIM(fds); i++) {
		fds[i] = ask(s, 0, COMCH_REMOTE_COUNTER);
		while (send(fds[i], junk, sizeof(junk), MSG_NOSIGNAL | MSG_DONTWAIT) > 0)
			;
	}
	still_serves(s);
	for (i = 0; i < RTE_DIM(fds); i++)
		close(fds[i]);
}

/* It has the page: it says that it waits, and that all has changed, without end. */
SERVED_CASE(page_full_of_lies)
{
	int fd = ask(s, 0, COMCH_REMOTE_COUNTER);
	int page = raw_remote_take_page(fd);
	unsigned int i;
	uint32_t *words;

	words = mmap(NULL, page_len(), PROT_READ | PROT_WRITE, MAP_SHARED, page, 0);
	T_CHECK(words != MAP_FAILED);
	for (i = 0; i < page_len() / sizeof(words[0]); i++)
		words[i] = UINT32_MAX;
	T_EQ(rte_comch_counter_get(s->counter), UINT64_MAX);
	T_EQ(rte_comch_counter_add(s->counter, 1), UINT64_MAX);
	T_EQ(rte_comch_counter_wait(s->counter, RTE_COMCH_COUNTER_EQ, 0, UINT64_MAX, -1), 0);
	T_EQ(rte_comch_counter_wait(s->counter, RTE_COMCH_COUNTER_NE, 0, UINT64_MAX, 30),
		-ETIMEDOUT);
	memset(words, 0, page_len());
	T_EQ(munmap(words, page_len()), 0);
	close(page);
	close(fd);
}

/* The words of a page; comch_counter.h. */
enum { WORD_VALUE, WORD_CHANGES = 2, WORD_WAITERS };

struct waker {
	pthread_t thread;
	uint32_t *words;
	atomic_bool is_over;
};

static void *
wake_for_nothing(void *arg)
{
	struct waker *w = arg;

	while (!w->is_over)
		__atomic_fetch_add(&w->words[WORD_CHANGES], 1, __ATOMIC_RELAXED);
	return NULL;
}

/* It has waiters look again without end: they nap, a millisecond each time, after some. */
SERVED_CASE(wakes_for_nothing)
{
	struct rte_comch_poll *poll = rte_comch_poll_create(NULL);
	int fd = ask(s, 0, COMCH_REMOTE_COUNTER);
	int page = raw_remote_take_page(fd);
	struct waker w = { .is_over = false };

	w.words = mmap(NULL, page_len(), PROT_READ | PROT_WRITE, MAP_SHARED, page, 0);
	T_CHECK(w.words != MAP_FAILED);
	T_EQ(pthread_create(&w.thread, NULL, wake_for_nothing, &w), 0);
	T_EQ(rte_comch_counter_wait(s->counter, RTE_COMCH_COUNTER_EQ, 1, UINT64_MAX, 200),
		-ETIMEDOUT);
	/* A sleep that is full, 10 ms, has it look 64 times again. */
	T_LE(t_futex_nb_waits, 64 * (200 / 10 + 1) + 200);
	/* The thread that serves watches does as well; this one sleeps meanwhile. */
	t_futex_nb_waits = 0;
	T_EQ(rte_comch_counter_watch(s->counter, 0, poll), 0);
	usleep(200000);
	rte_comch_counter_unwatch(s->counter);
	T_LE(t_futex_nb_waits, 10000);
	w.is_over = true;
	T_EQ(pthread_join(w.thread, NULL), 0);
	T_EQ(rte_comch_poll_destroy(poll), 0);
	T_EQ(munmap(w.words, page_len()), 0);
	close(page);
	close(fd);
}
