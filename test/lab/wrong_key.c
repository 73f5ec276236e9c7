/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * LD_PRELOAD=libwrong_key.so PROGRAM: keys of memory that a peer may write are wrong, so
 * that the peer's device refuses each RDMA WRITE with a remote access error.
 */

#include <dlfcn.h>

#include <infiniband/verbs.h>

#undef ibv_reg_mr
struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t len, int access);

/* The library's own: it may be loaded by a plugin, so that RTLD_NEXT does not find it. */
static void *
own(const char *name)
{
	return dlsym(dlopen("libibverbs.so.1", RTLD_LAZY | RTLD_NOLOAD), name);
}

static struct ibv_mr *
spoilt(struct ibv_mr *mr, unsigned int access)
{
	/* The low bits tell uses of the same entry apart. */
	if (mr != NULL && (access & IBV_ACCESS_REMOTE_WRITE) != 0)
		mr->rkey ^= 0x55;
	return mr;
}

struct ibv_mr *
ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t len, int access)
{
	struct ibv_mr *(*real)(struct ibv_pd *pd, void *addr, size_t len, int access);

	*(void **)&real = own("ibv_reg_mr");
	return spoilt(real(pd, addr, len, access), (unsigned int)access);
}

struct ibv_mr *
ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t len, uint64_t iova, unsigned int access)
{
	struct ibv_mr *(*real)(struct ibv_pd *pd, void *addr, size_t len, uint64_t iova,
			unsigned int access);

	*(void **)&real = own("ibv_reg_mr_iova2");
	return spoilt(real(pd, addr, len, iova, access), access);
}
