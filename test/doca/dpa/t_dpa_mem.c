/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Memory of the DPA, and the host's copies.
 */

#include <stdlib.h>

#include "dpa/program.h"
#include "t_main.h"

#define DRIVER DOCA_ERROR_DRIVER

static uint64_t
sum(uint64_t arg)
{
	const uint8_t *p = (const uint8_t *)(uintptr_t)arg;
	uint64_t result = 0;
	unsigned int i;

	for (i = 0; i < 100; i++)
		result += p[i];
	return result;
}

DPA_RPC(sum)

static const struct comch_doca_dpa_func funcs[] = { DPA_FUNC(sum, 1) };
DPA_APP(app, funcs);

DPA_CASE(null_is_refused, dpa)
{
	doca_dpa_dev_uintptr_t mem = 5;
	char buf[8];

	T_INVALID(doca_dpa_mem_alloc(NULL, 8, &mem));
	T_EQ(mem, 0);
	T_INVALID(doca_dpa_mem_alloc(dpa, 8, NULL));
	mem = 5;
	T_INVALID(doca_dpa_mem_alloc(dpa, 0, &mem));
	T_EQ(mem, 0);
	T_OK(doca_dpa_mem_alloc(dpa, 8, &mem));
	T_INVALID(doca_dpa_mem_free(NULL, mem));
	T_INVALID(doca_dpa_h2d_memcpy(NULL, mem, buf, 8));
	T_INVALID(doca_dpa_h2d_memcpy(dpa, 0, buf, 8));
	T_INVALID(doca_dpa_h2d_memcpy(dpa, mem, NULL, 8));
	T_INVALID(doca_dpa_h2d_memcpy(dpa, mem, buf, 0));
	T_INVALID(doca_dpa_d2h_memcpy(NULL, buf, mem, 8));
	T_INVALID(doca_dpa_d2h_memcpy(dpa, NULL, mem, 8));
	T_INVALID(doca_dpa_d2h_memcpy(dpa, buf, 0, 8));
	T_INVALID(doca_dpa_d2h_memcpy(dpa, buf, mem, 0));
	T_INVALID(doca_dpa_memset(NULL, mem, 0, 8));
	T_INVALID(doca_dpa_memset(dpa, 0, 0, 8));
	T_INVALID(doca_dpa_memset(dpa, mem, 0, 0));
	T_OK(doca_dpa_mem_free(dpa, mem));
}

DPA_CASE(only_of_a_started_context, dpa)
{
	doca_dpa_dev_uintptr_t mem, none = 5;
	char buf[8] = "";

	T_OK(doca_dpa_mem_alloc(dpa, 8, &mem));
	T_OK(doca_dpa_stop(dpa));
	T_IS(doca_dpa_mem_alloc(dpa, 8, &none), DOCA_ERROR_BAD_STATE);
	T_EQ(none, 0);
	T_IS(doca_dpa_mem_free(dpa, mem), DOCA_ERROR_BAD_STATE);
	T_IS(doca_dpa_h2d_memcpy(dpa, mem, buf, 8), DOCA_ERROR_BAD_STATE);
	T_IS(doca_dpa_d2h_memcpy(dpa, buf, mem, 8), DOCA_ERROR_BAD_STATE);
	T_IS(doca_dpa_memset(dpa, mem, 0, 8), DOCA_ERROR_BAD_STATE);
	T_OK(doca_dpa_start(dpa));
	T_OK(doca_dpa_mem_free(dpa, mem));
}

DPA_CASE(copies_arrive, dpa)
{
	doca_dpa_dev_uintptr_t mem;
	uint8_t in[1000], out[1000];
	uint64_t ret;

	T_OK(doca_dpa_mem_alloc(dpa, sizeof(in), &mem));
	T_EQ(mem % 64, 0);
	t_fill(in, sizeof(in), 7);
	T_OK(doca_dpa_h2d_memcpy(dpa, mem, in, sizeof(in)));
	T_OK(doca_dpa_d2h_memcpy(dpa, out, mem, sizeof(out)));
	T_VERIFY(out, sizeof(out), 7);
	/* Parts, up to the last byte. */
	T_OK(doca_dpa_memset(dpa, mem, 1, 100));
	T_OK(doca_dpa_memset(dpa, mem + 999, 2, 1));
	T_OK(doca_dpa_d2h_memcpy(dpa, out, mem + 99, 901));
	T_EQ(out[0], 1);
	T_EQ(out[1], in[100]);
	T_EQ(out[899], in[998]);
	T_EQ(out[900], 2);
	T_OK(doca_dpa_rpc(dpa, DPA_HOST_FUNC(sum), &ret, mem));
	T_EQ(ret, 100);
	T_OK(doca_dpa_mem_free(dpa, mem));
}

DPA_CASE(bad_ranges_are_refused_and_named, dpa)
{
	doca_dpa_dev_uintptr_t mem;
	char buf[128], want[128];

	log_keep();
	T_OK(doca_dpa_mem_alloc(dpa, 100, &mem));
	T_IS(doca_dpa_h2d_memcpy(dpa, mem, buf, 101), DOCA_ERROR_DRIVER);
	snprintf(want, sizeof(want), "doca_dpa_h2d_memcpy: 101 bytes at 0x%llx exceed the "
		"allocation of 100 bytes at 0x%llx", (long long)mem, (long long)mem);
	T_STR_HAS(log_kept(), want);
	T_IS(doca_dpa_d2h_memcpy(dpa, buf, mem + 99, 2), DOCA_ERROR_DRIVER);
	T_IS(doca_dpa_d2h_memcpy(dpa, buf, mem + 99, SIZE_MAX), DOCA_ERROR_DRIVER);
	T_IS(doca_dpa_memset(dpa, mem + 100, 0, 1), DOCA_ERROR_DRIVER);
	snprintf(want, sizeof(want), "doca_dpa_memset: 1 bytes at 0x%llx are not in an allocation",
		(long long)mem + 100);
	T_STR_HAS(log_kept(), want);
	T_IS(doca_dpa_memset(dpa, mem - 1, 0, 1), DOCA_ERROR_DRIVER);
	T_IS(doca_dpa_memset(dpa, UINT64_MAX, 0, 1), DOCA_ERROR_DRIVER);
	T_IS(doca_dpa_h2d_memcpy(dpa, (uintptr_t)want, buf, 1), DOCA_ERROR_DRIVER);
	T_IS(doca_dpa_mem_free(dpa, mem + 1), DOCA_ERROR_DRIVER);
	T_IS(doca_dpa_mem_free(dpa, 0), DOCA_ERROR_DRIVER);
	T_OK(doca_dpa_mem_free(dpa, mem));
	T_IS(doca_dpa_mem_free(dpa, mem), DOCA_ERROR_DRIVER);
	snprintf(want, sizeof(want), "0x%llx is not an allocation of DPA memory", (long long)mem);
	T_STR_HAS(log_kept(), want);
	T_IS(doca_dpa_memset(dpa, mem, 0, 1), DOCA_ERROR_DRIVER);
}

#define NB 300

/* Each is found among the others. */
T_CASE(many_allocations)
{
	struct doca_dpa *dpa = dpa_program_start(&app);
	static doca_dpa_dev_uintptr_t mem[NB];
	unsigned int i;
	char buf[NB];

	for (i = 0; i < NB; i++)
		T_OK(doca_dpa_mem_alloc(dpa, i + 1, &mem[i]));
	for (i = 0; i < NB; i++)
		T_OK(doca_dpa_memset(dpa, mem[i], (int)i, i + 1));
	for (i = 0; i < NB; i += 3)
		T_OK(doca_dpa_mem_free(dpa, mem[i]));
	for (i = 0; i < NB; i++) {
		T_IS(doca_dpa_d2h_memcpy(dpa, buf, mem[i], i + 1), i % 3 == 0 ? DRIVER :
			DOCA_SUCCESS);
		T_CHECK(i % 3 == 0 || buf[i] == (char)i);
	}
	log_keep();
	dpa_program_end(dpa);
	T_STR_HAS(log_kept(), "freeing 200 allocations that were not freed");
}

DPA_CASE(too_much_is_an_error, dpa)
{
	doca_dpa_dev_uintptr_t mem = 5;

	if (t_sanitized())
		t_skip("sanitizers end programs that ask for that much");
	T_IS(doca_dpa_mem_alloc(dpa, SIZE_MAX / 2, &mem), DOCA_ERROR_DRIVER);
	T_EQ(mem, 0);
}
