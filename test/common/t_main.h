/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef T_MAIN_H
#define T_MAIN_H

/*
 * A plain test program: cases that run one after the other, each in a child
 * process, so that each has a fresh EAL and one that crashes fails alone. The
 * program needs no Criterion and so also runs under TSan.
 */

#include <sys/types.h>

#include "t.h"

struct t_case {
	const char *name;
	void (*fn)(void);
	struct t_case *next; /**< Of T_CASE(). */
	int line;
};

/*
 * A case: T_CASE(name) { ... }. A program of these has no main() of its own: that of
 * t_case.c runs the cases in the order of their lines.
 */
#define T_CASE(case_name) \
	static void case_name(void); \
	static void __attribute__((constructor)) \
	case_name##_add(void) \
	{ \
		static struct t_case self = { \
			.name = #case_name, .fn = case_name, .line = __LINE__, \
		}; \
		t_case_add(&self); \
	} \
	static void \
	case_name(void)

/*
 * The same between begin and end of what it works on, a struct that it has a pointer to; begin
 * gets it zeroed.
 */
#define T_CASE_OF(type, begin, end, case_name, arg) \
	static void case_name##_of(type *arg); \
	T_CASE(case_name) \
	{ \
		type of_; \
		memset(&of_, 0, sizeof(of_)); \
		begin(&of_); \
		case_name##_of(&of_); \
		end(&of_); \
	} \
	static void \
	case_name##_of(type *arg)

void t_case_add(struct t_case *c);

/* Run the cases whose names are arguments, or all. Exit status: 0, 1 if one
 * failed, 77 if all were skipped.
 */
int t_main(const struct t_case *cases, unsigned int nb, int argc, char **argv);

/*
 * fork() with nothing unwritten in stdout and stderr, for a child that ends by exit(). If this
 * process has several threads, LeakSanitizer does not check the child: at its end it would wait
 * for ever for a lock of the allocator that another thread held at the fork.
 */
pid_t t_fork(void);

#endif /* T_MAIN_H */
