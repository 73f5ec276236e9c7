/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Devices of both ends, and what the process has. */

#include <unistd.h>

#include "far.h"
#include "far_wrap.h"
#include "t_pair.h"

static bool
is_far_dev(int16_t dev)
{
	return far_on() && dev >= FAR_DEV;
}

/* A device string goes to the end that has its role. */
static bool
is_far_string(const char *devargs)
{
	return far_on() && devargs != NULL && strstr(devargs,
		far_role() == RTE_COMCH_ROLE_DPU ? "role=dpu" : "role=host") != NULL;
}

FAR_WRAP(int, rte_comch_dev_probe, const char *devargs, int16_t *dev_id)
{
	struct wire *w;
	int16_t dev;
	int64_t rc;

	if (!is_far_string(devargs))
		return __real_rte_comch_dev_probe(devargs, dev_id);
	w = far_begin(CALL_DEV_PROBE);
	wire_str(w, devargs);
	wire_u64(w, dev_id != NULL);
	rc = far_do(w);
	wire_get(w, &dev, sizeof(dev));
	far_end();
	if (rc == 0)
		*dev_id = (int16_t)(dev + FAR_DEV);
	return (int)rc;
}

FAR_WRAP(int, rte_comch_dev_close, int16_t dev)
{
	return is_far_dev(dev) ? (int)far_call(CALL_DEV_CLOSE, (uint64_t)(dev - FAR_DEV)) :
		__real_rte_comch_dev_close(dev);
}

FAR_WRAP(uint16_t, rte_comch_dev_count, void)
{
	const uint16_t near = __real_rte_comch_dev_count();

	return far_on() ? (uint16_t)(near + far_call(CALL_DEV_COUNT, 0)) : near;
}

/* Near ones come first. */
FAR_WRAP(int16_t, rte_comch_dev_next, int16_t from)
{
	int64_t dev = from < FAR_DEV ? __real_rte_comch_dev_next(from) : -1;

	if (dev >= 0 || !far_on())
		return (int16_t)dev;
	dev = far_call(CALL_DEV_NEXT, (uint64_t)RTE_MAX(from - FAR_DEV, 0));
	return (int16_t)(dev < 0 ? dev : dev + FAR_DEV);
}

FAR_WRAP(int, rte_comch_dev_by_name, const char *name)
{
	int64_t dev = __real_rte_comch_dev_by_name(name);
	struct wire *w;

	if (dev != -ENODEV || !far_on())
		return (int)dev;
	w = far_begin(CALL_DEV_BY_NAME);
	wire_str(w, name);
	dev = far_do(w);
	far_end();
	return (int)(dev < 0 ? dev : dev + FAR_DEV);
}

FAR_WRAP(int, rte_comch_dev_info_get, int16_t dev, struct rte_comch_dev_info *info)
{
	struct wire *w;
	int64_t rc;

	if (!is_far_dev(dev))
		return __real_rte_comch_dev_info_get(dev, info);
	w = far_begin(CALL_DEV_INFO);
	wire_u64(w, (uint64_t)(dev - FAR_DEV));
	wire_u64(w, info != NULL);
	rc = far_do(w);
	if (rc == 0)
		wire_get(w, info, sizeof(*info));
	far_end();
	return (int)rc;
}

FAR_WRAP(int, rte_comch_dev_rep_info_get, int16_t dev, uint16_t rep,
		struct rte_comch_rep_info *info)
{
	struct wire *w;
	int64_t rc;

	if (!is_far_dev(dev))
		return __real_rte_comch_dev_rep_info_get(dev, rep, info);
	w = far_begin(CALL_DEV_REP_INFO);
	wire_u64(w, (uint64_t)(dev - FAR_DEV));
	wire_u64(w, rep);
	wire_u64(w, info != NULL);
	rc = far_do(w);
	if (rc == 0)
		wire_get(w, info, sizeof(*info));
	far_end();
	return (int)rc;
}

FAR_WRAP(int, rte_comch_dev_rep_by_name, int16_t dev, const char *name)
{
	struct wire *w;
	int64_t rc;

	if (!is_far_dev(dev))
		return __real_rte_comch_dev_rep_by_name(dev, name);
	w = far_begin(CALL_DEV_REP_BY_NAME);
	wire_u64(w, (uint64_t)(dev - FAR_DEV));
	wire_str(w, name);
	rc = far_do(w);
	far_end();
	return (int)rc;
}

FAR_WRAP(void, rte_comch_dump, FILE *f)
{
	struct wire *w;

	__real_rte_comch_dump(f);
	if (!far_on())
		return;
	w = far_begin(CALL_DUMP);
	far_do(w);
	fputs(wire_get_str(w), f);
	far_end();
}

/* Descriptors and memory of both processes. */
static void
figures(uint64_t *fds, uint64_t *rss_kb)
{
	struct wire *w = far_begin(CALL_FIGURES);

	far_do(w);
	*fds = wire_get_u64(w);
	*rss_kb = wire_get_u64(w);
	far_end();
}

FAR_WRAP(unsigned int, t_fd_count, void)
{
	const unsigned int near = __real_t_fd_count();
	uint64_t fds = 0, rss_kb;

	if (far_on())
		figures(&fds, &rss_kb);
	return near + (unsigned int)fds;
}

FAR_WRAP(uint64_t, t_rss_kb, void)
{
	const uint64_t near = __real_t_rss_kb();
	uint64_t fds, rss_kb = 0;

	if (far_on())
		figures(&fds, &rss_kb);
	return near + rss_kb;
}

/* The peer of a near connection is the agent, and the other way round. */
FAR_WRAP(int32_t, t_peer_pid, const struct rte_comch_conn *conn)
{
	return far_on() && !far_is(conn) ? far_pid() : __real_t_peer_pid(conn);
}
