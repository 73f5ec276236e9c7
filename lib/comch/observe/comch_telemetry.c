/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * The telemetry commands.
 *
 * The callbacks run in EAL's telemetry thread. They access an object only while it
 * is in the registry and the registry's lock is held; a connection's producers,
 * consumers, exports and directory only with its lock held as well. Counters and
 * states are atomics. No state is kept between requests.
 *
 * A request is "/comch/CLASS/WHAT" with numbers after commas. Connections,
 * registrations and devices have ids; producers and consumers are CONNECTION,ID (or
 * CONNECTION.ID, as lists show them). Servers, clients, polls and MsgQs are numbered
 * by their position among the existing ones, the oldest being 0.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <rte_string_fns.h>
#include <rte_telemetry.h>

#include "observe/comch_telemetry.h"

struct tel_cmd {
	const char *cmd;
	uint32_t min_args;
	uint32_t max_args;
	int (*fn)(const struct comch_tel_args *args, struct rte_tel_data *d);
	const char *help;
};

/* Replies: values that do not fit into rte_tel_data are left out. */

/* Text of a peer or an application: characters other than printable ASCII become '?'. */
void
comch_tel_text(struct rte_tel_data *d, const char *name, const char *text)
{
	char buf[RTE_TEL_MAX_STRING_LEN];
	char *c;

	rte_strscpy(buf, text, sizeof(buf));
	for (c = buf; *c != '\0'; c++)
		if (*c < ' ' || *c > '~')
			*c = '?';
	rte_tel_data_add_dict_string(d, name, buf);
}

void
comch_tel_state(struct rte_tel_data *d, const struct comch_obj *obj)
{
	comch_tel_text(d, "state", rte_comch_state_name(comch_obj_state(obj)));
}

/* Add a container to d; NULL: no memory, or d is full. */
struct rte_tel_data *
comch_tel_dict(struct rte_tel_data *d, const char *name)
{
	struct rte_tel_data *in = rte_tel_data_alloc();

	if (in == NULL)
		return NULL;
	rte_tel_data_start_dict(in);
	if (rte_tel_data_add_dict_container(d, name, in, 0) == 0)
		return in;
	rte_tel_data_free(in);
	return NULL;
}

struct rte_tel_data *
comch_tel_numbered(struct rte_tel_data *d, uint32_t number)
{
	char name[16];

	snprintf(name, sizeof(name), "%" PRIu32, number);
	return comch_tel_dict(d, name);
}

struct rte_tel_data *
comch_tel_strings(struct rte_tel_data *d, const char *name)
{
	struct rte_tel_data *in = rte_tel_data_alloc();

	if (in == NULL)
		return NULL;
	rte_tel_data_start_array(in, RTE_TEL_STRING_VAL);
	if (rte_tel_data_add_dict_container(d, name, in, 0) == 0)
		return in;
	rte_tel_data_free(in);
	return NULL;
}

/* Lists: a reply holds 512 entries; the first parameter is the number of the first entry. */

void
comch_tel_places(const struct comch_tel_args *args, struct rte_tel_data *d, uint32_t nb)
{
	uint32_t i;

	comch_tel_list(d);
	for (i = args->nb > 0 ? args->val[0] : 0; i < nb; i++)
		if (comch_tel_list_add(d, i) != 0)
			break;
}

/* Requests */

#define FROM " Parameter: the first to list (optional)"
#define OF_CONN " Parameter: a connection (optional)"
#define ID " Parameter: its number"
#define PAIR " Parameters: CONNECTION,ID"

static const struct tel_cmd cmds[] = {
	{ "/comch/driver/list", 0, 1, comch_tel_driver_list, "Numbers of the drivers." FROM },
	{ "/comch/driver/info", 1, 1, comch_tel_driver_info,
		"Name and device string keys of a driver." ID },
	{ "/comch/dev/list", 0, 1, comch_tel_dev_list, "Numbers of the open devices." FROM },
	{ "/comch/dev/info", 1, 1, comch_tel_dev_info,
		"Role, functions and limits of a device." ID },
	{ "/comch/dev/xstats", 1, 1, comch_tel_dev_xstats,
		"Counters of a device's transport." ID },
	{ "/comch/server/list", 0, 1, comch_tel_server_list, "Numbers of the servers." FROM },
	{ "/comch/server/info", 1, 1, comch_tel_server_info, "State and sizes of a server." ID },
	{ "/comch/server/stats", 1, 1, comch_tel_server_stats, "Counters of a server." ID },
	{ "/comch/client/list", 0, 1, comch_tel_client_list, "Numbers of the clients." FROM },
	{ "/comch/client/info", 1, 1, comch_tel_client_info, "State and sizes of a client." ID },
	{ "/comch/conn/list", 0, 1, comch_tel_conn_list, "Numbers of the connections." FROM },
	{ "/comch/conn/info", 1, 1, comch_tel_conn_info,
		"Peer, state and sizes of a connection." ID },
	{ "/comch/conn/stats", 1, 1, comch_tel_conn_stats, "Counters of a connection." ID },
	{ "/comch/producer/list", 0, 1, comch_tel_producer_list,
		"CONNECTION.ID of the producers." OF_CONN },
	{ "/comch/producer/info", 2, 2, comch_tel_producer_info, "State of a producer." PAIR },
	{ "/comch/producer/stats", 2, 2, comch_tel_producer_stats, "Counters of a producer." PAIR },
	{ "/comch/consumer/list", 0, 1, comch_tel_consumer_list,
		"CONNECTION.ID of the consumers." OF_CONN },
	{ "/comch/consumer/info", 2, 2, comch_tel_consumer_info, "State of a consumer." PAIR },
	{ "/comch/consumer/stats", 2, 2, comch_tel_consumer_stats, "Counters of a consumer." PAIR },
	{ "/comch/poll/list", 0, 1, comch_tel_poll_list, "Numbers of the polls." FROM },
	{ "/comch/poll/info", 1, 1, comch_tel_poll_info, "Name and objects of a poll." ID },
	{ "/comch/poll/stats", 1, 1, comch_tel_poll_stats, "Counters of a poll." ID },
	{ "/comch/msgq/list", 0, 1, comch_tel_msgq_list, "Numbers of the MsgQs." FROM },
	{ "/comch/msgq/info", 1, 1, comch_tel_msgq_info,
		"Producers and consumers of a MsgQ." ID },
	{ "/comch/msgq/stats", 1, 1, comch_tel_msgq_stats,
		"Counters of a MsgQ's producers and consumers." ID },
	{ "/comch/mem/list", 0, 1, comch_tel_mem_list, "Numbers of the registrations." FROM },
	{ "/comch/mem/info", 1, 1, comch_tel_mem_info, "Kind and size of a registration." ID },
	{ "/comch/shares", 0, 0, comch_tel_shares,
		"Descriptors and mappings used by peers: limits, and the largest user." },
	{ "/comch/explain", 1, 2, comch_explain, "Why a connection copies as it does."
		" Parameters: CONNECTION[,CONSUMER]" },
};

/* Parse decimal numbers that are separated by commas or dots. */
static int
parse_args(const char *params, struct comch_tel_args *args)
{
	const char *p = params;
	uint64_t val;

	args->nb = 0;
	if (params == NULL)
		return 0;
	do {
		if (args->nb == COMCH_TEL_MAX_ARGS || *p < '0' || *p > '9')
			return -EINVAL;
		for (val = 0; *p >= '0' && *p <= '9' && val <= UINT32_MAX; p++)
			val = 10 * val + (uint64_t)(*p - '0');
		if (val > UINT32_MAX)
			return -EINVAL;
		args->val[args->nb++] = (uint32_t)val;
	} while (*p != '\0' && strchr(",.", *p++) != NULL);
	return *p == '\0' && p[-1] >= '0' && p[-1] <= '9' ? 0 : -EINVAL;
}

static int
on_request(const char *cmd, const char *params, struct rte_tel_data *d)
{
	struct comch_tel_args args = { .nb = 0 };
	uint32_t i;
	int ret;

	for (i = 0; i < RTE_DIM(cmds) && strcmp(cmds[i].cmd, cmd) != 0; i++)
		;
	if (i == RTE_DIM(cmds) || parse_args(params, &args) != 0 ||
			args.nb < cmds[i].min_args || args.nb > cmds[i].max_args)
		return -EINVAL;
	pthread_mutex_lock(&comch_registry.lock);
	ret = cmds[i].fn(&args, d);
	pthread_mutex_unlock(&comch_registry.lock);
	return ret;
}

RTE_INIT(comch_telemetry_init)
{
	uint32_t i;

	for (i = 0; i < RTE_DIM(cmds); i++)
		rte_telemetry_register_cmd(cmds[i].cmd, on_request, cmds[i].help);
}
