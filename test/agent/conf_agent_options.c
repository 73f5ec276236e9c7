/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Options of conformance-agent, and the cases that it leaves out. */

#include <getopt.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "conf.h"
#include "conf_agent.h"

/* All that look into both ends at once in a way that has no meaning for two processes. */
static const struct {
	const char *group;
	const char *name;
	const char *why;
} excluded[] = {
	{ "lifecycle", "dev_double_name", "names of devices are unique in one process only" },
	{ "lifecycle", "dev_log_lists_keys", "reads the log of its own process" },
	{ "order", "capability", "reads the log of its own process" },
};

const char *
conf_agent_excluded(const char *group, const char *name)
{
	unsigned int i;

	for (i = 0; i < RTE_DIM(excluded); i++)
		if (strcmp(excluded[i].group, group) == 0 && strcmp(excluded[i].name, name) == 0)
			return excluded[i].why;
	return NULL;
}

static pid_t spawned;
static char spawned_at[128];

static void
usage(FILE *f)
{
	fprintf(f, "usage: conformance-agent [OPTION...] [GROUP | GROUP/CASE]...\n"
		"Run the conformance suite with one end in another process, comch-agent.\n\n"
		"  --agent HOST:PORT  where comch-agent listens; default $COMCH_AGENT;\n"
		"                     with none, both ends are in this process\n"
		"  --spawn PROGRAM    start a comch-agent on this machine\n"
		"  --far dpu|host     which end the agent has; default dpu\n"
		"  --dpu-dev DEV      devices of the DPU: DRIVER[,KEY=VALUE...];\n"
		"  --host-dev DEV     and of the host: the case adds number, role and function;\n"
		"                     default comch_shm\n"
		"  --rep-addr ADDR    what follows the name of each representor: @10.0.0.2\n"
		"  --patience N       wait N times longer before anything is called a hang\n"
		"  --fewer N          repeat things N times less often\n\n"
		"-GROUP and -GROUP/CASE, after --, leave cases out. Exit status: 0, 1 if a case\n"
		"failed or none was run, 2 for wrong arguments.\n");
}

/* Its first line says where it listens. */
static bool
read_address(int fd)
{
	static const char before[] = "comch-agent: listening at ";
	FILE *f = fdopen(fd, "r");
	char line[256];
	bool good;

	if (f == NULL)
		return false;
	good = fgets(line, sizeof(line), f) != NULL &&
		strncmp(line, before, strlen(before)) == 0;
	if (good)
		snprintf(spawned_at, sizeof(spawned_at), "%.*s",
			(int)strcspn(line + strlen(before), "\n"), line + strlen(before));
	fclose(f);
	return good;
}

static const char *
spawn(const char *program)
{
	int p[2];

	if (pipe(p) != 0)
		T_FAIL("pipe: %s", strerror(errno));
	spawned = fork();
	if (spawned < 0)
		T_FAIL("fork: %s", strerror(errno));
	if (spawned == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(p[1], STDOUT_FILENO);
		close(p[0]);
		close(p[1]);
		execl(program, program, "--listen", "127.0.0.1:0", (char *)NULL);
		fprintf(stderr, "%s: %s\n", program, strerror(errno));
		_exit(1);
	}
	close(p[1]);
	if (!read_address(p[0]))
		T_FAIL("%s does not say where it listens", program);
	return spawned_at;
}

bool
conf_agent_spawned_end(void)
{
	int status = 0;

	if (spawned <= 0)
		return true;
	kill(spawned, SIGTERM);
	return waitpid(spawned, &status, 0) == spawned && status == 0;
}

/* The driver's name is before the first comma, its keys are behind it. */
static const char *
name_of(const char *dev, const char *keys_env)
{
	const char *comma = strchr(dev, ',');

	if (comma == NULL)
		return dev;
	setenv(keys_env, comma + 1, 1);
	return strndup(dev, (size_t)(comma - dev));
}

static int
unknown_driver(const char *name)
{
	fprintf(stderr, "conformance-agent: driver %s: expected %s or %s\n", name,
			conf_driver_shm.name, conf_driver_mlx5.name);
	return -1;
}

static int
set_driver(struct conf_agent_options *opt, const char *dpu_dev, const char *host_dev)
{
	const char *dpu = name_of(dpu_dev, "T_KEYS_DPU");
	const char *host = name_of(host_dev, "T_KEYS_HOST");

	if (strcmp(dpu, host) != 0) {
		fprintf(stderr, "conformance-agent: %s and %s are different drivers\n", dpu,
				host);
		return -1;
	}
	if (strcmp(dpu, conf_driver_shm.name) == 0)
		opt->driver = conf_driver_shm;
	else if (strcmp(dpu, conf_driver_mlx5.name) == 0)
		opt->driver = conf_driver_mlx5;
	else
		return unknown_driver(dpu);
	return 0;
}

static const char *rep_addr;

static void
add_rep_addr(char *buf, size_t size, const char *args)
{
	t_args_rep_addr(buf, size, args, rep_addr);
}

static int
set_role(struct conf_agent_options *opt, const char *far_end)
{
	if (strcmp(far_end, "dpu") != 0 && strcmp(far_end, "host") != 0) {
		fprintf(stderr, "conformance-agent: --far %s: expected dpu or host\n", far_end);
		return -1;
	}
	opt->far_role = far_end[0] == 'd' ? RTE_COMCH_ROLE_DPU : RTE_COMCH_ROLE_HOST;
	return 0;
}

int
conf_agent_options(struct conf_agent_options *opt, int argc, char **argv)
{
	static const struct option options[] = {
		{ "agent", required_argument, NULL, 'a' },
		{ "spawn", required_argument, NULL, 's' },
		{ "far", required_argument, NULL, 'f' },
		{ "dpu-dev", required_argument, NULL, 'd' },
		{ "host-dev", required_argument, NULL, 'o' },
		{ "rep-addr", required_argument, NULL, 'r' },
		{ "patience", required_argument, NULL, 'p' },
		{ "fewer", required_argument, NULL, 'w' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	const char *arg[128] = { ['f'] = "dpu", ['d'] = "comch_shm", ['o'] = "comch_shm" };
	int c;

	while ((c = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		if (c == 'h' || c == '?') {
			usage(c == 'h' ? stdout : stderr);
			exit(c == 'h' ? 0 : 2);
		}
		arg[c] = optarg;
	}
	memset(opt, 0, sizeof(*opt));
	if (set_driver(opt, arg['d'], arg['o']) != 0 || set_role(opt, arg['f']) != 0)
		return -1;
	rep_addr = arg['r'];
	if (rep_addr != NULL)
		opt->driver.args = add_rep_addr;
	if (arg['p'] != NULL)
		setenv("T_PATIENCE", arg['p'], 1);
	if (arg['w'] != NULL)
		setenv("T_FEWER", arg['w'], 1);
	opt->agent = arg['a'] != NULL ? arg['a'] : getenv("COMCH_AGENT");
	if (arg['s'] != NULL)
		opt->agent = spawn(arg['s']);
	return optind;
}
