/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_FORK_NOTES_H
#define COMCH_FORK_NOTES_H

/*
 * What a forked child has to let go of. Called by the before_fork() of a type of
 * objects (comch_registry.h), with the registry locked.
 */

/* Let the child close a descriptor. */
void comch_fork_note_fd(int fd);
/* Let the child call a function; arg points to private memory. */
void comch_fork_note_call(void (*fn)(void *arg), void *arg);

#endif /* COMCH_FORK_NOTES_H */
