/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_RETRY_H
#define COMCH_RETRY_H

/*
 * Programs try to connect again and again until their server is there: with one client, or with a
 * new one each time. The same failure is worth a line at the 1st, 10th, 100th, ... time in a row,
 * by any client of the process for that server. Any thread.
 */

#include <stdint.h>

/* The last servers that are remembered. */
#define COMCH_RETRY_NB 16
/* Of the text of comch_retry_text(), with its NUL. */
#define COMCH_RETRY_TEXT 40

struct rte_comch_client;

/* It has failed with err: how many times in a row, if that is worth a line; or 0. */
uint64_t comch_retry_failed(const struct rte_comch_client *client, int err);
/* It is connected. */
void comch_retry_over(const struct rte_comch_client *client);
/* " (10 times in a row)"; nothing for 0 and 1. Returns text. */
const char *comch_retry_text(uint64_t times, char text[COMCH_RETRY_TEXT]);

#endif /* COMCH_RETRY_H */
