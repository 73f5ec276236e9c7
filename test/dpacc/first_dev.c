/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Device code of t_app.c: a function of each kind of arguments. */

#include <stdbool.h>

#include <doca_dpa_dev.h>

#include "types.h"

/* What our header behind this file uses: nothing of this may reach it. */
#define name no such name
#define func(x) nor this
#define call 7
#define pack
#define is_rpc "text"
#define memcpy wrong
/* A macro that would not stand being expanded twice. */
#define pair struct pair
/* Of a shape that the host knows, too. */
#define __UNUSED __attribute__((__unused__))

int helper(int value);
extern uint64_t calls_of_second;
uint64_t nb_calls;

struct marked {
	int value;
} __dpa_global__;

int
helper(int value)
{
	return value + 1000;
}

static uint64_t
total(const uint8_t *bytes, uint32_t n)
{
	uint64_t sum = 0;

	while (n > 0)
		sum += bytes[--n];
	return sum;
}

__dpa_global__ void kernel(uint64_t arg)
{
	nb_calls += arg;
}

__dpa_global__
void
kernel_without(void)
{
	nb_calls++;
}

__attribute__((__noinline__)) void __dpa_global__ kernel_attributes
(
	uint64_t __attribute__((__unused__)) arg,
	uint32_t __UNUSED other
) __attribute__((cold));

void kernel_attributes(uint64_t arg, uint32_t other)
{
	nb_calls += arg * other;
}

#if 0
__dpa_global__ void kernel_off(uint64_t arg) { }
#else
/* "__dpa_global__ void not_this(void) { }" is not one. */
__dpa_global__ void kernel_on(uint64_t arg) { nb_calls += 10 * arg; }
#endif

#define KERNEL(suffix, n) __dpa_global__ void kernel_##suffix(uint64_t arg) { nb_calls += arg * n; }
KERNEL(made, 100)

__dpa_rpc__ uint64_t none()
{
	return 42;
}

__dpa_rpc__ uint64_t narrow(char c, signed char sc, unsigned char uc, short s, unsigned short us,
		bool yes, float real)
{
	return (uint64_t)(c == 'c' && sc == -1 && uc == 255 && s == -300 && us == 65535 && yes &&
		real == 1.5f);
}

__dpa_rpc__ uint64_t wide(int i, unsigned u, long l, uint64_t u64, double d, long double ld,
		enum colour colour, enum small small)
{
	return (uint64_t)(i == -7 && u == 4000000000U && l == -8 &&
		u64 == UINT64_C(0xfedcba9876543210) && d == 2.5 && ld == 3.5L &&
		colour == BLUE && small == MANY);
}

__dpa_rpc__ uint64_t structs(pair p, struct big big, const struct odd odd, union either either,
		pair *const out)
{
	out->a = p.a + 1;
	out->b = p.b + 1;
	return total(big.bytes, sizeof(big.bytes)) + odd.n + (uint64_t)odd.letter + either.number;
}

__dpa_rpc__ uint64_t pointers(const char *text, int array[3], uint8_t (*matrix)[4],
		const uint8_t rows[2][4], int (*function)(int), callback_t back, table_t table,
		void *restrict nothing, volatile uint64_t *const volatile flag, fixed_t fixed,
		__typeof__(int *) typed)
{
	*flag = 1;
	return (uint64_t)text[1] + (uint64_t)array[2] + matrix[1][3] + rows[1][2] +
		(uint64_t)function(1) + back(2) + (uint64_t)table[3] + (nothing == 0) + fixed +
		(uint64_t)*typed;
}

__dpa_rpc__ uint64_t many(uint8_t a, uint16_t b, uint32_t c, uint64_t d, uint8_t e, uint16_t f,
		uint32_t g, uint64_t h, uint8_t i, uint16_t j, uint32_t k, uint64_t l)
{
	return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i + 10 * j + 11 * k +
		12 * l;
}

__dpa_rpc__ int32_t negative(int32_t value) { return -value; }

__dpa_rpc__ void silent(uint64_t value) { nb_calls = value; }

__dpa_rpc__ uint64_t helped(uint64_t value) { return (uint64_t)helper((int)value); }

__dpa_rpc__ uint64_t count(void)
{
	return nb_calls + calls_of_second;
}
/* A macro that is never closed. */
#define open (
