/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef FAULT_H
#define FAULT_H

/*
 * Calls of a library that fail on demand, as they do when memory, descriptors or threads
 * run out. Only the library's own calls are redirected, by its global offset table: those of
 * the test, of EAL and of the C library keep working.
 *
 *     fault_install("librte_comch.so")
 *     fault_arm(FAULT_MEMORY, 3, false)    the third one fails, the others work
 *     ...
 *     fault_disarm()                       was the third one reached?
 */

#include <stdbool.h>

/** Kinds of calls, as bits. */
enum fault_kind {
	FAULT_MEMORY = 1 << 0,  /**< malloc(), strdup(), rte_zmalloc(), ... */
	FAULT_MAP = 1 << 1,     /**< memfds and mappings. */
	FAULT_SEAL = 1 << 2,    /**< fcntl() of seals, madvise(). */
	FAULT_FD = 1 << 3,      /**< Calls that return a descriptor. */
	FAULT_WATCH = 1 << 4,   /**< Calls that tell the kernel about a descriptor or path. */
	FAULT_SEND = 1 << 5,    /**< send(), sendmsg(): the kernel has no buffer. */
	FAULT_THREAD = 1 << 6,  /**< Creating threads. */
	FAULT_NEVER = 1 << 7,   /**< Calls that fail by name only. */
};

/* Redirect the calls of all loaded objects whose file name begins so; returns how many. */
unsigned int fault_install(const char *file);

/* The nth call from now on, 1 the next, fails; with from, so do all after it. */
void fault_arm(unsigned int kinds, unsigned int nth, bool from);
/*
 * The nth call from now on, and those after it, fail with an errno: of a function, or of several,
 * "chmod syscall".
 */
void fault_arm_call(const char *calls, unsigned int nth, int err);
/* Before the nth call of a function, which works, something is done once. */
void fault_arm_before(const char *call, unsigned int nth, void (*fn)(void));
/* No call fails any more. Has one, or was one preceded? */
bool fault_disarm(void);
/* Has one failed already? */
bool fault_is_felt(void);
/* Calls since fault_arm(). */
unsigned int fault_calls(void);

/* Between these, calls work and are not counted. */
void fault_pause(void);
void fault_resume(void);

/* The call that failed first, and where it is: "mmap64 of librte_comch.so.0+0x1234". */
const char *fault_text(void);

#endif /* FAULT_H */
