/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "text.h"

static FILE *said[2];

char *
text_rest(struct fuzz_in *in)
{
	char *text = malloc(in->left + 1);

	T_CHECK(text != NULL);
	text[fuzz_take(in, text, in->left)] = '\0';
	return text;
}

void
text_add(struct text_words *words, const char *word)
{
	if (words->argc == TEXT_MAX_WORDS)
		return;
	words->argv[words->argc] = strdup(word);
	T_CHECK(words->argv[words->argc] != NULL);
	words->argv[++words->argc] = NULL;
}

bool
text_words(struct fuzz_in *in, struct text_words *words, const char *program)
{
	const size_t len = strnlen((const char *)in->at, in->left);
	char *copy = strndup((const char *)in->at, len), *line, *rest = copy;
	bool ok = true;

	T_CHECK(copy != NULL);
	in->at += RTE_MIN(len + 1, in->left);
	in->left -= RTE_MIN(len + 1, in->left);
	memset(words, 0, sizeof(*words));
	text_add(words, program);
	while ((line = strsep(&rest, "\n")) != NULL) {
		ok = ok && strchr(line, '/') == NULL;
		if (rest != NULL || line[0] != '\0')
			text_add(words, line);
	}
	free(copy);
	return ok;
}

void
text_words_free(struct text_words *words)
{
	while (words->argc > 0)
		free(words->argv[--words->argc]);
}

const char *
text_file(const char *contents)
{
	static char path[64];
	static int fd = -1;
	const size_t len = strlen(contents);

	if (fd >= 0)
		close(fd);
	fd = memfd_create("text", MFD_CLOEXEC);
	T_GE(fd, 0);
	T_EQ(write(fd, contents, len), len);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return path;
}

void
text_quiet_begin(void)
{
	said[0] = stdout;
	said[1] = stderr;
	stdout = stderr = fuzz_nowhere();
}

void
text_quiet_end(void)
{
	stdout = said[0];
	stderr = said[1];
}
