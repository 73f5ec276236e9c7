/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* The terminal. cmdline_in() of librte_cmdline edits the line, completes and helps; Enter
 * is handled here, so that typed commands and those of a file have the same way and the
 * same errors. Without a terminal, input is taken by lines.
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include <rte_common.h>

#include "cmd.h"

#define PROMPT   "test-comch> "
#define CTRL_C   3
/** What librte_cmdline holds of a line. */
#define LINE_MAX_SIZE 4096

static struct {
	struct cmdline *cl;
	bool editing;             /* a terminal on both sides */
	bool shown;               /* the prompt and what is typed are on the screen */
	struct termios old;
	char line[LINE_MAX_SIZE]; /* without editing: so far */
	size_t len;
	char ahead[1024];         /* typed while a command ran */
	size_t nb_ahead;
} prompt;

static void
restore_terminal(void)
{
	if (prompt.editing)
		tcsetattr(STDIN_FILENO, TCSANOW, &prompt.old);
}

int
tc_prompt_open(bool plain)
{
	struct termios raw;

	cmd_init();
	prompt.editing = !plain && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) &&
		tcgetattr(STDIN_FILENO, &prompt.old) == 0;
	/* Without editing it parses only and prints nothing. */
	prompt.cl = cmdline_new(cmd_all, "", -1, prompt.editing ? STDOUT_FILENO : -1);
	if (prompt.cl == NULL)
		return -ENOMEM;
	if (!prompt.editing)
		return 0;
	raw = prompt.old;
	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO | ISIG);
	atexit(restore_terminal);
	tcsetattr(STDIN_FILENO, TCSANOW, &raw);
	return 0;
}

void
tc_prompt_close(void)
{
	restore_terminal();
	prompt.editing = false;
	cmdline_free(prompt.cl);
	prompt.cl = NULL;
}

int
tc_prompt_parse(const char *line)
{
	return cmdline_parse(prompt.cl, line);
}

/* Show an empty prompt. */
static void
show(void)
{
	fflush(stdout);
	fflush(stderr);
	rdline_newline(cmdline_get_rdline(prompt.cl), PROMPT);
	prompt.shown = true;
}

void
tc_prompt_show(void)
{
	if (prompt.editing && !prompt.shown)
		show();
}

void
tc_prompt_hide(void)
{
	if (prompt.shown)
		tc_out("\r\033[K");
}

void
tc_prompt_restore(void)
{
	if (prompt.shown)
		rdline_redisplay(cmdline_get_rdline(prompt.cl));
}

void
tc_prompt_print(const char *line)
{
	tc_prompt_hide();
	tc_out("%s\n", line);
	tc_prompt_restore();
}

/* Enter: run the line, and show the next prompt. */
static void
enter(void)
{
	struct rdline *rdl = cmdline_get_rdline(prompt.cl);
	char *line = strdup(rdline_get_buffer(rdl));

	tc_out("\n");
	prompt.shown = false;
	if (line == NULL)
		return;
	line[strcspn(line, "\r\n")] = '\0';
	if (*line != '\0')
		rdline_add_history(rdl, line);
	tc_run(line);
	free(line);
	if (!tc.quit)
		show();
}

static bool
key(char c)
{
	if (c != '\r' && c != '\n')
		return cmdline_in(prompt.cl, &c, 1) >= 0;
	enter();
	return true;
}

/* A byte of input that is not edited. */
static void
take(char c)
{
	if (c != '\n') {
		/* An overlong line is cut, and then refused by its command. */
		if (prompt.len < sizeof(prompt.line) - 1)
			prompt.line[prompt.len++] = c;
		return;
	}
	prompt.line[prompt.len] = '\0';
	prompt.len = 0;
	tc_run(prompt.line);
}

/* What was typed ahead, then what is there. */
static ssize_t
read_input(char *buf, size_t size)
{
	ssize_t n = (ssize_t)RTE_MIN(prompt.nb_ahead, size);

	if (n == 0)
		return read(STDIN_FILENO, buf, size);
	memcpy(buf, prompt.ahead, (size_t)n);
	prompt.nb_ahead -= (size_t)n;
	memmove(prompt.ahead, prompt.ahead + n, prompt.nb_ahead);
	return n;
}

bool
tc_prompt_has_input(void)
{
	return prompt.nb_ahead > 0;
}

bool
tc_prompt_input(void)
{
	char buf[256];
	ssize_t n, i;

	n = read_input(buf, sizeof(buf));
	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return true;
	if (n <= 0 && !prompt.editing && prompt.len > 0)
		take('\n');
	if (n <= 0)
		return false;
	for (i = 0; i < n && !tc.quit; i++) {
		if (!prompt.editing)
			take(buf[i]);
		else if (!key(buf[i]))
			return false;
	}
	return true;
}

bool
tc_prompt_interrupted(void)
{
	char buf[256];
	ssize_t n;

	if (!prompt.editing)
		return false;
	n = read(STDIN_FILENO, buf, RTE_MIN(sizeof(buf), sizeof(prompt.ahead) - prompt.nb_ahead));
	if (n <= 0)
		return false;
	if (memchr(buf, CTRL_C, (size_t)n) != NULL)
		return true;
	memcpy(prompt.ahead + prompt.nb_ahead, buf, (size_t)n);
	prompt.nb_ahead += (size_t)n;
	return false;
}

bool
tc_prompt_watches(void)
{
	return prompt.editing && prompt.nb_ahead < sizeof(prompt.ahead);
}
