/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Nodes of rte_graph. Each is a clone of "comch_source" or "comch_sink" with an element in
 * a list, which init functions search by the node's id. Nodes are never deleted, so neither
 * are the elements.
 */

#include <errno.h>
#include <sys/queue.h>

#include <rte_errno.h>
#include <rte_graph_worker.h>
#include <rte_malloc.h>
#include <rte_spinlock.h>

#include "rte_comch_node.h"
#include "comch_outq.h"

/* The only edge of a source. */
#define SOURCE_NEXT 0

struct node_elem {
	STAILQ_ENTRY(node_elem) next;
	rte_node_t id;
	uint16_t burst;                /* source */
	struct rte_comch_pipe_in *in;  /* source; NULL for a sink */
	struct comch_outq *q;          /* sink; NULL for a source */
};

static STAILQ_HEAD(, node_elem) elems = STAILQ_HEAD_INITIALIZER(elems);
static rte_spinlock_t elems_lock = RTE_SPINLOCK_INITIALIZER;

/* Private data of a node within a graph. */
static inline struct node_elem **
node_ctx(struct rte_node *node)
{
	return (struct node_elem **)(void *)node->ctx;
}

static int
node_init(const struct rte_graph *graph, struct rte_node *node)
{
	struct node_elem *e;

	rte_spinlock_lock(&elems_lock);
	STAILQ_FOREACH(e, &elems, next)
		if (e->id == node->id)
			break;
	rte_spinlock_unlock(&elems_lock);
	if (e == NULL) {
		COMCH_PIPE_LOG(ERR, "graph %s: node %s was not created by rte_comch_node.h",
				graph->name, node->name);
		return -ENOENT;
	}
	*node_ctx(node) = e;
	return 0;
}

/* The graph is destroyed: nothing flushes the queue of a sink any more. */
static void
node_fini(const struct rte_graph *graph, struct rte_node *node)
{
	struct node_elem *e = *node_ctx(node);

	RTE_SET_USED(graph);
	if (e->q != NULL)
		comch_outq_clear(e->q);
}

static uint16_t
source_process(struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t nb_objs)
{
	struct node_elem *e = *node_ctx(node);
	uint16_t n;

	RTE_SET_USED(nb_objs);
	/* Receive straight into the stream of the next node. */
	objs = rte_node_next_stream_get(graph, node, SOURCE_NEXT, e->burst);
	n = comch_in_recv(e->in, (struct rte_mbuf **)objs, e->burst);
	rte_node_next_stream_put(graph, node, SOURCE_NEXT, n);
	return n;
}

static uint16_t
sink_process(struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t nb_objs)
{
	RTE_SET_USED(graph);
	comch_outq_send((*node_ctx(node))->q, (struct rte_mbuf **)objs, nb_objs);
	return nb_objs;
}

static struct rte_node_register source_node = {
	.name = "comch_source",
	.flags = RTE_NODE_SOURCE_F,
	.process = source_process,
	.init = node_init,
	.fini = node_fini,
};

RTE_NODE_REGISTER(source_node);

static struct rte_node_register sink_node = {
	.name = "comch_sink",
	.process = sink_process,
	.init = node_init,
	.fini = node_fini,
};

RTE_NODE_REGISTER(sink_node);

/* Clone a node with its element. Returns NULL with rte_errno. */
static struct node_elem *
elem_create(rte_node_t parent, const char *name)
{
	struct node_elem *e = rte_zmalloc("comch_node", sizeof(*e), RTE_CACHE_LINE_SIZE);

	if (e == NULL) {
		rte_errno = ENOMEM;
		return NULL;
	}
	e->id = rte_node_clone(parent, name);
	if (rte_node_is_invalid(e->id)) {
		COMCH_PIPE_LOG(ERR, "node %s-%s: %s", rte_node_id_to_name(parent), name,
				rte_strerror(rte_errno));
		rte_free(e);
		return NULL;
	}
	rte_spinlock_lock(&elems_lock);
	STAILQ_INSERT_TAIL(&elems, e, next);
	rte_spinlock_unlock(&elems_lock);
	return e;
}

static rte_node_t
node_invalid(int err)
{
	rte_errno = err;
	return RTE_NODE_ID_INVALID;
}

rte_node_t
rte_comch_node_source_create(const char *name,
		const struct rte_comch_node_source_conf *conf)
{
	struct node_elem *e;
	const char *next;
	int ret;

	if (name == NULL || conf == NULL || conf->conf_size != sizeof(*conf) ||
			conf->next == NULL || conf->burst_size > RTE_GRAPH_BURST_SIZE) {
		COMCH_PIPE_LOG(ERR, "source node: invalid configuration");
		return node_invalid(EINVAL);
	}
	/* Checked first, because a node cannot be deleted. */
	ret = comch_in_take(conf->in, &source_node, "source node");
	if (ret < 0)
		return node_invalid(-ret);
	e = elem_create(source_node.id, name);
	if (e == NULL) {
		conf->in->reserved = NULL;
		return RTE_NODE_ID_INVALID;
	}
	e->in = conf->in;
	e->burst = conf->burst_size == 0 ? COMCH_PIPE_BURST : conf->burst_size;
	next = conf->next;
	if (rte_node_edge_update(e->id, SOURCE_NEXT, &next, 1) == 0) {
		conf->in->reserved = NULL;
		return node_invalid(ENOMEM);
	}
	return e->id;
}

rte_node_t
rte_comch_node_sink_create(const char *name, const struct rte_comch_node_sink_conf *conf)
{
	struct comch_outq *q;
	struct node_elem *e;

	if (name == NULL || conf == NULL || conf->conf_size != sizeof(*conf)) {
		COMCH_PIPE_LOG(ERR, "sink node: invalid configuration");
		return node_invalid(EINVAL);
	}
	/* A sink sends what it gets at once: bursts of 1. */
	q = comch_outq_create(conf->out, 1, conf->queue_size, SOCKET_ID_ANY, "sink node");
	if (q == NULL)
		return RTE_NODE_ID_INVALID;
	e = elem_create(sink_node.id, name);
	if (e == NULL) {
		comch_outq_free(q);
		return RTE_NODE_ID_INVALID;
	}
	e->q = q;
	return e->id;
}
