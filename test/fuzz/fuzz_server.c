/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * A client that does what the input says, at a server of the shm driver. Afterwards the
 * server serves its honest client as before, and no descriptor is left over.
 */

#include "stranger.h"

static const struct {
	const char *name;
	uint32_t flags;
} kinds[] = {
	{ "plain", 0 },
	{ "ordered", RTE_COMCH_SERVER_F_ORDERED },
	{ "manual", RTE_COMCH_SERVER_F_MANUAL_ACCEPT | RTE_COMCH_SERVER_F_MANUAL_CREDIT },
	{ "control", RTE_COMCH_SERVER_F_CTRL_ONLY | RTE_COMCH_SERVER_F_EXACT },
};

/* Of LeakSanitizer, if the program has it. */
void __lsan_disable(void) __attribute__((weak));
void __lsan_enable(void) __attribute__((weak));

static struct t_pair pair;
static struct rte_comch_server *servers[RTE_DIM(kinds)];

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
	struct rte_comch_server_conf conf = { .recv_queue = 8, .send_queue = 8 };
	uint32_t i;

	RTE_SET_USED(argc);
	RTE_SET_USED(argv);
	stranger_init();
	/*
	 * What lives on is partly referred to by memory of EAL only, which is not searched for
	 * leaks. libFuzzer asks for them after an input that frees less than it allocates.
	 */
	if (__lsan_disable != NULL)
		__lsan_disable();
	t_pair_open(&pair, &(struct t_pair_conf){ .name = kinds[0].name });
	servers[0] = pair.server;
	for (i = 1; i < RTE_DIM(kinds); i++) {
		conf.flags = kinds[i].flags;
		servers[i] = t_server_new(pair.dpu, pair.dpu_dev, kinds[i].name, 0, &conf);
	}
	t_settle();
	if (__lsan_enable != NULL)
		__lsan_enable();
	return 0;
}

/* A message each way. */
static void
check_honest(void)
{
	t_forget(pair.host);
	T_UNTIL(t_offer(pair.cconn, "still", 5, 0, 0));
	T_UNTIL(t_count(pair.dpu, RTE_COMCH_EVENT_MSG, pair.sconn) == 1);
	T_UNTIL(t_offer(pair.sconn, "here", 4, 0, 0));
	T_UNTIL(t_count(pair.host, RTE_COMCH_EVENT_MSG, pair.cconn) == 1);
}

static uint32_t
nb_conns(void)
{
	uint32_t i, nb = 0;

	for (i = 0; i < RTE_DIM(servers); i++)
		nb += rte_comch_server_nb_conns(servers[i]);
	return nb;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct stranger s = { .in = { data, size } };
	const uint32_t kind = fuzz_u8(&s.in) % RTE_DIM(kinds);
	/* Not earlier: libFuzzer has some between two inputs. */
	const unsigned int nb_fds = t_fd_count();

	stranger_begin(&s, pair.dpu, kinds[kind].name, raw_dial(t_dir(), "pf0", kinds[kind].name));
	stranger_run(&s);
	stranger_end(&s);
	T_UNTIL(nb_conns() == 1);
	check_honest();
	/* Another thread closes some, perhaps the last one of an earlier input only now. */
	T_UNTIL(t_fd_count() <= nb_fds);
	/* What ended is freed in one of the next runs. */
	t_steps(pair.dpu, 4);
	t_forget(pair.dpu);
	t_forget(pair.host);
	return 0;
}

void
fuzz_end(void)
{
	uint32_t i;

	for (i = 1; i < RTE_DIM(servers); i++)
		t_server_end(servers[i]);
	t_pair_close(&pair);
}
