/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef T_TEL_H
#define T_TEL_H

/* Asks the telemetry of this process's EAL as any client does, over its socket. */

#include <jansson.h>

int t_tel_open(void);
/* The answer to one question, a new reference; json null says that there is none. */
json_t *t_tel_ask(int fd, const char *question);

/* A value of an answer, which must have it. */
const json_t *t_tel_member(const json_t *o, const char *key);
void t_tel_is_text(const json_t *o, const char *key, const char *want);
json_int_t t_tel_number(const json_t *o, const char *key);
/* Check the length of a list. Returns its first number, or -1. */
json_int_t t_tel_first(int fd, const char *question, size_t nb);

#endif /* T_TEL_H */
