/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Configuration of the fake verbs. */

#include <stdio.h>

#include "fv_private.h"

enum { INT, U32, U64, BOOL };

static const struct {
	const char *name;
	int type;
	size_t at;
} keys[] = {
#define KEY(name, type) { #name, type, offsetof(struct fv_conf, name) }
	KEY(max_qp, INT),
	KEY(max_cq, INT),
	KEY(max_mr, INT),
	KEY(max_pd, INT),
	KEY(max_qp_wr, INT),
	KEY(max_cqe, INT),
	KEY(max_sge, INT),
	KEY(max_inline, U32),
	KEY(max_msg_sz, U32),
	KEY(max_pinned, U64),
	KEY(delay_us, U32),
	KEY(jitter_us, U32),
	KEY(seed, U64),
	KEY(cm_timeout_ms, U32),
	KEY(timewait_ms, U32),
	KEY(short_posts, U32),
	KEY(spurious, U32),
	KEY(late_recv, BOOL),
	KEY(late_write, BOOL),
#undef KEY
};

void
fv_conf_default(struct fv_conf *conf)
{
	*conf = (struct fv_conf) {
		.max_qp = 0xffff0,
		.max_cq = 0xfff00,
		.max_mr = 0x7f000,
		.max_pd = 0x7ffc,
		.max_qp_wr = 16384,
		.max_cqe = 32767,
		.max_sge = 32,
		.max_inline = 400,
		.max_msg_sz = 8 << 20,
		.max_pinned = UINT64_MAX,
		.cm_timeout_ms = 300,
		.timewait_ms = 5,
	};
}

static int
set_key(struct fv_conf *conf, const char *name, size_t len, unsigned long long val)
{
	unsigned int i;
	void *at;

	for (i = 0; i < FV_DIM(keys); i++)
		if (strlen(keys[i].name) == len && memcmp(keys[i].name, name, len) == 0)
			break;
	if (i == FV_DIM(keys))
		return -EINVAL;
	at = (char *)conf + keys[i].at;
	switch (keys[i].type) {
	case INT:
		*(int *)at = (int)val;
		break;
	case U32:
		*(uint32_t *)at = (uint32_t)val;
		break;
	case U64:
		*(uint64_t *)at = val;
		break;
	default:
		*(bool *)at = val != 0;
	}
	return 0;
}

int
fv_conf_parse(struct fv_conf *conf, const char *text)
{
	const char *at = text;
	char *end;

	while (*at != '\0') {
		size_t len = strcspn(at, "=");
		unsigned long long val;

		if (at[len] != '=')
			goto invalid;
		val = strtoull(at + len + 1, &end, 0);
		if (end == at + len + 1 || (*end != '\0' && *end != ','))
			goto invalid;
		if (set_key(conf, at, len, val) != 0)
			goto invalid;
		at = *end == ',' ? end + 1 : end;
	}
	return 0;
invalid:
	FV_SAY("'%s': expected KEY=NUMBER of struct fv_conf at '%s'", text, at);
	return -EINVAL;
}

void
fv_configure(const struct fv_conf *conf)
{
	bool random = conf->jitter_us > 0 || conf->short_posts > 0 || conf->spurious > 0;

	fv_lock();
	fv.conf = *conf;
	if (fv.conf.seed == 0)
		fv.conf.seed = fv_now() | 1;
	fv.rng = fv.conf.seed;
	if (random)
		fprintf(stderr, "fv: seed=%llu\n", (unsigned long long)fv.conf.seed);
	if (fv.conf.max_sge > FV_MAX_SGE || fv.conf.max_inline > FV_MAX_INLINE)
		FV_DIE("max_sge is at most %d, max_inline %d", FV_MAX_SGE, FV_MAX_INLINE);
	fv_unlock();
}
