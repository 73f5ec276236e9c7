/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * A program for DOCA Comch with two sides: the host sends a text, and the DPU answers. Built once
 * for each role; for the DPU, DOCA's headers define DOCA_ARCH_DPU.
 *
 *     greet-dpu  [-p 03:00.0] [-r b1:00.0] [-n NAME] [-s BYTES]
 *     greet-host [-p b1:00.0] [-n NAME] [-s BYTES] [-t TEXT]
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <doca_build_config.h>
#include <doca_comch.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_error.h>
#include <doca_log.h>
#include <doca_pe.h>

DOCA_LOG_REGISTER(GREET);

#ifdef DOCA_ARCH_DPU
#define SIDE "dpu"
#define DEFAULT_PCI "03:00.0"
#else
#define SIDE "host"
#define DEFAULT_PCI "b1:00.0"
#endif
#define IDLE_US 200

static const char *pci = DEFAULT_PCI, *rep_pci = "b1:00.0", *name = "greet";
static const char *text = "Hello from the " SIDE;
static uint32_t max_msg_size;

static struct doca_dev *dev;
static struct doca_pe *pe;
static struct doca_ctx *ctx;
static struct doca_comch_connection *peer;
static bool is_done, is_good;

/* Whether it succeeded; else logs what did not, and ends the program. */
static bool
good(doca_error_t result, const char *what)
{
	if (result == DOCA_SUCCESS || result == DOCA_ERROR_IN_PROGRESS)
		return true;
	DOCA_LOG_ERR("%s: %s", what, doca_error_get_descr(result));
	is_done = true;
	return false;
}

static void
on_sent(struct doca_comch_task_send *task, union doca_data task_data, union doca_data ctx_data)
{
	(void)task_data;
	(void)ctx_data;
	doca_task_free(doca_comch_task_send_as_task(task));
}

static void
on_unsent(struct doca_comch_task_send *task, union doca_data task_data, union doca_data ctx_data)
{
	(void)task_data;
	(void)ctx_data;
	good(doca_task_get_status(doca_comch_task_send_as_task(task)), "send");
	doca_task_free(doca_comch_task_send_as_task(task));
}

#ifdef DOCA_ARCH_DPU

static struct doca_dev_rep *rep;
static struct doca_comch_server *server;

static void
send_text(const char *answer)
{
	struct doca_comch_task_send *task;

	if (good(doca_comch_server_task_send_alloc_init(server, peer, answer,
			(uint32_t)strlen(answer), &task), "allocate"))
		good(doca_task_submit(doca_comch_task_send_as_task(task)), "submit");
}

static void
on_msg(struct doca_comch_event_msg_recv *event, uint8_t *data, uint32_t len,
		struct doca_comch_connection *conn)
{
	(void)event;
	printf(SIDE ": received %u bytes: %.*s\n", len, len < 64 ? (int)len : 64, (char *)data);
	peer = conn;
	send_text(text);
}

static void
on_connected(struct doca_comch_event_connection_status_changed *event,
		struct doca_comch_connection *conn, uint8_t success)
{
	(void)event;
	(void)conn;
	printf(SIDE ": a client has connected%s\n", success ? "" : ", and failed");
}

static void
on_disconnected(struct doca_comch_event_connection_status_changed *event,
		struct doca_comch_connection *conn, uint8_t success)
{
	(void)event;
	(void)success;
	/* One client is served. */
	is_good = conn == peer;
	is_done = true;
}

static bool
set_up(void)
{
	struct doca_devinfo_rep **list;
	uint32_t i, nb;
	uint8_t is_it;

	if (!good(doca_devinfo_rep_create_list(dev, DOCA_DEVINFO_REP_FILTER_NET, &list, &nb),
			"list representors"))
		return false;
	for (i = 0; i < nb && rep == NULL; i++)
		if (doca_devinfo_rep_is_equal_pci_addr(list[i], rep_pci, &is_it) ==
				DOCA_SUCCESS && is_it)
			good(doca_dev_rep_open(list[i], &rep), "open representor");
	doca_devinfo_rep_destroy_list(list);
	if (rep == NULL)
		return good(DOCA_ERROR_NOT_FOUND, rep_pci);
	if (!good(doca_comch_server_create(dev, rep, name, &server), "create server"))
		return false;
	ctx = doca_comch_server_as_ctx(server);
	return (max_msg_size == 0 || good(doca_comch_server_set_max_msg_size(server,
				max_msg_size), "message size")) &&
		good(doca_comch_server_task_send_set_conf(server, on_sent, on_unsent, 8),
			"tasks") &&
		good(doca_comch_server_event_msg_recv_register(server, on_msg), "messages") &&
		good(doca_comch_server_event_connection_status_changed_register(server,
				on_connected, on_disconnected), "connections");
}

static void
tear_down(void)
{
	if (server != NULL)
		good(doca_comch_server_destroy(server), "destroy");
	if (rep != NULL)
		doca_dev_rep_close(rep);
}

#else /* the host */

static struct doca_comch_client *client;

static void
send_text(const char *question)
{
	struct doca_comch_task_send *task;

	if (good(doca_comch_client_get_connection(client, &peer), "connection") &&
			good(doca_comch_client_task_send_alloc_init(client, peer, question,
				(uint32_t)strlen(question), &task), "allocate"))
		good(doca_task_submit(doca_comch_task_send_as_task(task)), "submit");
}

static void
on_msg(struct doca_comch_event_msg_recv *event, uint8_t *data, uint32_t len,
		struct doca_comch_connection *conn)
{
	(void)event;
	(void)conn;
	printf(SIDE ": received: %.*s\n", (int)len, (char *)data);
	is_good = is_done = true;
}

static void
on_state(const union doca_data user, struct doca_ctx *of, enum doca_ctx_states before,
		enum doca_ctx_states now)
{
	(void)user;
	(void)of;
	if (now == DOCA_CTX_STATE_RUNNING) {
		printf(SIDE ": connected\n");
		send_text(text);
	} else if (now == DOCA_CTX_STATE_IDLE && before == DOCA_CTX_STATE_STARTING) {
		/* There is no server yet: try again, as its users would. */
		usleep(10 * IDLE_US);
	} else if (before == DOCA_CTX_STATE_RUNNING && !is_done) {
		good(DOCA_ERROR_CONNECTION_RESET, "the DPU has gone");
	}
}

static bool
set_up(void)
{
	if (!good(doca_comch_client_create(dev, name, &client), "create client"))
		return false;
	ctx = doca_comch_client_as_ctx(client);
	return (max_msg_size == 0 || good(doca_comch_client_set_max_msg_size(client,
				max_msg_size), "message size")) &&
		good(doca_comch_client_task_send_set_conf(client, on_sent, on_unsent, 8),
			"tasks") &&
		good(doca_comch_client_event_msg_recv_register(client, on_msg), "messages") &&
		good(doca_ctx_set_state_changed_cb(ctx, on_state), "states");
}

static void
tear_down(void)
{
	if (client != NULL)
		good(doca_comch_client_destroy(client), "destroy");
}

#endif

static bool
open_device(void)
{
	struct doca_devinfo **list;
	uint32_t i, nb;
	uint8_t is_it;

	if (!good(doca_devinfo_create_list(&list, &nb), "list devices"))
		return false;
	for (i = 0; i < nb && dev == NULL; i++)
		if (doca_devinfo_is_equal_pci_addr(list[i], pci, &is_it) == DOCA_SUCCESS && is_it)
			good(doca_dev_open(list[i], &dev), "open device");
	doca_devinfo_destroy_list(list);
	return dev != NULL || good(DOCA_ERROR_NOT_FOUND, pci);
}

static enum doca_ctx_states
state_of(struct doca_ctx *of)
{
	enum doca_ctx_states state = DOCA_CTX_STATE_IDLE;

	doca_ctx_get_state(of, &state);
	return state;
}

static void
run(void)
{
	while (!is_done) {
		if (state_of(ctx) == DOCA_CTX_STATE_IDLE && !good(doca_ctx_start(ctx), "start"))
			break;
		if (doca_pe_progress(pe) == 0)
			usleep(IDLE_US);
	}
	if (state_of(ctx) != DOCA_CTX_STATE_IDLE)
		doca_ctx_stop(ctx);
	while (state_of(ctx) != DOCA_CTX_STATE_IDLE)
		doca_pe_progress(pe);
}

int
main(int argc, char **argv)
{
	int c;

	setvbuf(stdout, NULL, _IOLBF, 0);
	while ((c = getopt(argc, argv, "p:r:n:s:t:")) != -1) {
		switch (c) {
		case 'p': pci = optarg; break;
		case 'r': rep_pci = optarg; break;
		case 'n': name = optarg; break;
		case 's': max_msg_size = (uint32_t)strtoul(optarg, NULL, 0); break;
		case 't': text = optarg; break;
		default: return 2;
		}
	}
	doca_log_backend_create_standard();
	if (open_device() && set_up() && good(doca_pe_create(&pe), "engine") &&
			good(doca_pe_connect_ctx(pe, ctx), "connect engine"))
		run();
	tear_down();
	if (pe != NULL)
		doca_pe_destroy(pe);
	if (dev != NULL)
		doca_dev_close(dev);
	return is_good ? EXIT_SUCCESS : EXIT_FAILURE;
}
