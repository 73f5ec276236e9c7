/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * What comch-dpacc makes, seen from the program that links it: tables of the
 * functions, arguments taken from a list and handed on, names that are there and
 * names that are not.
 */

#include <stdarg.h>
#include <stdlib.h>

#include <comch_doca_dpa_app.h>

#include "t_main.h"
#include "types.h"

typedef void(func_t)(void);

extern struct doca_dpa_app *test_app;
extern func_t kernel, kernel_without, kernel_attributes, kernel_on, kernel_made, none, narrow,
	wide, structs, pointers, many, negative, silent, helped, count, second;

static const struct {
	const char *name;
	func_t *func;
	uint32_t is_rpc;
	uint32_t nb_args;
} expected[] = {
	{ "kernel", kernel, 0, 1 },
	{ "kernel_without", kernel_without, 0, 0 },
	{ "kernel_attributes", kernel_attributes, 0, 2 },
	{ "kernel_on", kernel_on, 0, 1 },
	{ "kernel_made", kernel_made, 0, 1 },
	{ "none", none, 1, 0 },
	{ "narrow", narrow, 1, 7 },
	{ "wide", wide, 1, 8 },
	{ "structs", structs, 1, 5 },
	{ "pointers", pointers, 1, 11 },
	{ "many", many, 1, 12 },
	{ "negative", negative, 1, 1 },
	{ "silent", silent, 1, 1 },
	{ "helped", helped, 1, 1 },
	{ "count", count, 1, 0 },
	{ "second", second, 0, 1 },
};

/* The host has these names, too. */
int helper(int value);
extern uint64_t nb_calls;
uint64_t nb_calls = 7;

int
helper(int value)
{
	return value - 1;
}

static const struct comch_doca_dpa_func *
find(func_t *func)
{
	const struct comch_doca_dpa_unit *unit;
	uint32_t u, i;

	for (u = 0; u < test_app->nb_units; u++) {
		unit = test_app->units[u];
		for (i = 0; i < unit->nb_funcs; i++)
			if (unit->funcs[i].func == func)
				return &unit->funcs[i];
	}
	return NULL;
}

/* As doca_dpa_rpc() does it. */
static uint64_t
rpc(func_t *func, ...)
{
	const struct comch_doca_dpa_func *f = find(func);
	uint64_t result;
	va_list list;
	uint8_t *args;

	T_CHECK(f != NULL);
	/* Of its size and no more, for sanitizers. */
	args = malloc(f->args_size);
	va_start(list, func);
	f->pack(args, &list);
	/* The list stands behind the last argument. */
	T_EQ(va_arg(list, int), 4711);
	va_end(list);
	result = f->call(args);
	free(args);
	return result;
}

#define RPC(...) rpc(__VA_ARGS__, 4711)

static void
test_tables(void)
{
	uint32_t n = 0, u, i;

	T_EQ(test_app->version, COMCH_DOCA_DPA_APP_VERSION);
	T_STR_EQ(test_app->name, "test_app");
	T_EQ(test_app->nb_units, 2);
	for (u = 0; u < test_app->nb_units; u++)
		n += test_app->units[u]->nb_funcs;
	T_EQ(n, RTE_DIM(expected));
	for (i = 0; i < RTE_DIM(expected); i++) {
		const struct comch_doca_dpa_func *f = find(expected[i].func);

		T_CHECK(f != NULL);
		T_STR_EQ(f->name, expected[i].name);
		T_EQ(f->is_rpc, expected[i].is_rpc);
		T_EQ(f->nb_args, expected[i].nb_args);
		T_CHECK((f->args_size == 0) == (f->nb_args == 0));
	}
}

static void
test_values(void)
{
	T_EQ(RPC(none), 42);
	T_EQ(RPC(narrow, 'c', -1, 255, -300, 65535, true, 1.5f), 1);
	T_EQ(RPC(wide, -7, 4000000000U, -8L, UINT64_C(0xfedcba9876543210), 2.5, 3.5L, BLUE, MANY),
			1);
	/* What is too wide is cut, as in a call with a prototype; all but 0 is true. */
	T_EQ(RPC(narrow, 'c' + 256, 255, -1, 65536 - 300, -1, 2, 1.5f), 1);
	T_EQ(RPC(many, 1, 2, 3, UINT64_C(4), 5, 6, 7, UINT64_C(8), 9, 10, 11, UINT64_C(12)),
			1 + 4 + 9 + 16 + 25 + 36 + 49 + 64 + 81 + 100 + 121 + 144);
	T_EQ((int64_t)RPC(negative, 5), -5);
}

static void
test_structs(void)
{
	const struct pair in = { .a = 10, .b = UINT64_C(1) << 40 };
	const struct odd odd = { .letter = 1, .n = 50000 };
	const union either either = { .number = 3 };
	struct pair out;
	struct big big;

	memset(&big, 2, sizeof(big));
	T_EQ(RPC(structs, in, big, odd, either, &out), 200 + 50000 + 1 + 3);
	T_EQ(out.a, 11);
	T_EQ(out.b, (UINT64_C(1) << 40) + 1);
}

static int
add_ten(int value)
{
	return value + 10;
}

static uint64_t
add_hundred(uint64_t value)
{
	return value + 100;
}

static void
test_pointers(void)
{
	int array[] = { 0, 0, 1000 };
	uint8_t matrix[2][4] = { [1][3] = 5 };
	const uint8_t rows[2][4] = { [1][2] = 6 };
	table_t table = { 0, 0, 0, 10000 };
	volatile uint64_t flag = 0;
	int typed = 100000;

	T_EQ(RPC(pointers, "aA", array, matrix, rows, add_ten, add_hundred, table, NULL, &flag,
				UINT64_C(1000000), &typed),
			'A' + 1000 + 5 + 6 + 11 + 102 + 10000 + 1 + 1000000 + 100000);
	T_EQ(flag, 1);
}

/* The sources are one program, which is not ours. */
static void
test_names(void)
{
	uint64_t arg = 3;

	T_EQ(RPC(silent, UINT64_C(0)), 0);
	T_EQ(find(kernel)->call(&arg), 0);
	T_EQ(RPC(count), 3);
	find(second)->call(&arg);
	T_EQ(RPC(count), 3 + 1 + 3);
	find(kernel_without)->call(NULL);
	T_EQ(RPC(count), 8);
	find(kernel_made)->call(&arg);
	T_EQ(RPC(count), 308);
	T_EQ(nb_calls, 7);
	T_EQ(RPC(helped, UINT64_C(1)), 1001);
	T_EQ(helper(1), 0);
	/* Nothing else than a function. */
	T_CHECK(find((func_t *)(uintptr_t)test_names) == NULL);
}

int
main(int argc, char **argv)
{
	static const struct t_case cases[] = {
		{ "tables", test_tables },
		{ "values", test_values },
		{ "structs", test_structs },
		{ "pointers", test_pointers },
		{ "names", test_names },
	};

	return t_main(cases, RTE_DIM(cases), argc, argv);
}
