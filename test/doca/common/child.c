/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/child.h"
#include "t_main.h"

static void
read_all(FILE *file, char *buf, size_t size)
{
	size_t len;

	rewind(file);
	len = fread(buf, 1, size - 1, file);
	buf[len] = '\0';
	fclose(file);
}

void
child_run(struct child_run *run, void (*fn)(void))
{
	FILE *out = tmpfile(), *err = tmpfile();
	int status = 0;
	pid_t pid;

	T_CHECK(out != NULL && err != NULL);
	pid = t_fork();
	if (pid == 0) {
		dup2(fileno(out), STDOUT_FILENO);
		dup2(fileno(err), STDERR_FILENO);
		fn();
		exit(0);
	}
	T_EQ(waitpid(pid, &status, 0), pid);
	run->status = WIFSIGNALED(status) ? 1000 + WTERMSIG(status) : WEXITSTATUS(status);
	read_all(out, run->out, sizeof(run->out));
	read_all(err, run->err, sizeof(run->err));
}
