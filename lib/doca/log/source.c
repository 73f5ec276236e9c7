/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Sources: the table of names that programs register for their messages. */

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "log/source.h"

#include <doca_log.h>

/* Programs register in constructors, so nothing here may depend on one. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char **names;
static int nb_names;

/* Index of a free entry; -1: out of memory. */
static int
find_place(void)
{
	char **more;
	int i;

	for (i = 0; i < nb_names; i++)
		if (names[i] == NULL)
			return i;
	more = realloc(names, (nb_names + 1) * sizeof(*names));
	if (more == NULL)
		return -1;
	names = more;
	names[nb_names] = NULL;
	return nb_names++;
}

/* DOCA_LOG_REGISTER("x") passes the quotes, too. */
static char *
copy_unquoted(const char *name)
{
	const size_t len = strlen(name);

	if (len >= 2 && name[0] == '"' && name[len - 1] == '"')
		return strndup(name + 1, len - 2);
	return strdup(name);
}

doca_error_t
doca_log_register_source(const char *source_name, int *source)
{
	char *name;
	int place;

	if (source_name == NULL || source == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	name = copy_unquoted(source_name);
	if (name == NULL)
		return DOCA_ERROR_NO_MEMORY;
	pthread_mutex_lock(&lock);
	place = find_place();
	if (place >= 0)
		names[place] = name;
	pthread_mutex_unlock(&lock);
	if (place < 0) {
		free(name);
		return DOCA_ERROR_NO_MEMORY;
	}
	/* 0 is an unregistered log_source. */
	*source = place + 1;
	return DOCA_SUCCESS;
}

/* Called with the lock. */
static bool
is_source(int source)
{
	return source >= 1 && source <= nb_names && names[source - 1] != NULL;
}

doca_error_t
doca_log_unregister_source(int source)
{
	char *name = NULL;

	pthread_mutex_lock(&lock);
	if (is_source(source)) {
		name = names[source - 1];
		names[source - 1] = NULL;
	}
	pthread_mutex_unlock(&lock);
	if (name == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	free(name);
	return DOCA_SUCCESS;
}

char *
impl_source_name(int source)
{
	char *name = NULL;

	pthread_mutex_lock(&lock);
	if (is_source(source))
		name = strdup(names[source - 1]);
	else
		errno = EINVAL;
	pthread_mutex_unlock(&lock);
	return name;
}
