/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Which failures of clients in a row are worth a line. */

#include <errno.h>

#include <criterion/criterion.h>

#include "t.h"

#include "ctrl/comch_client.h"
#include "ctrl/comch_retry.h"

static struct rte_comch_dev dev[2] = { { .id = 0 }, { .id = 1 } };
static struct rte_comch_client client = { .dev = &dev[0], .name = "a" };

static struct rte_comch_client
other(unsigned int i)
{
	struct rte_comch_client c = { .dev = &dev[0] };

	snprintf(c.name, sizeof(c.name), "other%u", i);
	return c;
}

Test(retry, powers_of_10)
{
	uint64_t i, sum = 0;

	for (i = 0; i < 10000; i++)
		sum += comch_retry_failed(&client, -ENOENT);
	T_EQ(sum, 1 + 10 + 100 + 1000 + 10000);
}

Test(retry, is_news)
{
	struct rte_comch_client b = other(0), far = client;
	unsigned int i;

	for (i = 0; i < 3; i++) {
		/* After a connection; another error; another server; another device. */
		T_EQ(comch_retry_failed(&client, -ENOENT), 1);
		T_EQ(comch_retry_failed(&client, -ENOENT), 0);
		T_EQ(comch_retry_failed(&client, -EMFILE), 1);
		T_EQ(comch_retry_failed(&client, -EMFILE), 0);
		comch_retry_over(&client);
		T_EQ(comch_retry_failed(&b, -ENOENT), i == 0);
	}
	far.dev = &dev[1];
	T_EQ(comch_retry_failed(&client, -ENOENT), 1);
	T_EQ(comch_retry_failed(&far, -ENOENT), 1);
	T_EQ(comch_retry_failed(&client, -ENOENT), 0);
	T_EQ(comch_retry_failed(&far, -ENOENT), 0);
}

/* As many servers as are remembered; one more, and the one that failed longest ago is news. */
Test(retry, many_servers)
{
	struct rte_comch_client c[COMCH_RETRY_NB + 1];
	unsigned int i;

	for (i = 0; i < RTE_DIM(c); i++)
		c[i] = other(i);
	for (i = 0; i < COMCH_RETRY_NB; i++)
		T_EQ(comch_retry_failed(&c[i], -ENOENT), 1);
	for (i = 0; i < COMCH_RETRY_NB; i++)
		T_EQ(comch_retry_failed(&c[i], -ENOENT), 0);
	/* One that was not remembered is over: nothing changes. */
	comch_retry_over(&c[COMCH_RETRY_NB]);
	T_EQ(comch_retry_failed(&c[0], -ENOENT), 0);
	T_EQ(comch_retry_failed(&c[COMCH_RETRY_NB], -ENOENT), 1);
	T_EQ(comch_retry_failed(&c[0], -ENOENT), 0);
	T_EQ(comch_retry_failed(&c[1], -ENOENT), 1);
}

Test(retry, text)
{
	char text[COMCH_RETRY_TEXT];

	cr_assert_str_eq(comch_retry_text(0, text), "");
	cr_assert_str_eq(comch_retry_text(1, text), "");
	cr_assert_str_eq(comch_retry_text(10, text), " (10 times in a row)");
	cr_assert_str_eq(comch_retry_text(UINT64_C(100000000000), text),
		" (100000000000 times in a row)");
}
