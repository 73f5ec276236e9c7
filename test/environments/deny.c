/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Run a program whose calls of some system calls fail, as a container's filter has it.
 *
 * usage: environment_deny EPERM|ENOSYS CALL... -- PROGRAM [ARGUMENT...]
 */

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#define MAX_CALLS 64
#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452
#endif

#define CALL(name) { #name, SYS_##name }
static const struct {
	const char *name;
	uint32_t nr;
} calls[] = {
	CALL(add_key), CALL(bpf), CALL(close_range), CALL(fchmodat2), CALL(get_mempolicy),
	CALL(io_uring_setup), CALL(kcmp), CALL(keyctl), CALL(mbind), CALL(membarrier),
	CALL(memfd_create), CALL(mount), CALL(move_pages), CALL(name_to_handle_at),
	CALL(open_by_handle_at), CALL(openat2), CALL(perf_event_open), CALL(ptrace),
	CALL(set_mempolicy), CALL(setns), CALL(umount2), CALL(unshare), CALL(userfaultfd),
};

static uint32_t
number_of(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (strcmp(calls[i].name, name) == 0)
			return calls[i].nr;
	fprintf(stderr, "environment_deny: unknown call %s\n", name);
	exit(2);
}

/* Each call is compared in turn; the filter's last two instructions allow and refuse. */
static unsigned short
make_filter(struct sock_filter *f, char **names, unsigned int nb, uint32_t err)
{
	unsigned short n = 0;
	unsigned int i;

	f[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
		offsetof(struct seccomp_data, nr));
	for (i = 0; i < nb; i++)
		f[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
			number_of(names[i]), (uint8_t)(nb - i), 0);
	f[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	f[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | err);
	return n;
}

int
main(int argc, char **argv)
{
	struct sock_filter filter[MAX_CALLS + 3];
	struct sock_fprog prog = { .filter = filter };
	int nb = 0;

	while (2 + nb < argc && strcmp(argv[2 + nb], "--") != 0)
		nb++;
	if (nb == 0 || nb > MAX_CALLS || 3 + nb >= argc) {
		fprintf(stderr, "usage: environment_deny EPERM|ENOSYS CALL... -- PROGRAM...\n");
		return 2;
	}
	prog.len = make_filter(filter, argv + 2, (unsigned int)nb,
		strcmp(argv[1], "ENOSYS") == 0 ? ENOSYS : EPERM);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
			prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog) != 0) {
		perror("environment_deny: prctl");
		return 2;
	}
	execvp(argv[3 + nb], argv + 3 + nb);
	perror(argv[3 + nb]);
	return 2;
}
