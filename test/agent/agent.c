/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Sessions of comch-agent: see agent.h. */

#include <getopt.h>
#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent.h"

/** How long sessions may take to end, s. */
#define END_SECONDS 20
/** As many descriptors as a run asks for at most. */
#define AGENT_FILES 20000

static volatile sig_atomic_t is_over;
static unsigned int nb_sessions;
static bool failed;

static const agent_handler *const tables[] = {
	agent_dev_calls, agent_obj_calls, agent_poll_calls, agent_data_calls,
	agent_mem_calls, agent_pool_calls,
};

static agent_handler
handler_of(uint32_t call)
{
	unsigned int i;

	for (i = 0; i < RTE_DIM(tables); i++)
		if (tables[i][call] != NULL)
			return tables[i][call];
	T_FAIL("call %u has no handler", call);
}

/* The first frame: both sides identify themselves. */
static bool
greet(struct wire *w)
{
	struct wire_hello theirs, ours;

	if (!wire_recv(w))
		return false;
	if (w->call != CALL_HELLO)
		T_FAIL("%s: expected a hello, got call %u", w->peer, w->call);
	wire_get(w, &theirs, sizeof(theirs));
	wire_hello_fill(&ours);
	ours.wake_port = agent_wake_listen(w->fd);
	wire_reply(w, wire_hello_match(&ours, &theirs) ? 0 : -EPROTO);
	wire_put(w, &ours, sizeof(ours));
	wire_send(w);
	if (!wire_hello_match(&ours, &theirs))
		T_FAIL("%s: built from another version, or with another layout", w->peer);
	return true;
}

static int
serve(int fd, const char *peer)
{
	struct wire w;

	wire_init(&w, fd, peer);
	if (!greet(&w))
		return 0;
	t_nofile_set(AGENT_FILES);
	t_eal_start(1);
	while (agent_wait(fd) && wire_recv(&w)) {
		handler_of(w.call)(&w);
		if (w.call != CALL_MEM_WRITE)
			wire_send(&w);
	}
	wire_close(&w);
	t_eal_stop();
	return 0;
}

/* "ADDRESS:PORT" or "PORT"; port 0: any. */
static int
listen_at(const char *where)
{
	const struct addrinfo hints = { .ai_family = AF_INET, .ai_socktype = SOCK_STREAM,
		.ai_flags = AI_PASSIVE };
	const char *colon = strrchr(where, ':');
	struct addrinfo *ai;
	char host[256];
	int fd, rc, one = 1;

	snprintf(host, sizeof(host), "%.*s", colon == NULL ? 0 : (int)(colon - where), where);
	rc = getaddrinfo(host[0] == '\0' ? "127.0.0.1" : host, colon == NULL ? where : colon + 1,
			&hints, &ai);
	if (rc != 0)
		T_FAIL("%s: %s", where, gai_strerror(rc));
	fd = socket(ai->ai_family, ai->ai_socktype | SOCK_CLOEXEC, 0);
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) != 0 ||
			bind(fd, ai->ai_addr, ai->ai_addrlen) != 0 || listen(fd, 8) != 0)
		T_FAIL("listen at %s: %s", where, strerror(errno));
	freeaddrinfo(ai);
	return fd;
}

static void
address_of(const struct sockaddr *sa, socklen_t len, char *buf, size_t size)
{
	char host[64], port[16];

	if (getnameinfo(sa, len, host, sizeof(host), port, sizeof(port),
			NI_NUMERICHOST | NI_NUMERICSERV) != 0)
		T_FAIL("getnameinfo");
	snprintf(buf, size, "%s:%s", host, port);
}

static void
say_ready(int fd)
{
	struct sockaddr_storage sa;
	socklen_t len = sizeof(sa);
	char text[96];

	if (getsockname(fd, (struct sockaddr *)&sa, &len) != 0)
		T_FAIL("getsockname: %s", strerror(errno));
	address_of((struct sockaddr *)&sa, len, text, sizeof(text));
	printf("comch-agent: listening at %s\n", text);
	fflush(stdout);
}

/* A session has the signals of any program. */
static void
unblock(void)
{
	sigset_t none;

	signal(SIGCHLD, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Session after session; several may run at once. */
static void
accept_one(int lfd)
{
	struct sockaddr_storage sa;
	socklen_t len = sizeof(sa);
	char peer[96];
	int fd;

	fd = accept4(lfd, (struct sockaddr *)&sa, &len, SOCK_CLOEXEC);
	if (fd < 0) {
		if (errno != EINTR)
			fprintf(stderr, "comch-agent: accept: %s\n", strerror(errno));
		return;
	}
	address_of((struct sockaddr *)&sa, len, peer, sizeof(peer));
	switch (fork()) {
	case 0:
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		unblock();
		close(lfd);
		fprintf(stderr, "comch-agent: session %d for %s\n", (int)getpid(), peer);
		exit(serve(fd, peer));
	case -1:
		fprintf(stderr, "comch-agent: fork: %s\n", strerror(errno));
		break;
	default:
		nb_sessions++;
	}
	close(fd);
}

/* Sessions that have ended; all, if the agent is to end. */
static void
reap(void)
{
	int status;
	pid_t pid;

	while (nb_sessions > 0 && (pid = waitpid(-1, &status, is_over ? 0 : WNOHANG)) > 0) {
		nb_sessions--;
		if (status == 0)
			continue;
		fprintf(stderr, "comch-agent: session %d ended with status %#x\n", (int)pid,
				(unsigned int)status);
		failed = true;
	}
}

static void
on_signal(int sig)
{
	is_over = is_over || sig == SIGTERM;
}

/* SIGCHLD and SIGTERM interrupt nothing but the wait for the next session. */
static void
serve_all(int lfd)
{
	const struct sigaction sa = { .sa_handler = on_signal };
	struct pollfd fd = { .fd = lfd, .events = POLLIN };
	sigset_t set, none;

	sigemptyset(&none);
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	sigaction(SIGCHLD, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	while (!is_over) {
		if (ppoll(&fd, 1, NULL, &none) > 0)
			accept_one(lfd);
		reap();
	}
	/* Their runs are over, too. SIGALRM ends us, and with us any that hangs. */
	alarm(END_SECONDS);
	reap();
}

int
main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "listen", required_argument, NULL, 'l' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	const char *where = "127.0.0.1:0";
	int c, lfd;

	while ((c = getopt_long(argc, argv, "l:h", options, NULL)) != -1) {
		if (c != 'l') {
			printf("usage: comch-agent [--listen [ADDRESS:]PORT]\n"
				"The far end of conformance-agent; the default is any port of"
				" 127.0.0.1.\nIt does whatever its peer says: for networks of"
				" tests only.\n");
			return c == 'h' ? 0 : 2;
		}
		where = optarg;
	}
	lfd = listen_at(where);
	say_ready(lfd);
	serve_all(lfd);
	return failed ? 1 : 0;
}
