/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Clients: create, start, stop and destroy. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_errno.h>
#include <rte_string_fns.h>

#include "sdk/comch_fork.h"
#include "sdk/comch_log.h"
#include "base/comch_trace.h"
#include "ctrl/comch_client.h"
#include "ctrl/comch_conf.h"
#include "ctrl/comch_conn.h"
#include "ctrl/comch_dev.h"
#include "ctrl/comch_handshake.h"
#include "ctrl/comch_retry.h"
#include "ctrl/comch_sched.h"

#define CLIENT_FLAGS (RTE_COMCH_CLIENT_F_CTRL_ONLY | RTE_COMCH_CLIENT_F_MANUAL_CREDIT)

COMCH_REGISTRY_TYPE(comch_client_registry, NULL)

static bool
client_service(struct comch_obj *obj, struct comch_run *run)
{
	struct rte_comch_client *client = COMCH_OBJ_OF(rte_comch_client, obj);

	/* Keep the order of events: CONNECTED before RUNNING. */
	if (client->conn != NULL && client->conn->connect_event_due)
		return true;
	return !comch_obj_events(obj, run, client->conn);
}

static void
client_free(struct comch_obj *obj)
{
	struct rte_comch_client *client = COMCH_OBJ_OF(rte_comch_client, obj);

	free(client);
}

static int
client_conf_check(struct rte_comch_dev *dev, struct rte_comch_client_conf *c)
{
	if (c->poll == NULL) {
		COMCH_LOG(ERR, "client: no poll given");
		return -EINVAL;
	}
	if (comch_conf_check_name(c->name, "client") != 0)
		return -EINVAL;
	if ((c->flags & ~CLIENT_FLAGS) != 0) {
		COMCH_LOG(ERR, "client of %s: unknown flag in %#x", c->name, c->flags);
		return -EINVAL;
	}
	if ((dev->info.capa & RTE_COMCH_CAPA_CLIENT) == 0) {
		COMCH_LOG(ERR, "client of %s: device %s is on the DPU side; "
			"clients need role=host", c->name, dev->info.name);
		return -ENOTSUP;
	}
	return comch_conf_check_sizes(dev, c->name, &c->max_msg_size, &c->recv_queue,
			&c->send_queue);
}

struct rte_comch_client *
rte_comch_client_create(int16_t dev_id, const struct rte_comch_client_conf *conf)
{
	struct rte_comch_client_conf c;
	struct rte_comch_client *client;
	struct rte_comch_dev *dev;
	int ret;

	ret = comch_obj_conf(&c, sizeof(c), conf, "client");
	if (ret != 0)
		goto err;
	dev = comch_dev_get(dev_id);
	if (dev == NULL) {
		COMCH_LOG(ERR, "client: no device %d", dev_id);
		ret = -ENODEV;
		goto err;
	}
	ret = client_conf_check(dev, &c);
	if (ret != 0)
		goto err_put;
	client = calloc(1, sizeof(*client));
	if (client == NULL) {
		ret = -ENOMEM;
		goto err_put;
	}
	comch_obj_init(&client->obj, RTE_COMCH_OBJ_CLIENT, client, c.poll, c.user_data);
	client->obj.service = client_service;
	client->obj.free = client_free;
	client->dev = dev;
	client->conf = c;
	rte_strscpy(client->name, c.name, sizeof(client->name));
	client->conf.name = client->name;
	comch_poll_attach(c.poll);
	comch_registry_add(&comch_client_registry, &client->entry);
	return client;

err_put:
	comch_dev_put(dev);
err:
	rte_errno = -ret;
	return NULL;
}

int
rte_comch_client_start(struct rte_comch_client *client)
{
	struct rte_comch_conn *conn;

	if (client == NULL)
		return -EINVAL;
	if (comch_forked)
		return -EBADFD;
	if (comch_obj_state(&client->obj) != RTE_COMCH_STATE_IDLE || client->conn != NULL) {
		COMCH_LOG(ERR, "client of %s: start while %s", client->name,
			rte_comch_state_name(comch_obj_state(&client->obj)));
		return -EBADFD;
	}
	conn = comch_conn_create(client->dev, 0, client->obj.poll, client->conf.send_queue);
	if (conn == NULL)
		return -ENOMEM;
	conn->client = client;
	conn->recv_queue = client->conf.recv_queue;
	conn->manual_credit = (client->conf.flags & RTE_COMCH_CLIENT_F_MANUAL_CREDIT) != 0;
	comch_conn_set_ctrl_only(conn, (client->conf.flags & RTE_COMCH_CLIENT_F_CTRL_ONLY) != 0);
	comch_store_release(&client->conn, conn); /* No model: other threads compare it only */
	client->reason[0] = '\0';
	comch_registry_add(&comch_conn_registry, &conn->entry);
	comch_obj_state_set(&client->obj, RTE_COMCH_STATE_STARTING);
	comch_trace_client_start(client->name, conn->id);
	comch_store_release(&conn->phase, COMCH_PHASE_DIALLING); /* No model: only UP publishes */
	conn->dial_until = comch_conn_in_ms(client->conf.connect_timeout_ms);
	conn->dial_deadline = RTE_MAX(conn->dial_until, comch_conn_in_ms(COMCH_HANDSHAKE_MS));
	comch_sched_wait(conn);
	comch_handshake_dial(conn);
	return -EINPROGRESS;
}

void
comch_client_up(struct rte_comch_client *client)
{
	comch_retry_over(client);
	comch_obj_state_event(&client->obj, RTE_COMCH_STATE_RUNNING, 0, NULL);
}

void
comch_client_conn_ended(struct rte_comch_client *client)
{
	struct rte_comch_conn *conn = client->conn;

	rte_strscpy(client->reason, comch_conn_reason(conn), sizeof(client->reason));
	if (comch_obj_state(&client->obj) == RTE_COMCH_STATE_RUNNING)
		comch_obj_state_event(&client->obj, RTE_COMCH_STATE_STOPPING, conn->end_status,
			client->reason);
}

void
comch_client_conn_freed(struct rte_comch_client *client)
{
	struct rte_comch_conn *conn = client->conn;

	comch_store_relaxed(&client->conn, NULL);
	comch_obj_state_event(&client->obj, RTE_COMCH_STATE_IDLE, conn->end_status,
		client->reason);
}

int
rte_comch_client_stop(struct rte_comch_client *client)
{
	enum rte_comch_state state;

	if (client == NULL)
		return -EINVAL;
	if (comch_forked)
		return -EBADFD;
	state = comch_obj_state(&client->obj);
	if (state != RTE_COMCH_STATE_STARTING && state != RTE_COMCH_STATE_RUNNING) {
		COMCH_LOG(ERR, "client of %s: stop while %s", client->name,
			rte_comch_state_name(state));
		return -EBADFD;
	}
	if (comch_conn_nb_queues(client->conn) > 0) {
		COMCH_LOG(ERR, "client of %s: stop while it has producers or consumers",
			client->name);
		return -EBUSY;
	}
	comch_trace_client_stop(client->name, client->conn->id);
	comch_obj_state_set(&client->obj, RTE_COMCH_STATE_STOPPING);
	comch_conn_close(client->conn, 0, "client stopped");
	return -EINPROGRESS;
}

int
rte_comch_client_destroy(struct rte_comch_client *client)
{
	if (client == NULL)
		return -EINVAL;
	if (comch_forked)
		return -EBADFD;
	if (comch_obj_state(&client->obj) != RTE_COMCH_STATE_IDLE || client->conn != NULL) {
		COMCH_LOG(ERR, "client of %s: destroy while not IDLE", client->name);
		return -EBUSY;
	}
	comch_registry_del(&comch_client_registry, &client->entry);
	comch_dev_put(client->dev);
	comch_obj_free_later(&client->obj);
	return 0;
}

enum rte_comch_state
rte_comch_client_state(const struct rte_comch_client *client)
{
	return client == NULL ? RTE_COMCH_STATE_IDLE : comch_obj_state(&client->obj);
}

struct rte_comch_conn *
rte_comch_client_conn(const struct rte_comch_client *client)
{
	return client == NULL ? NULL : client->conn;
}
