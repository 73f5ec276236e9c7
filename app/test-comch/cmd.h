/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef CMD_H
#define CMD_H

/**
 * @file
 * Commands, as instructions of librte_cmdline. Each file cmd_*.c has a family of them.
 * Keywords are tokens of the library. Names, numbers and text are tokens of struct
 * cmd_token, which accept any word, so that a command itself can say what it expected;
 * those that name objects complete the names that exist.
 */

#include <stddef.h>

#include <cmdline.h>
#include <cmdline_parse.h>
#include <cmdline_parse_string.h>

#include "tc.h"

#define CMD_MAX_WORDS 8
#define CMD_TEXT_SIZE 512

/** A parsed command: its words, and the text after them. */
struct cmd {
	cmdline_fixed_string_t word[CMD_MAX_WORDS];
	char text[CMD_TEXT_SIZE];
};

/** Which names complete a word, beside those of objects (enum tc_kind). */
enum {
	CMD_LIST_NONE = -1,
	CMD_LIST_DEV = TC_NB_KINDS,
	CMD_LIST_REP,
	CMD_LIST_PORT,
	CMD_LIST_LCORE,
	CMD_LIST_ANY, /**< All objects. */
};

struct cmd_token {
	struct cmdline_token_hdr hdr;
	const char *help;
	int list;
};

extern struct cmdline_token_ops cmd_word_ops;
extern struct cmdline_token_ops cmd_text_ops;

/* The tokens of a command. KEY takes alternatives as "a#b". */
#define KEY(n, choices) ((cmdline_parse_token_hdr_t *)&(cmdline_parse_token_string_t) \
		TOKEN_STRING_INITIALIZER(struct cmd, word[n], choices))
#define NAME(n, what, from) ((cmdline_parse_token_hdr_t *)&(struct cmd_token){ \
		{ &cmd_word_ops, offsetof(struct cmd, word[n]) }, what, from })
#define WORD(n, what) NAME(n, what, CMD_LIST_NONE)
#define TEXT(what) ((cmdline_parse_token_hdr_t *)&(struct cmd_token){ \
		{ &cmd_text_ops, offsetof(struct cmd, text) }, what, CMD_LIST_NONE })

/** Define a command: its function, "USAGE: what it does", and its tokens. */
#define CMD(name, function, usage, ...) \
	static cmdline_parse_inst_t name = { \
		.f = function, \
		.help_str = usage, \
		.tokens = { __VA_ARGS__, NULL }, \
	}

/** The families; arrays that end with NULL. */
extern cmdline_parse_inst_t *cmd_dev[], *cmd_server[], *cmd_client[], *cmd_conn[],
	*cmd_producer[], *cmd_consumer[], *cmd_stream[], *cmd_port[], *cmd_file[], *cmd_show[],
	*cmd_misc[];

/** All commands; ends with NULL. */
extern cmdline_parse_inst_t *cmd_all[];

/** Collect cmd_all[]. */
void cmd_init(void);

/** Report a failed call of the library as an error of the command. @return ret */
int cmd_check(const char *what, int ret);

/** Parse a number with k, m, g; reports what was expected. @return 0 or -1 */
int cmd_number(const char *what, const char *text, uint64_t min, uint64_t max, uint64_t *value);

/** Parse seconds. @return 0 or -1 */
int cmd_seconds(const char *what, const char *text, double *seconds);

/** Parse "on" or "off". @return 0 or -1 */
int cmd_on_off(const char *what, const char *text, bool *value);

/** Is *key* an alternative of a KEY token with this value? */
bool cmd_is(const char *word, const char *key);

/** An object can be changed while it is IDLE only. @return 0; -1 after reporting its state */
int cmd_check_idle(const struct tc_obj *obj, bool idle, const char *state);

/** What a running stream (or NULL) uses cannot be changed. @return 0; -1 after a report */
int cmd_check_stopped(const char *name, const struct tc_stream *s);

/** Report a producer or consumer (or NULL) without which an object could end. */
void cmd_fail_children(const struct tc_obj *obj, const struct tc_obj *child);

/** A connection that is up, by name; NULL after reporting why there is none. */
struct tc_conn *cmd_find_up(const char *name);

/** A number with a place in a struct. */
struct cmd_field {
	const char *key;
	size_t offset;    /**< Of a uint32_t. */
	uint64_t min;
	uint64_t max;
};

/**
 * Set a field by name.
 *
 * @return 0; -1 after a report; 1: no such field
 */
int cmd_field_set(const char *object, void *base, const struct cmd_field *fields,
		unsigned int nb, const char *key, const char *value);

#endif /* CMD_H */
