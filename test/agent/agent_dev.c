/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Calls about devices and the process. */

#include <stdlib.h>

#include "agent.h"

static void
dev_probe(struct wire *w)
{
	const char *devargs = wire_get_str(w);
	const bool wants_id = wire_get_u64(w) != 0;
	int16_t dev = -1;
	int rc;

	rc = rte_comch_dev_probe(devargs, wants_id ? &dev : NULL);
	wire_reply(w, rc);
	wire_put(w, &dev, sizeof(dev));
}

static void
dev_close(struct wire *w)
{
	wire_reply(w, rte_comch_dev_close((int16_t)wire_get_u64(w)));
}

static void
dev_count(struct wire *w)
{
	wire_reply(w, rte_comch_dev_count());
}

static void
dev_next(struct wire *w)
{
	wire_reply(w, rte_comch_dev_next((int16_t)wire_get_u64(w)));
}

static void
dev_by_name(struct wire *w)
{
	wire_reply(w, rte_comch_dev_by_name(wire_get_str(w)));
}

static void
dev_info(struct wire *w)
{
	const int16_t dev = (int16_t)wire_get_u64(w);
	const bool wanted = wire_get_u64(w) != 0;
	struct rte_comch_dev_info info = { 0 };

	wire_reply(w, rte_comch_dev_info_get(dev, wanted ? &info : NULL));
	wire_put(w, &info, sizeof(info));
}

static void
dev_rep_info(struct wire *w)
{
	const int16_t dev = (int16_t)wire_get_u64(w);
	const uint16_t rep = (uint16_t)wire_get_u64(w);
	const bool wanted = wire_get_u64(w) != 0;
	struct rte_comch_rep_info info = { 0 };

	wire_reply(w, rte_comch_dev_rep_info_get(dev, rep, wanted ? &info : NULL));
	wire_put(w, &info, sizeof(info));
}

static void
dev_rep_by_name(struct wire *w)
{
	const int16_t dev = (int16_t)wire_get_u64(w);

	wire_reply(w, rte_comch_dev_rep_by_name(dev, wire_get_str(w)));
}

static void
dump(struct wire *w)
{
	char *text = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);

	if (f == NULL)
		T_FAIL("open_memstream: %s", strerror(errno));
	rte_comch_dump(f);
	fclose(f);
	wire_reply(w, 0);
	wire_str(w, text);
	free(text);
}

static void
figures(struct wire *w)
{
	wire_reply(w, 0);
	wire_u64(w, t_fd_count());
	wire_u64(w, t_rss_kb());
}

const agent_handler agent_dev_calls[NB_CALLS] = {
	[CALL_DEV_PROBE] = dev_probe,
	[CALL_DEV_CLOSE] = dev_close,
	[CALL_DEV_COUNT] = dev_count,
	[CALL_DEV_NEXT] = dev_next,
	[CALL_DEV_BY_NAME] = dev_by_name,
	[CALL_DEV_INFO] = dev_info,
	[CALL_DEV_REP_INFO] = dev_rep_info,
	[CALL_DEV_REP_BY_NAME] = dev_rep_by_name,
	[CALL_DUMP] = dump,
	[CALL_FIGURES] = figures,
};
