/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef TEXT_H
#define TEXT_H

/* What fuzzers of texts share. */

#include "fuzz.h"

#define TEXT_MAX_WORDS 24

/* The rest of the input as a string, which the caller frees. */
char *text_rest(struct fuzz_in *in);

/* Words of a command line, one a line. Each is an allocation of its own. */
struct text_words {
	int argc;
	char *argv[TEXT_MAX_WORDS + 1];
};

/*
 * Take the input up to a NUL as lines. Returns false if one contains a slash: a path that
 * the input names could be that of any file of this machine.
 */
bool text_words(struct fuzz_in *in, struct text_words *words, const char *program);
/* Add a word; a copy. */
void text_add(struct text_words *words, const char *word);
void text_words_free(struct text_words *words);

/* A file with these contents; its path is valid until the next one. */
const char *text_file(const char *contents);

/* What is written to stdout and stderr in between goes nowhere. */
void text_quiet_begin(void);
void text_quiet_end(void);

#endif /* TEXT_H */
