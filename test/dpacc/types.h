/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef TYPES_H
#define TYPES_H

/* What host and device code of t_app.c share. */

#include <stdint.h>

struct pair {
	uint32_t a;
	uint64_t b;
};

struct big {
	uint8_t bytes[100];
};

struct odd {
	char letter;
	uint16_t n;
} __attribute__((packed));

union either {
	uint32_t number;
	float real;
};

enum colour { RED, GREEN, BLUE };
enum __attribute__((packed)) small { FEW = 1, MANY = 200 };

typedef const uint64_t fixed_t;
typedef int table_t[4];
typedef uint64_t callback_t(uint64_t);

#endif /* TYPES_H */
