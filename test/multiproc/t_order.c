/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Ordered servers: clients in threads and in processes pass a token on. */

#include <sys/mman.h>

#include "mp.h"
#include "t_token.h"

#define NB_CLIENTS 3
#define NB_MSGS 100000

static const struct t_driver driver = { .name = "comch_shm", .has_dir = true };

static int
client(int fd, void *arg)
{
	int16_t dev;

	RTE_SET_USED(fd);
	t_driver = &driver;
	t_eal_start(1);
	dev = t_dev_open(1, "role=host,func=pf0");
	t_token_client(arg, dev, MP_NAME);
	T_EQ(rte_comch_dev_close(dev), 0);
	t_eal_stop();
	return 0;
}

static int
server(int fd, void *arg)
{
	const struct rte_comch_server_conf conf = { .flags = RTE_COMCH_SERVER_F_ORDERED };
	struct mp_end e;

	RTE_SET_USED(fd);
	mp_server_open(&e, &conf);
	t_token_serve(arg, e.node->poll, NB_CLIENTS, false);
	mp_close(&e);
	return 0;
}

static void
processes(void)
{
	struct t_proc s, c[NB_CLIENTS];
	struct t_token *token;
	unsigned int i;

	token = mmap(NULL, sizeof(*token), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		-1, 0);
	T_CHECK(token != MAP_FAILED);
	token->total = NB_MSGS;
	t_proc_start(&s, "server", server, token);
	for (i = 0; i < NB_CLIENTS; i++)
		t_proc_start(&c[i], "client", client, token);
	for (i = 0; i < NB_CLIENTS; i++)
		t_proc_join(&c[i]);
	t_proc_join(&s);
	munmap(token, sizeof(*token));
}

static void
threads(bool sleepy, uint32_t nb_names)
{
	static const char *const names[] = { "order", "order too" };
	int16_t dpu, host;

	t_driver = &driver;
	t_eal_start(1);
	dpu = t_dev_open(0, "role=dpu,rep=pf0");
	host = t_dev_open(1, "role=host,func=pf0");
	t_token_threads(dpu, host, names, nb_names, &(struct t_token_conf){
		.nb_clients = NB_CLIENTS + 1,
		.total = t_sanitized() ? NB_MSGS / 10 : NB_MSGS, .sleepy = sleepy });
	T_EQ(rte_comch_dev_close(host), 0);
	T_EQ(rte_comch_dev_close(dpu), 0);
	t_eal_stop();
}

static void
busy(void)
{
	threads(false, 1);
}

static void
two_servers(void)
{
	threads(false, 2);
}

static void
asleep(void)
{
	threads(true, 2);
}

int
main(int argc, char **argv)
{
	static const struct t_case cases[] = {
		{ "processes", processes },
		{ "busy", busy },
		{ "two_servers", two_servers },
		{ "asleep", asleep },
	};

	return t_main(cases, RTE_DIM(cases), argc, argv);
}
