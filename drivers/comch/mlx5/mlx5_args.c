/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Parses device strings. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_string_fns.h>

#include "sdk/comch_compat.h"
#include "mlx5_private.h"

#define KEY_DEV "dev"
#define KEY_PEER "peer"
#define KEY_PORT "port"
#define KEY_GID "gid"
#define KEY_PORTS "ports"
#define KEY_PKEY "pkey"
#define KEY_SL "sl"
#define KEY_TCLASS "tclass"
#define KEY_TIMEOUT "timeout"
#define KEY_RETRY "retry"
#define KEY_SLOT "slot"
#define KEY_EAGER "eager"
#define KEY_DEAD_MS "dead_ms"
#define KEY_MAX_PINNED "max_pinned"

const char *const mlx5_args_keys[] = {
	COMCH_ARGS_KEYS, KEY_DEV, KEY_PEER, KEY_PORT, KEY_GID, KEY_PORTS, KEY_PKEY, KEY_SL,
	KEY_TCLASS, KEY_TIMEOUT, KEY_RETRY, KEY_SLOT, KEY_EAGER, KEY_DEAD_MS, KEY_MAX_PINNED,
	NULL,
};

#define DEFAULT_FIRST_PORT 47000
#define DEFAULT_LAST_PORT 47999
/* 4.096 us << 14: 67 ms. */
#define DEFAULT_TIMEOUT 14
#define DEFAULT_RETRY 6 /* 7 is infinite with Soft-RoCE */
#define DEFAULT_SLOT 512
/* Minimum slots of a control queue pair, and frames of the maximum size that fit. */
#define MIN_SLOTS 32u
#define SLOT_FRAMES 3u
#define DEFAULT_EAGER 256
#define DEFAULT_DEAD_MS 5000
#define MIN_DEAD_MS 100
#define MAX_DEAD_MS 3600000

/* A number of a key into a narrower member. */
#define NUMBER(a, key, min, max, member) __extension__ ({ \
	uint64_t v_ = (member); \
	int ret_ = comch_args_number(a, key, min, max, &v_); \
	(member) = (typeof(member))v_; \
	ret_; })

static int
parse_text(const struct comch_args *a, const char *key, const char *value, void *arg)
{
	struct mlx5_dev *mdev = arg;

	if (value[0] == '\0' || rte_strscpy(mdev->ibdev, value, sizeof(mdev->ibdev)) < 0)
		return comch_args_bad(a, key, value, "the name or PCI address of a device");
	return 0;
}

/* ports=47000-47999 */
static int
parse_ports(const struct comch_args *a, const char *key, const char *value, void *arg)
{
	struct mlx5_dev *mdev = arg;
	unsigned int first, last;
	char rest;

	if (sscanf(value, "%5u-%5u%c", &first, &last, &rest) != 2 || first == 0 ||
			last > UINT16_MAX || first > last)
		return comch_args_bad(a, key, value, "FIRST-LAST, two ports from 1 to 65535");
	mdev->first_port = (uint16_t)first;
	mdev->last_port = (uint16_t)last;
	return 0;
}

static int
add_addr(const struct comch_args *a, uint16_t rep, const char *key, const char *text)
{
	struct mlx5_dev *mdev = a->dev->priv;
	struct mlx5_rep *r = &mdev->reps[rep];

	if (r->nb_addrs == MLX5_MAX_ADDRS)
		return comch_args_bad(a, key, text, "at most 8 addresses of a function");
	if (mlx5_name_parse_addr(text, &r->addr[r->nb_addrs]) != 0)
		return comch_args_bad(a, key, text, "an IPv4 or IPv6 address");
	r->nb_addrs++;
	return 0;
}

/* rep=pf0@10.0.0.2+10.0.0.3 */
static int
on_addrs(const struct comch_args *a, uint16_t rep, const char *key, const char *text)
{
	char *list, *save = NULL, *one;
	int ret = 0;

	if (a->dev->info.role == RTE_COMCH_ROLE_HOST)
		return comch_args_bad(a, key, text, "no address; peer= is the server's");
	list = strdup(text);
	if (list == NULL)
		return -ENOMEM;
	for (one = strtok_r(list, "+", &save); one != NULL && ret == 0;
			one = strtok_r(NULL, "+", &save))
		ret = add_addr(a, rep, key, one);
	free(list);
	return ret;
}

static int
parse_peer(const struct comch_args *a, const char *key, const char *value,
		void *arg __rte_unused)
{
	struct mlx5_dev *mdev = a->dev->priv;

	if (a->dev->info.role == RTE_COMCH_ROLE_DPU)
		return comch_args_bad(a, key, value, "role=host; the DPU has rep=FUNCTION@ADDRESS");
	if (mdev->reps[0].nb_addrs > 0)
		return comch_args_bad(a, key, value, "one address");
	return add_addr(a, 0, key, value);
}

/* Each function needs an address: the clients', or that of the DPU. */
static int
check_addrs(const struct comch_args *a)
{
	const struct rte_comch_dev_info *info = &a->dev->info;
	const struct mlx5_dev *mdev = a->dev->priv;
	uint16_t i;

	for (i = 0; i < info->nb_reps; i++) {
		if (mdev->reps[i].nb_addrs > 0)
			continue;
		if (info->role == RTE_COMCH_ROLE_DPU)
			return comch_args_bad(a, COMCH_ARGS_REP, a->dev->reps[i].name,
				"FUNCTION@ADDRESS[+ADDRESS...], the addresses of its clients");
		MLX5_LOG(ERR, "device %s: %s=ADDRESS is required: the DPU's address", info->name,
			KEY_PEER);
		return -EINVAL;
	}
	return 0;
}

static int
parse_numbers(const struct comch_args *a, struct mlx5_dev *mdev)
{
	uint64_t gid = UINT64_MAX, tclass = UINT64_MAX, sl = UINT64_MAX;

	if (NUMBER(a, KEY_PORT, 1, UINT8_MAX, mdev->port) != 0 ||
			comch_args_number(a, KEY_GID, 0, UINT8_MAX, &gid) != 0 ||
			comch_args_number(a, KEY_TCLASS, 0, UINT8_MAX, &tclass) != 0 ||
			NUMBER(a, KEY_PKEY, 1, UINT16_MAX, mdev->pkey) != 0 ||
			comch_args_number(a, KEY_SL, 0, 15, &sl) != 0 ||
			NUMBER(a, KEY_TIMEOUT, 1, 31, mdev->timeout) != 0 ||
			NUMBER(a, KEY_RETRY, 0, 7, mdev->retry) != 0 ||
			NUMBER(a, KEY_SLOT, MLX5_SLOT_MIN, MLX5_SLOT_MAX, mdev->slot) != 0 ||
			NUMBER(a, KEY_EAGER, 0, MLX5_SLOT_MAX, mdev->eager) != 0 ||
			NUMBER(a, KEY_DEAD_MS, MIN_DEAD_MS, MAX_DEAD_MS, mdev->dead_ms) != 0 ||
			comch_args_number(a, KEY_MAX_PINNED, 1, COMCH_ARGS_MAX_BYTES,
				&mdev->max_pinned) != 0)
		return -EINVAL;
	mdev->has_gid = gid != UINT64_MAX;
	mdev->gid_index = mdev->has_gid ? (uint8_t)gid : 0;
	mdev->has_tclass = tclass != UINT64_MAX;
	mdev->tclass = mdev->has_tclass ? (uint8_t)tclass : 0;
	mdev->has_sl = sl != UINT64_MAX;
	mdev->sl = mdev->has_sl ? (uint8_t)sl : 0;
	mdev->slot = RTE_ALIGN_CEIL(mdev->slot, 64u);
	return 0;
}

static uint32_t
nb_slots(uint32_t max_frame, uint32_t slot)
{
	uint32_t data = slot - (uint32_t)(sizeof(struct mlx5_ctrl_hdr) +
		MLX5_MAX_NEED * sizeof(struct mlx5_need) +
		MLX5_MAX_HALTED * sizeof(struct mlx5_halted));

	return RTE_MAX(rte_align32pow2(SLOT_FRAMES * ((max_frame + data - 1) / data)), MIN_SLOTS);
}

static void
set_frame(struct mlx5_dev *mdev, uint32_t max_msg_size)
{
	mdev->max_frame = max_msg_size + RTE_COMCH_FRAME_OVERHEAD;
	mdev->nb_slots = nb_slots(mdev->max_frame, mdev->slot);
}

void
mlx5_args_default(struct mlx5_dev *mdev)
{
	mdev->port = 1;
	mdev->first_port = DEFAULT_FIRST_PORT;
	mdev->last_port = DEFAULT_LAST_PORT;
	mdev->timeout = DEFAULT_TIMEOUT;
	mdev->retry = DEFAULT_RETRY;
	mdev->slot = DEFAULT_SLOT;
	mdev->eager = DEFAULT_EAGER;
	mdev->dead_ms = DEFAULT_DEAD_MS;
	mdev->max_pinned = UINT64_MAX;
	set_frame(mdev, COMCH_ARGS_DEFAULT_MSG);
}

int
mlx5_args_parse(struct rte_comch_dev *dev, struct rte_kvargs *kv)
{
	const struct comch_args a = {
		.dev = dev, .kv = kv, .logtype = comch_mlx5_logtype, .tag = MLX5_TAG,
		.on_addrs = on_addrs,
	};
	struct mlx5_dev *mdev = dev->priv;
	int ret;

	mlx5_args_default(mdev);
	ret = comch_place_init(&mdev->place, &a);
	if (ret != 0)
		return ret;
	if (comch_args_role(&a) != 0 ||
			comch_args_each(&a, KEY_DEV, parse_text, mdev) != 0 ||
			comch_args_each(&a, KEY_PORTS, parse_ports, mdev) != 0 ||
			parse_numbers(&a, mdev) != 0 || comch_args_limits(&a) != 0)
		return -EINVAL;
	set_frame(mdev, dev->info.max_msg_size);
	ret = comch_args_funcs(&a);
	if (ret == 0)
		ret = comch_args_each(&a, KEY_PEER, parse_peer, NULL);
	return ret == 0 ? check_addrs(&a) : ret;
}
