/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Device tables: a table is complete, or refused with a reason that names the line. */

#include <stdlib.h>

#include "dev/table.h"
#include "text.h"

static void
check_table(struct impl_table *table)
{
	unsigned int nb_devs = 0, nb_funcs = 0;
	const struct impl_entry *e;

	IMPL_TABLE_FOREACH(e, table) {
		T_NE(e->label[0], '\0');
		T_NE(e->info.driver[0], '\0');
		nb_devs += !e->is_func;
		nb_funcs += e->is_func;
		if (!e->is_func)
			continue;
		T_NE(e->func[0], '\0');
		T_CHECK(e->rep.owner != NULL && e->rep.host == &e->info);
		T_LT(e->rep.id, e->rep.owner->nb_reps);
	}
	T_GT(nb_devs, 0);
	T_EQ(nb_devs, table->nb_devs);
	T_EQ(nb_funcs, table->nb_funcs);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_in in = { data, size };
	struct impl_table table = { 0 };
	char *text = text_rest(&in);

	if (impl_table_read_text(&table, "t", text) == DOCA_SUCCESS)
		check_table(&table);
	else
		T_EQ(strncmp(table.why, "t:", 2), 0);
	impl_table_free(&table);
	free(text);
	return 0;
}
