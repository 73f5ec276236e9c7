/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Processes of doca_comm_channel of DOCA 1.2 to 1.4: other functions, ends, kills. */

#include <stdlib.h>
#include <sys/mman.h>

#include <doca_comm_channel.h>

#include "comm_channel/endpoint_102.h"
#include "common/file.h"
#include "common/result.h"
#include "t_main.h"
#include "t_proc.h"

#define NAME "t102"
#define NB 100
#define EP struct doca_comm_channel_ep_t
#define ADDR struct doca_comm_channel_addr_t

/* A table of its own, where the first function is another. */
static void
table_write(const char *file, const char *functions)
{
	char text[256];

	snprintf(text, sizeof(text), "[device dpu0]\npci = 0000:03:00.0\n%s", functions);
	file_write(file, text);
}

#define PF0 "[function pf0]\npci = 0000:b1:00.0\n"
#define PF1 "[function pf1]\npci = 0000:b1:00.1\n"

static EP *
create(const char *role, const char *file)
{
	char path[256];

	setenv("COMCH_ROLE", role, 1);
	if (file != NULL) {
		snprintf(path, sizeof(path), "%s/%s", t_dir(), file);
		setenv("COMCH_DEVICES", path, 1);
	}
	return endpoint_102_create(128, 0);
}

/* Each client has a function; its file and its number. */
struct place {
	const char *file;
	uint32_t number;
};

static int
placed_client(int fd, void *arg)
{
	const struct place *p = arg;
	EP *ep = create("host", p->file);
	ADDR *peer;

	T_OK(doca_comm_channel_ep_connect(ep, NAME, &peer));
	endpoint_102_send_number(ep, peer, p->number);
	T_EQ(endpoint_102_recv_number(ep, &peer), p->number + 10);
	t_say(fd, 'D', 0);
	t_hear(fd, 'Q');
	T_OK(doca_comm_channel_ep_destroy(ep));
	return 0;
}

static int
placed_service(int fd, void *arg __rte_unused)
{
	struct doca_comm_channel_peer_addr_info info[2];
	EP *ep = create("dpu", "all.ini");
	ADDR *peer[2], *from;
	uint32_t i, n;

	T_OK(doca_comm_channel_ep_listen(ep, NAME));
	t_say(fd, 'R', 0);
	for (i = 0; i < 2; i++) {
		n = endpoint_102_recv_number(ep, &from);
		T_LT(n, 2);
		peer[n] = from;
	}
	T_CHECK(peer[0] != peer[1]);
	for (i = 0; i < 2; i++) {
		endpoint_102_send_number(ep, peer[i], i + 10);
		T_OK(doca_comm_channel_peer_addr_info_get(peer[i], &info[i]));
	}
	T_NE(info[0].vport, info[1].vport);
	t_hear(fd, 'Q');
	T_OK(doca_comm_channel_ep_destroy(ep));
	return 0;
}

/* behaviour: L28, L36 */
T_CASE(functions)
{
	struct place places[2] = { { "zero.ini", 0 }, { "one.ini", 1 } };
	struct t_proc service, client[2];
	unsigned int i;

	table_write("all.ini", PF0 PF1);
	table_write("zero.ini", PF0 PF1);
	table_write("one.ini", PF1 PF0);
	setenv("COMCH_DIR", t_dir(), 1);
	t_proc_start(&service, "service", placed_service, NULL);
	t_hear(service.fd, 'R');
	for (i = 0; i < 2; i++)
		t_proc_start(&client[i], "client", placed_client, &places[i]);
	for (i = 0; i < 2; i++) {
		t_hear(client[i].fd, 'D');
		t_say(client[i].fd, 'Q', 0);
		t_proc_join(&client[i]);
	}
	t_say(service.fd, 'Q', 0);
	t_proc_join(&service);
}

/* In memory that both share: the client's destroy has returned. */
static uint32_t *destroyed;

static int
leaving_client(int fd, void *arg __rte_unused)
{
	EP *ep = create("host", NULL);
	ADDR *peer;
	uint32_t i;

	T_OK(doca_comm_channel_ep_connect(ep, NAME, &peer));
	for (i = 0; i < NB; i++)
		endpoint_102_send_number(ep, peer, i);
	t_say(fd, 'S', 0);
	T_OK(doca_comm_channel_ep_destroy(ep));
	__atomic_store_n(destroyed, 1, __ATOMIC_RELEASE);
	return 0;
}

static int
counting_service(int fd, void *arg __rte_unused)
{
	EP *ep = create("dpu", NULL);
	ADDR *peer;
	uint32_t i;

	T_OK(doca_comm_channel_ep_listen(ep, NAME));
	t_say(fd, 'R', 0);
	T_EQ(endpoint_102_recv_number(ep, &peer), 0);
	/* The client has sent all, and is about to end. */
	t_hear(fd, 'S');
	for (i = 1; i < NB; i++) {
		T_EQ(__atomic_load_n(destroyed, __ATOMIC_ACQUIRE), 0);
		T_EQ(endpoint_102_recv_number(ep, &peer), i);
	}
	T_OK(doca_comm_channel_ep_destroy(ep));
	return 0;
}

/* The end waits until all was received. behaviour: L22 */
T_CASE(destroy_waits)
{
	struct t_proc service, client;

	destroyed = mmap(NULL, sizeof(*destroyed), PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	T_CHECK(destroyed != MAP_FAILED);
	t_proc_start(&service, "service", counting_service, NULL);
	t_hear(service.fd, 'R');
	t_proc_start(&client, "client", leaving_client, NULL);
	t_hear(client.fd, 'S');
	t_say(service.fd, 'S', 0);
	t_proc_join(&service);
	t_proc_join(&client);
}

static int
doomed(int fd, void *arg)
{
	bool is_service = arg != NULL;
	EP *ep = create(is_service ? "dpu" : "host", NULL);
	ADDR *peer;

	if (is_service) {
		T_OK(doca_comm_channel_ep_listen(ep, NAME));
		t_say(fd, 'R', 0);
		endpoint_102_recv_number(ep, &peer);
	} else {
		T_OK(doca_comm_channel_ep_connect(ep, NAME, &peer));
		endpoint_102_send_number(ep, peer, 1);
	}
	t_hear(fd, 'N');
	return 0;
}

/* Waits for room, or a message, of one that is not there any more. */
static int
client_waits(int fd, void *arg)
{
	const bool sends = arg != NULL;
	EP *ep = create("host", NULL);
	uint32_t i = 0, got;
	doca_error_t ret;
	size_t len;
	ADDR *peer;

	T_OK(doca_comm_channel_ep_connect(ep, NAME, &peer));
	endpoint_102_send_number(ep, peer, 1);
	t_say(fd, 'W', 0);
	do {
		len = sizeof(got);
		ret = sends ? doca_comm_channel_ep_sendto(ep, &i, sizeof(i), 0, peer) :
			doca_comm_channel_ep_recvfrom(ep, &got, &len, 0, &peer);
	} while (ret == DOCA_SUCCESS);
	T_IS(ret, DOCA_ERROR_CONNECTION_RESET);
	T_OK(doca_comm_channel_ep_destroy(ep));
	return 0;
}

static int
service_waits(int fd, void *arg __rte_unused)
{
	EP *ep = create("dpu", NULL);
	doca_error_t ret;
	ADDR *peer;

	T_OK(doca_comm_channel_ep_listen(ep, NAME));
	t_say(fd, 'R', 0);
	T_EQ(endpoint_102_recv_number(ep, &peer), 1);
	t_say(fd, 'W', 0);
	do {
		ret = doca_comm_channel_ep_sendto(ep, "x", 1, 0, peer);
	} while (ret == DOCA_SUCCESS);
	T_IS(ret, DOCA_ERROR_CONNECTION_RESET);
	T_OK(doca_comm_channel_ep_disconnect(ep, peer));
	T_OK(doca_comm_channel_ep_destroy(ep));
	return 0;
}

/* behaviour: L26, L33 */
T_CASE(killed)
{
	struct t_proc service, client;
	unsigned int i;
	char yes;

	for (i = 0; i < 4; i++) {
		t_proc_start(&service, "service", doomed, &yes);
		t_hear(service.fd, 'R');
		t_proc_start(&client, "client", client_waits, i % 2 == 0 ? NULL : &yes);
		t_hear(client.fd, 'W');
		t_proc_kill(&service);
		t_proc_join(&client);
	}
	for (i = 0; i < 2; i++) {
		t_proc_start(&service, "service", service_waits, NULL);
		t_hear(service.fd, 'R');
		t_proc_start(&client, "client", doomed, NULL);
		t_hear(service.fd, 'W');
		t_proc_kill(&client);
		t_proc_join(&service);
	}
}
