/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* net_comch: the HELLO of a peer's port, and the arguments of a port. */

#include <stdlib.h>

#include "comch_ethdev.h"
#include "text.h"

int comch_ethdev_logtype;

static int16_t own_dev;

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
	RTE_SET_USED(argc);
	RTE_SET_USED(argv);
	setenv("COMCH_DIR", t_dir(), 1);
	fuzz_eal_start();
	/* For dev=: a device of the application. */
	T_EQ(rte_comch_dev_probe("comch_shm0,role=dpu,rep=[pf0,pf0vf1]", &own_dev), 0);
	return 0;
}

static void
try_hello(struct fuzz_in *in)
{
	struct comch_hello hello, again;
	uint8_t buf[COMCH_HELLO_MAX_SIZE];
	const size_t len = in->left;
	uint8_t *bytes = malloc(len);
	uint32_t i;

	T_CHECK(bytes != NULL || len == 0);
	fuzz_take(in, bytes, len);
	if (comch_hello_read(&hello, bytes, (uint32_t)len) == 0) {
		T_GT(hello.nb_queues, 0);
		T_LE(hello.nb_queues, COMCH_HELLO_MAX_QUEUES);
		T_LE(hello.max_frame, COMCH_ETHDEV_MAX_FRAME);
		T_GE(hello.room, COMCH_ETHDEV_MIN_ROOM);
		T_EQ(comch_hello_write(&hello, buf), len);
		T_EQ(comch_hello_read(&again, buf, (uint32_t)len), 0);
		T_EQ(memcmp(buf, bytes, len), 0);
		for (i = 0; i < hello.nb_queues; i++)
			T_EQ(again.ids[i], hello.ids[i]);
	}
	free(bytes);
}

static void
try_args(struct fuzz_in *in)
{
	struct comch_port *port = calloc(1, sizeof(*port));
	char *args = text_rest(in);

	T_CHECK(port != NULL);
	/* A directory that the input names could be anywhere. */
	if (strchr(args, '/') == NULL && comch_ethdev_args(port, args) == 0) {
		T_NE(port->name[0], '\0');
		T_GT(port->max_queues, 0);
		T_LE(port->max_queues, COMCH_HELLO_MAX_QUEUES);
		T_EQ(port->owns_dev, port->dev_id != own_dev);
		if (port->owns_dev)
			T_EQ(rte_comch_dev_close(port->dev_id), 0);
	}
	T_EQ(rte_comch_dev_count(), 1);
	free(args);
	free(port);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_in in = { data, size };

	if (fuzz_u8(&in) & 1)
		try_hello(&in);
	else
		try_args(&in);
	return 0;
}
