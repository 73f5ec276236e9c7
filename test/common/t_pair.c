/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

#include "t_pair.h"

const struct t_driver *t_driver;

/* Append to a device string; one that is too long is an error of the test. */
static void
append(char *buf, size_t size, const char *sep, const char *text)
{
	const size_t len = strlen(buf);

	if (text == NULL || text[0] == '\0')
		return;
	if ((size_t)snprintf(buf + len, size - len, "%s%s", sep, text) >= size - len)
		T_FAIL("device string %s is too long", buf);
}

static void
find_place(const char *func, const char *suffix, glob_t *found)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s/*.%s", t_dir(), func, suffix);
	T_EQ(glob(path, 0, NULL, found), 0);
}

void
t_place_lose(const char *func, const char *suffix)
{
	glob_t found;
	size_t i;

	find_place(func, suffix, &found);
	for (i = 0; i < found.gl_pathc; i++)
		T_EQ(unlink(found.gl_pathv[i]), 0);
	globfree(&found);
}

/* The lock of another server. */
static int taken = -1;

void
t_place_take(const char *func, const char *name __rte_unused)
{
	char path[PATH_MAX];
	glob_t found;

	find_place(func, "lock", &found);
	T_EQ(found.gl_pathc, 1);
	snprintf(path, sizeof(path), "%s.taken", found.gl_pathv[0]);
	taken = open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
	T_GE(taken, 0);
	T_EQ(flock(taken, LOCK_EX | LOCK_NB), 0);
	/* At once, or its server would have it again. */
	T_EQ(rename(path, found.gl_pathv[0]), 0);
	globfree(&found);
}

void
t_place_give_back(void)
{
	T_EQ(close(taken), 0);
	taken = -1;
}

void
t_args_rep_addr(char *buf, size_t size, const char *args, const char *addr)
{
	char copy[512], *key, *save = NULL;
	size_t len = 0;

	snprintf(copy, sizeof(copy), "%s", args);
	buf[0] = '\0';
	for (key = strtok_r(copy, ",", &save); key != NULL && len < size;
			key = strtok_r(NULL, ",", &save))
		len += (size_t)snprintf(buf + len, size - len, "%s%s%s", len > 0 ? "," : "", key,
			strncmp(key, "rep=", 4) == 0 ? addr : "");
}

const char *
t_dev_string(unsigned int number, const char *args)
{
	static __thread char buf[PATH_MAX];
	char own[PATH_MAX / 2];

	if (t_driver->args != NULL) {
		t_driver->args(own, sizeof(own), args);
		args = own;
	}
	snprintf(buf, sizeof(buf), "%s%u", t_driver->name, number);
	append(buf, sizeof(buf), ",", args);
	append(buf, sizeof(buf), ",", getenv("T_KEYS"));
	if (strstr(args, "role=dpu") != NULL)
		append(buf, sizeof(buf), ",", getenv("T_KEYS_DPU"));
	if (strstr(args, "role=host") != NULL)
		append(buf, sizeof(buf), ",", getenv("T_KEYS_HOST"));
	if (t_driver->has_dir)
		append(buf, sizeof(buf), ",dir=", t_dir());
	return buf;
}

int16_t
t_dev_open(unsigned int number, const char *args)
{
	int16_t dev = -1;
	int rc;

	rc = rte_comch_dev_probe(t_dev_string(number, args), &dev);
	if (rc != 0)
		T_FAIL("probe %s: %d", t_dev_string(number, args), rc);
	T_GE(dev, 0);
	return dev;
}

struct rte_comch_server *
t_server_new(struct t_node *node, int16_t dev, const char *name, uint16_t rep,
		const struct rte_comch_server_conf *base)
{
	struct rte_comch_server_conf conf = { 0 };
	struct rte_comch_server *server;

	if (base != NULL)
		conf = *base;
	conf.conf_size = sizeof(conf);
	conf.poll = node->poll;
	conf.name = name;
	conf.rep = rep;
	server = rte_comch_server_create(dev, &conf);
	if (server == NULL)
		T_FAIL("server_create: %s", strerror(rte_errno));
	t_born(server);
	T_EQ(rte_comch_server_start(server), 0);
	T_EQ(rte_comch_server_state(server), RTE_COMCH_STATE_RUNNING);
	return server;
}

struct rte_comch_client *
t_client_new(struct t_node *node, int16_t dev, const char *name,
		const struct rte_comch_client_conf *base)
{
	struct rte_comch_client_conf conf = { 0 };
	struct rte_comch_client *client;

	if (base != NULL)
		conf = *base;
	conf.conf_size = sizeof(conf);
	conf.poll = node->poll;
	conf.name = name;
	client = rte_comch_client_create(dev, &conf);
	if (client == NULL)
		T_FAIL("client_create: %s", strerror(rte_errno));
	t_born(client);
	return client;
}

void
t_pair_devs(struct t_pair *p, const struct t_pair_conf *conf)
{
	char args[256];

	memset(p, 0, sizeof(*p));
	p->dpu = t_node_new();
	p->host = t_node_new();
	snprintf(args, sizeof(args), "role=dpu,rep=pf0%s",
			conf == NULL || conf->dpu_args == NULL ? "" : conf->dpu_args);
	p->dpu_dev = t_dev_open(0, args);
	snprintf(args, sizeof(args), "role=host,func=pf0%s",
			conf == NULL || conf->host_args == NULL ? "" : conf->host_args);
	p->host_dev = t_dev_open(1, args);
	p->name = conf == NULL || conf->name == NULL ? T_NAME : conf->name;
}

void
t_pair_ends(struct t_pair *p, const struct t_pair_conf *conf)
{
	t_pair_devs(p, conf);
	p->server = t_server_new(p->dpu, p->dpu_dev, p->name, 0,
			conf == NULL ? NULL : &conf->server);
	p->client = t_client_new(p->host, p->host_dev, p->name,
			conf == NULL ? NULL : &conf->client);
}

void
t_pair_connect(struct t_pair *p)
{
	const unsigned int before = t_count(p->dpu, RTE_COMCH_EVENT_CONNECTED, NULL);
	const struct t_ev *ev;

	T_EQ(rte_comch_client_start(p->client), -EINPROGRESS);
	T_UNTIL(rte_comch_client_state(p->client) != RTE_COMCH_STATE_STARTING);
	if (rte_comch_client_state(p->client) != RTE_COMCH_STATE_RUNNING) {
		T_UNTIL(t_state_ev(p->host, p->client) != NULL);
		ev = t_state_ev(p->host, p->client);
		T_FAIL("connect: %d %s", ev->e.status, ev->text);
	}
	T_UNTIL(t_state_is(p->host, p->client, RTE_COMCH_STATE_RUNNING));
	T_UNTIL(t_count(p->dpu, RTE_COMCH_EVENT_CONNECTED, NULL) > before);
	p->cconn = rte_comch_client_conn(p->client);
	T_CHECK(p->cconn != NULL);
	ev = t_find(p->dpu, RTE_COMCH_EVENT_CONNECTED, NULL, before);
	p->sconn = ev->e.conn;
	T_CHECK(p->sconn != NULL);
}

void
t_pair_open(struct t_pair *p, const struct t_pair_conf *conf)
{
	t_pair_ends(p, conf);
	t_pair_connect(p);
	/* Tests look at what comes after. */
	t_forget(p->dpu);
	t_forget(p->host);
}

void
t_client_stop(struct rte_comch_client *client)
{
	enum rte_comch_state state = rte_comch_client_state(client);

	if (state == RTE_COMCH_STATE_RUNNING || state == RTE_COMCH_STATE_STARTING)
		T_EQ(rte_comch_client_stop(client), -EINPROGRESS);
	T_UNTIL(rte_comch_client_state(client) == RTE_COMCH_STATE_IDLE);
}

void
t_pair_disconnect(struct t_pair *p)
{
	if (p->client != NULL)
		t_client_stop(p->client);
	if (p->server != NULL)
		T_UNTIL(rte_comch_server_nb_conns(p->server) == 0);
	p->cconn = NULL;
	p->sconn = NULL;
}

void
t_client_end(struct rte_comch_client *client)
{
	if (client == NULL)
		return;
	t_client_stop(client);
	/* The STATE event too has to be out. */
	t_step_all();
	T_EQ(rte_comch_client_destroy(client), 0);
	t_step_all();
}

void
t_server_end(struct rte_comch_server *server)
{
	int rc;

	if (server == NULL)
		return;
	if (rte_comch_server_state(server) == RTE_COMCH_STATE_RUNNING) {
		rc = rte_comch_server_stop(server);
		if (rc != 0)
			T_EQ(rc, -EINPROGRESS);
	}
	T_UNTIL(rte_comch_server_state(server) == RTE_COMCH_STATE_IDLE);
	t_step_all();
	T_EQ(rte_comch_server_destroy(server), 0);
	t_step_all();
}

void
t_pair_close(struct t_pair *p)
{
	p->dpu->paused = false;
	p->host->paused = false;
	t_client_end(p->client);
	t_server_end(p->server);
	t_settle();
	T_EQ(rte_comch_dev_close(p->host_dev), 0);
	T_EQ(rte_comch_dev_close(p->dpu_dev), 0);
	t_node_free(p->host);
	t_node_free(p->dpu);
}

int32_t
t_peer_pid(const struct rte_comch_conn *conn)
{
	RTE_SET_USED(conn);
	return (int32_t)getpid();
}

bool
t_offer(struct rte_comch_conn *conn, const void *data, uint32_t len,
		uint64_t cookie, uint32_t flags)
{
	const struct rte_comch_msg msg = {
		.data = data, .len = len, .flags = flags, .cookie = cookie,
	};

	return rte_comch_conn_send_burst(conn, &msg, 1) == 1;
}

void
t_send(struct rte_comch_conn *conn, const void *data, uint32_t len, uint64_t cookie)
{
	T_CHECK(t_offer(conn, data, len, cookie, 0));
}
