/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * A server that does what the input says, and a client of the shm driver. Afterwards the
 * client is IDLE, no descriptor is left over, and the next input connects again.
 */

#include <limits.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "stranger.h"

#define NAME "stranger"

static struct t_node *node;
static int16_t dev;
static struct rte_comch_client *clients[2];
static int listener;

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
	struct rte_comch_client_conf conf = { .recv_queue = 8, .send_queue = 8 };
	char dir[PATH_MAX];

	RTE_SET_USED(argc);
	RTE_SET_USED(argv);
	stranger_init();
	node = t_node_new();
	dev = t_dev_open(0, "role=host,func=pf0");
	clients[0] = t_client_new(node, dev, NAME, &conf);
	conf.flags = RTE_COMCH_CLIENT_F_CTRL_ONLY | RTE_COMCH_CLIENT_F_MANUAL_CREDIT;
	clients[1] = t_client_new(node, dev, NAME, &conf);
	snprintf(dir, sizeof(dir), "%s/pf0", t_dir());
	T_EQ(mkdir(dir, 0700), 0);
	listener = raw_listen(t_dir(), "pf0", NAME);
	return 0;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct stranger s = { .in = { data, size } };
	struct rte_comch_client *client = clients[fuzz_u8(&s.in) % RTE_DIM(clients)];
	/* Not earlier: libFuzzer has some between two inputs. */
	const unsigned int nb_fds = t_fd_count();
	int sock;

	T_EQ(rte_comch_client_start(client), -EINPROGRESS);
	T_UNTIL((sock = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0);
	stranger_begin(&s, node, NAME, sock);
	stranger_run(&s);
	stranger_end(&s);
	T_UNTIL(rte_comch_client_state(client) == RTE_COMCH_STATE_IDLE);
	/* Another thread closes some, perhaps the last one of an earlier input only now. */
	T_UNTIL(t_fd_count() <= nb_fds);
	/* What ended is freed in one of the next runs. */
	t_steps(node, 4);
	t_forget(node);
	return 0;
}

void
fuzz_end(void)
{
	t_client_end(clients[0]);
	t_client_end(clients[1]);
	t_node_free(node);
	T_EQ(rte_comch_dev_close(dev), 0);
	close(listener);
}
