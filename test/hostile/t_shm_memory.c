/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Memory that a peer shows, and memory that it has the victim allocate. */

#include <dirent.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "data/comch_fast_path.h"
#include "victim.h"

V_SUITE(memory);

#define MIB ((size_t)1 << 20)
/* Runs of the victim until an honest client's message has arrived, at most. */
#define MAX_RUNS 10

/*
 * What takes long with a large region: to map it, as its pages are cleared, and to unmap it.
 * These stand for libc's, and count what the thread does that runs the victim's poll.
 */
static __thread size_t mapped;   /* in all */
static __thread size_t unmapped; /* by one call */

void *
mmap(void *addr, size_t len, int prot, int flags, int fd, off_t off)
{
	mapped += len;
	return (void *)syscall(SYS_mmap, addr, len, prot, flags, fd, off);
}

int
munmap(void *addr, size_t len)
{
	unmapped = RTE_MAX(unmapped, len);
	return (int)syscall(SYS_munmap, addr, len);
}

/* Runs under attack. */
struct siege {
	struct victim *v;
	size_t limit;            /* bytes that a run may map */
	size_t mapped;           /* by a run, at most */
	size_t unmapped;         /* by one call */
	unsigned int runs;       /* that the message under way has taken; 0: there is none */
	unsigned int longest;    /* of all messages */
	unsigned int nb_msgs;
	bool is_over;            /* no more messages */
};

/* One run, and an honest message that is always under way. */
static void
siege_step(struct siege *s)
{
	struct t_pair *p = &s->v->p;

	mapped = unmapped = 0;
	v_run(s->v);
	s->mapped = RTE_MAX(s->mapped, mapped);
	s->unmapped = RTE_MAX(s->unmapped, unmapped);
	s->longest = RTE_MAX(s->longest, s->runs);
	if (s->runs > 0 && t_count(p->dpu, RTE_COMCH_EVENT_MSG, p->sconn) > 0) {
		s->nb_msgs++;
		s->runs = 0;
	}
	s->runs += s->runs > 0;
	t_forget(p->dpu);
	t_step(p->host);
	t_forget(p->host);
	if (s->runs == 0 && !s->is_over)
		s->runs = t_offer(p->cconn, "honest", 6, 0, RTE_COMCH_MSG_F_SILENT);
}

/* Let the last message arrive. Did the victim hold out? */
static void
siege_check(struct siege *s)
{
	s->is_over = true;
	while (s->runs > 0)
		siege_step(s);
	T_GE(s->nb_msgs, 50);
	T_LE(s->longest, MAX_RUNS);
	T_LE(s->mapped, s->limit);
	T_LE(s->unmapped, MIB);
	v_check_runs(s->v);
}

/* Punching holes, in both ways that there are. */
static void
check_cannot_punch(int fd, void *addr)
{
	T_EQ(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4096), -1);
	T_EQ(errno, EPERM);
	T_EQ(madvise(addr, 4096, MADV_REMOVE), -1);
	T_EQ(errno, EPERM);
}

static int32_t
show(struct raw_peer *a, uint32_t id, const struct raw_mem *m)
{
	raw_send_mr_add(a, id, 0, m->len, m->fd);
	return v_hear_status(a, COMCH_WIRE_MR_ACK);
}

/* What was shown open is the victim's: no hole can be punched into it. */
Test(memory, punch_after_import)
{
	struct rte_comch_conn *conn;
	struct raw_peer a;
	struct victim v;
	struct raw_mem m;

	v_open(&v, NULL);
	conn = v_connect(&v, &a);
	raw_mem_new(&m, MIB, MFD_ALLOW_SEALING, 0);
	T_EQ(show(&a, 0, &m), 0);
	check_cannot_punch(m.fd, m.addr);
	T_NE(ftruncate(m.fd, 0), 0);
	/* Again, and by another connection: it is the same. */
	T_EQ(show(&a, 1, &m), 0);
	v_expect_alive(&v, &a, conn);
	raw_mem_free(&m);
	raw_close(&a);
	v_close(&v);
}

/* Two connections of one process share what no second mapping could be made of. */
Test(memory, two_connections)
{
	struct raw_peer a, b;
	struct rte_comch_conn *ca;
	struct victim v;
	struct raw_mem m;

	v_open(&v, NULL);
	ca = v_connect(&v, &a);
	v_connect(&v, &b);
	raw_mem_new(&m, MIB, MFD_ALLOW_SEALING, 0);
	T_EQ(show(&a, 0, &m), 0);
	T_EQ(show(&b, 0, &m), 0);
	raw_close(&a);
	v_expect_down(&v, ca);
	check_cannot_punch(m.fd, m.addr);
	T_EQ(show(&b, 1, &m), 0);
	raw_mem_free(&m);
	raw_close(&b);
	v_close(&v);
}

/* A hole that is there already, before or while the victim seals, is found. */
Test(memory, hole_before_import)
{
	struct raw_peer a;
	struct victim v;
	struct raw_mem m;

	v_open(&v, NULL);
	v_connect(&v, &a);
	raw_mem_new(&m, MIB, MFD_ALLOW_SEALING, 0);
	T_EQ(fallocate(m.fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 8192, 4096), 0);
	T_EQ(show(&a, 0, &m), -EPERM);
	raw_mem_free(&m);
	raw_close(&a);
	v_close(&v);
}

/* Show new memory of that length; the victim's answer. */
static int32_t
show_mem(struct raw_peer *a, uint32_t id, size_t len, unsigned int seals)
{
	struct raw_mem m;
	int32_t status;

	raw_mem_new(&m, len, MFD_ALLOW_SEALING, seals);
	m.len = 4096;
	status = show(a, id, &m);
	m.len = len;
	raw_mem_free(&m);
	return status;
}

/* More than the device's limit, in many pieces: files count in full. */
Test(memory, mr_over_max_import)
{
	struct t_pair_conf conf = { .dpu_args = ",max_import=1048576" };
	unsigned int granted = 0, i;
	struct raw_peer a;
	struct victim v;

	v_open(&v, &conf);
	v_connect(&v, &a);
	for (i = 0; i < COMCH_MAX_IMPORTS; i++)
		granted += show_mem(&a, i, 65536, RAW_SEALS_PAYLOAD) == 0;
	T_EQ(granted, 16);
	raw_close(&a);
	v_close(&v);
}

/* The device's limit counts for all connections, and until they end. */
Test(memory, mr_over_total_import)
{
	/* The honest one has 64 KiB, and its control memory is the client's to map. */
	struct t_pair_conf conf = { .dpu_args = ",max_import=1048576,total_import=1638400" };
	unsigned int granted = 0, i;
	struct rte_comch_conn *ca;
	struct raw_peer a, b;
	struct victim v;

	v_open(&v, &conf);
	ca = v_connect(&v, &a);
	v_connect(&v, &b);
	T_EQ(show_mem(&a, 0, 1 << 20, 0), 0);
	T_EQ(show_mem(&b, 0, 1 << 20, 0), -EDQUOT);
	for (i = 1; i < 16; i++)
		granted += show_mem(&b, i, 65536, RAW_SEALS_PAYLOAD) == 0;
	T_LE(granted, 9);
	raw_close(&a);
	v_expect_down(&v, ca);
	T_UNTIL(show_mem(&b, 20, 512 << 10, 0) == 0);
	raw_close(&b);
	v_close(&v);
}

/* Defaults depend on the machine. */
Test(memory, default_limits)
{
	uint64_t mem = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
	struct rte_comch_dev_info info;
	int16_t dev;

	dev = t_dev_open(0, "role=dpu,rep=pf0");
	T_EQ(rte_comch_dev_info_get(dev, &info), 0);
	T_LE(info.total_import, mem / 4);
	T_LE(info.max_import, info.total_import / 2);
	T_LE(info.total_staging, 256 * MIB);
	T_LE(info.max_staging, 8 * MIB);
	T_GT(info.max_staging, 0);
	T_EQ(rte_comch_dev_close(dev), 0);
	/* One connection may have all, if that is said. */
	dev = t_dev_open(0, "role=dpu,rep=pf0,max_import=0x400000000000,max_staging=0x40000000");
	T_EQ(rte_comch_dev_info_get(dev, &info), 0);
	T_EQ(info.total_import, UINT64_C(0x400000000000));
	T_EQ(info.total_staging, 1024 * MIB);
	T_EQ(rte_comch_dev_close(dev), 0);
}

/* Take the one descriptor of the library's memory in this process; a duplicate. */
static int
library_mem(size_t len)
{
	char path[PATH_MAX], to[PATH_MAX];
	struct dirent *e;
	struct stat st;
	ssize_t n;
	DIR *d;
	int fd = -1;

	d = opendir("/proc/self/fd");
	T_CHECK(d != NULL);
	while ((e = readdir(d)) != NULL) {
		snprintf(path, sizeof(path), "/proc/self/fd/%s", e->d_name);
		n = readlink(path, to, sizeof(to) - 1);
		to[n > 0 ? n : 0] = '\0';
		if (strncmp(to, "/memfd:comch_mem ", 17) == 0 && stat(path, &st) == 0 &&
				st.st_size == (off_t)len)
			fd = dup(atoi(e->d_name));
	}
	closedir(d);
	T_GE(fd, 0);
	return fd;
}

/* What the library shows, by a flow to the host (a client shows) or to the DPU. */
static void
exported(bool by_client)
{
	const size_t len = 23 * 4096;
	struct t_flow_conf fc = { .to_host = by_client, .size = len };
	struct t_pair p;
	struct t_flow f;
	int fd;

	t_pair_open(&p, NULL);
	t_flow_open(&f, &p, &fc);
	fd = library_mem(len);
	if (by_client)
		check_cannot_punch(fd, f.dst.addr);
	else
		T_EQ(fcntl(fd, F_GET_SEALS), RAW_SEALS_PAYLOAD);
	close(fd);
	t_flow_close(&f);
	t_pair_close(&p);
}

Test(memory, client_exports)
{
	exported(true);
}

/* A server's may go to any number of processes. */
Test(memory, server_exports)
{
	exported(false);
}

/* One message to a consumer of the host, by the pair's connection: how often was it copied? */
static unsigned int
copies_to_host(struct t_flow *f, uint64_t seed)
{
	struct rte_comch_cpl in, out;

	t_fill(f->src.addr, 1000, seed);
	T_EQ(t_post(f, 0, 1000, seed), 1);
	T_UNTIL(t_put(f, 0, 1000, seed) == 1);
	t_recv(f->cons, &in);
	t_done(f->prod, &out);
	T_EQ(in.status, 0);
	T_EQ(out.status, 0);
	T_VERIFY(f->dst.addr, 1000, seed);
	return in.copies;
}

/* A liar seals what it was shown and does not map it: the next peer maps it all the same. */
Test(memory, sealed_without_a_mapping)
{
	const struct t_flow_conf fc = { .to_host = true };
	struct rte_comch_consumer *cons;
	struct rte_comch_client *client;
	struct rte_comch_conn *conn;
	struct raw_frame f;
	struct raw_peer a;
	struct t_flow flow;
	struct t_mem mem;
	struct victim v;
	int sock, listener;

	v_open(&v, NULL);
	listener = raw_listen(t_dir(), "pf0", "liar");
	client = t_client_new(v.p.host, v.p.host_dev, "liar", NULL);
	T_EQ(rte_comch_client_start(client), -EINPROGRESS);
	T_UNTIL((sock = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0);
	raw_open(&a, sock, RAW_CELLS);
	T_UNTIL(raw_is_up(&a));
	v_hear(&a, &f, COMCH_WIRE_HELLO);
	raw_send_accept(&a, 4080, 64);
	T_UNTIL(rte_comch_client_state(client) == RTE_COMCH_STATE_RUNNING);
	conn = rte_comch_client_conn(client);
	t_mem_new(&mem, RTE_COMCH_MEM_SEALED, 65536, 0);
	t_fill(mem.addr, mem.len, 5);
	cons = t_consumer_new(conn, NULL, mem.mr);
	T_EQ(rte_comch_consumer_start(cons), -EINPROGRESS);
	v_hear(&a, &f, COMCH_WIRE_MR_ADD);
	T_EQ(f.nb_fds, 1);
	T_EQ(fcntl(f.fds[0], F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_FUTURE_WRITE), 0);
	raw_frame_free(&f);
	raw_close(&a);
	T_UNTIL(rte_comch_consumer_state(cons) == RTE_COMCH_STATE_IDLE);
	/* The first one, not even destroyed, does not block others. */
	t_flow_open(&flow, &v.p, &fc);
	t_consumer_end(flow.cons);
	t_mem_free(&flow.dst);
	flow.dst = mem;
	flow.cons = t_consumer_new(flow.cons_conn, NULL, mem.mr);
	t_consumer_run(flow.cons);
	T_VERIFY(mem.addr, mem.len, 5);
	flow.id = rte_comch_consumer_id(flow.cons);
	T_UNTIL(t_knows_consumer(flow.prod_node, flow.prod_conn, flow.id));
	T_EQ(copies_to_host(&flow, 6), 0);
	T_EQ(rte_comch_consumer_destroy(cons), 0);
	t_flow_close(&flow);
	t_client_end(client);
	close(listener);
	v_close(&v);
}

/* Punch holes and fill them, as long as that is possible. */
static void
punch(void *arg)
{
	const struct raw_mem *m = arg;

	(void)fallocate(m->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 8192, 4096);
	(void)fallocate(m->fd, 0, 8192, 4096);
}

/* Meanwhile the victim seals: what it accepts has all its pages, for good. */
Test(memory, punching_while_imported)
{
	unsigned int i, granted = 0;
	struct raw_peer a;
	struct v_thread t;
	struct raw_mem m;
	struct victim v;
	struct stat st;

	v_open(&v, NULL);
	v_connect(&v, &a);
	for (i = 0; i < 300; i++) {
		raw_mem_new(&m, 65536, MFD_ALLOW_SEALING, 0);
		v_thread_start(&t, punch, &m);
		if (show(&a, i % COMCH_MAX_IMPORTS, &m) == 0) {
			granted++;
			v_thread_stop(&t);
			T_EQ(fstat(m.fd, &st), 0);
			T_GE(st.st_blocks * 512, st.st_size);
			check_cannot_punch(m.fd, m.addr);
		} else {
			v_thread_stop(&t);
		}
		raw_send_id(&a, COMCH_WIRE_MR_DEL, i % COMCH_MAX_IMPORTS);
		t_step_all();
		raw_mem_free(&m);
	}
	T_GT(granted, 0);
	raw_close(&a);
	v_close(&v);
}

/* Announce a consumer; the victim's answer. */
static int32_t
announce(struct raw_peer *a, struct raw_cons *c)
{
	raw_cons_announce(a, c);
	return v_hear_status(a, COMCH_WIRE_CONSUMER_ACK);
}

/*
 * A consumer may stop before the refusal reaches it: one CONSUMER_GONE after a refusal is
 * allowed, a second one is not.
 */
Test(memory, gone_after_a_refusal)
{
	struct rte_comch_conn *conn;
	struct raw_cons c;
	struct raw_peer a;
	struct victim v;

	v_open(&v, NULL);
	conn = v_connect(&v, &a);
	raw_cons_new(&c, 1, 64, 64, 256 << 20);
	T_EQ(announce(&a, &c), -EDQUOT);
	raw_send_id(&a, COMCH_WIRE_CONSUMER_GONE, c.id);
	v_expect_alive(&v, &a, conn);
	raw_send_id(&a, COMCH_WIRE_CONSUMER_GONE, c.id);
	v_expect_end(&v, conn);
	raw_cons_free(&c);
	raw_close(&a);
	v_close(&v);
}

/* Staging rings as large as the wire allows: refused, each of them. */
Test(memory, staging_asked_for)
{
	struct rte_comch_conn *conn;
	uint64_t before, grown;
	struct raw_cons c;
	struct raw_peer a;
	struct victim v;
	unsigned int i;

	v_open(&v, NULL);
	conn = v_connect(&v, &a);
	before = t_shared_kb();
	raw_cons_new(&c, 1, 64, 64, 256 << 20);
	for (i = 0; i < 12; i++) {
		T_EQ(announce(&a, &c), -EDQUOT);
		c.id++;
	}
	c.staging_size = 1 << 20;
	for (i = 0; i < 12; i++) {
		if (announce(&a, &c) != 0)
			break;
		c.id++;
	}
	T_EQ(i, 7);
	grown = t_shared_kb() - before;
	T_LE(grown, 16 * 1024);
	v_expect_alive(&v, &a, conn);
	raw_cons_free(&c);
	raw_close(&a);
	v_close(&v);
}

/* All connections together: until one of them ends. */
Test(memory, staging_in_total)
{
	/* The honest one has its records. */
	struct t_pair_conf conf = {
		.dpu_args = ",max_staging=2097152,total_staging=4718592",
	};
	struct rte_comch_conn *first = NULL;
	struct raw_cons c[3];
	struct raw_peer a[3];
	struct victim v;
	unsigned int i;

	v_open(&v, &conf);
	for (i = 0; i < RTE_DIM(a); i++) {
		struct rte_comch_conn *conn = v_connect(&v, &a[i]);

		first = i == 0 ? conn : first;
		raw_cons_new(&c[i], 1, 64, 64, 1 << 20);
		T_EQ(announce(&a[i], &c[i]), 0);
		c[i].id++;
		T_EQ(announce(&a[i], &c[i]), -EDQUOT);
		c[i].id++;
	}
	c[2].staging_size = 2 << 20;
	T_EQ(announce(&a[2], &c[2]), -EDQUOT);
	c[2].id++;
	c[2].staging_size = 512 << 10;
	T_EQ(announce(&a[2], &c[2]), 0);
	for (i = 0; i < 2; i++) {
		c[i].staging_size = 512 << 10;
		T_EQ(announce(&a[i], &c[i]), i == 0 ? 0 : -EDQUOT);
		c[i].id++;
	}
	raw_close(&a[0]);
	v_expect_down(&v, first);
	T_UNTIL((c[1].id++, announce(&a[1], &c[1])) == 0);
	for (i = 0; i < RTE_DIM(a); i++) {
		raw_cons_free(&c[i]);
		if (i > 0)
			raw_close(&a[i]);
	}
	v_close(&v);
}

/* An honest consumer gets a smaller ring then, and all of its messages. */
Test(memory, staging_of_less)
{
	const struct t_pair_conf conf = { .dpu_args = ",max_staging=1048576" };
	const struct t_flow_conf fc = {
		.to_host = true, .kind = RTE_COMCH_MEM_HEAP, .size = MIB,
		.cons = { .staging_size = 64 << 20 },
	};
	struct t_flow f;
	struct t_pair p;

	t_pair_open(&p, &conf);
	t_flow_open(&f, &p, &fc);
	T_EQ(copies_to_host(&f, 3), 1);
	T_EQ(t_post(&f, 0, MIB, 4), 1);
	t_flow_close(&f);
	t_pair_close(&p);
}

/* What cannot be smaller is refused, in words. */
Test(memory, records_of_too_many)
{
	const struct t_pair_conf conf = { .dpu_args = ",max_staging=1048576" };
	const struct rte_comch_consumer_conf cc = { .queue_size = 65536 };
	struct rte_comch_consumer *cons;
	struct t_mem mem;
	struct t_pair p;

	t_pair_open(&p, &conf);
	t_mem_new(&mem, RTE_COMCH_MEM_SEALED, 65536, 0);
	cons = t_consumer_new(p.cconn, &cc, mem.mr);
	T_EQ(rte_comch_consumer_start(cons), -EINPROGRESS);
	T_UNTIL(t_state_is(p.host, cons, RTE_COMCH_STATE_IDLE));
	T_EQ(t_state_ev(p.host, cons)->e.status, -EDQUOT);
	T_EQ(rte_comch_consumer_destroy(cons), 0);
	t_mem_free(&mem);
	t_pair_close(&p);
}

#define NB_ATTACKERS 8

struct attacker {
	struct raw_peer a;
	struct raw_cons c;
	struct raw_mem m;
	unsigned int nb_come;
};

/* How often each attacker comes. If it was refused too often, it would lose its connection. */
#define NB_COME (COMCH_MAX_REFUSALS / 2)

static unsigned int nb_gone;

/* A consumer that the victim has granted goes. It may refuse one before it has let go of the
 * last: that one may not go.
 */
static void
go(struct attacker *x, const struct raw_frame *f)
{
	uint32_t id;
	int32_t status;

	if (f->type != COMCH_WIRE_CONSUMER_ACK)
		return;
	memcpy(&id, f->body, sizeof(id));
	memcpy(&status, f->body + sizeof(id), sizeof(status));
	if (status != 0)
		return;
	raw_send_id(&x->a, COMCH_WIRE_CONSUMER_GONE, id);
	nb_gone++;
}

/* Read what the victim says, and say more if it has read that. */
static bool
attacker_ready(struct attacker *x)
{
	struct raw_frame f;

	while (raw_recv(&x->a, &f)) {
		go(x, &f);
		raw_frame_free(&f);
	}
	return x->a.tx_pos - __atomic_load_n(&x->a.vic->rx_pos, __ATOMIC_ACQUIRE) < 8;
}

static void
come(struct attacker *x)
{
	raw_cons_announce(&x->a, &x->c);
	x->c.id++;
	x->nb_come++;
}

static struct siege now;

/* True: all have come as often as they will. */
static bool
all_came(struct attacker *x)
{
	bool all = true;
	unsigned int i;

	for (i = 0; i < NB_ATTACKERS; i++) {
		if (attacker_ready(&x[i]) && x[i].nb_come < NB_COME)
			come(&x[i]);
		all = all && x[i].nb_come == NB_COME;
	}
	siege_step(&now);
	return all;
}

static void
besiege(uint32_t staging)
{
	struct attacker x[NB_ATTACKERS];
	struct victim v;
	unsigned int i;

	v_open(&v, NULL);
	for (i = 0; i < RTE_DIM(x); i++) {
		v_connect(&v, &x[i].a);
		raw_cons_new(&x[i].c, 1, 64, 64, staging);
		x[i].nb_come = 0;
	}
	memset(&now, 0, sizeof(now));
	now.v = &v;
	/* One large region, and what belongs to it. */
	now.limit = staging + staging / 8;
	T_WAIT(0, all_came(x));
	siege_check(&now);
	for (i = 0; i < RTE_DIM(x); i++) {
		raw_cons_free(&x[i].c);
		raw_close(&x[i].a);
	}
	v_close(&v);
}

Test(memory, siege_of_large_consumers)
{
	besiege(256 << 20);
}

Test(memory, siege_of_granted_consumers)
{
	besiege(4 << 20);
	T_GT(nb_gone, NB_ATTACKERS);
}

/* All that a peer was granted goes at once, with the last use of its pages. */
Test(memory, siege_of_deaths)
{
	struct attacker x[NB_ATTACKERS];
	struct victim v;
	unsigned int i, k;
	int32_t status = 0;

	v_open(&v, NULL);
	for (i = 0; i < RTE_DIM(x); i++) {
		v_connect(&v, &x[i].a);
		raw_mem_new(&x[i].m, 128 * MIB, MFD_ALLOW_SEALING, i % 2 != 0 ?
			RAW_SEALS_PAYLOAD : 0);
		status |= show(&x[i].a, 0, &x[i].m);
		raw_mem_free(&x[i].m);
		raw_cons_new(&x[i].c, 1, 64, 64, 64 << 10);
		for (k = 0; k < 64; k++) {
			status |= announce(&x[i].a, &x[i].c);
			x[i].c.id++;
		}
	}
	T_EQ(status, 0);
	memset(&now, 0, sizeof(now));
	now.v = &v;
	for (k = 0; k < 400; k++) {
		if (k == 100)
			raw_send_id(&x[0].a, COMCH_WIRE_MR_DEL, 0);
		for (i = 0; i < RTE_DIM(x) && k == 200; i++)
			raw_close(&x[i].a);
		siege_step(&now);
	}
	siege_check(&now);
	for (i = 0; i < RTE_DIM(x); i++)
		raw_cons_free(&x[i].c);
	v_close(&v);
}
