/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * A program sends the export of a sync event over the channel, and waits for the event at once,
 * without another progress of its engine.
 */

#include <doca_sync_event.h>

#include "comch/pair.h"
#include "common/device.h"
#include "t_proc.h"

#define ALL UINT64_MAX

/* The host: a client. It waits for 7, and answers with 8. */
static int
host_main(int fd, void *arg)
{
	struct doca_sync_event *event;
	const uint8_t *data;
	struct side side;
	size_t len;

	RTE_SET_USED(arg);
	t_hear(fd, 'G');
	client_create(&side, PAIR_NAME);
	T_IS(doca_ctx_start(side.ctx), DOCA_ERROR_IN_PROGRESS);
	T_WAIT(doca_pe_progress(side.pe), ctx_is_running(side.ctx));
	T_OK(doca_sync_event_create(&event));
	T_OK(doca_sync_event_add_publisher_location_remote_pci(event));
	T_OK(doca_sync_event_add_subscriber_location_cpu(event, side.dev));
	T_OK(doca_sync_event_start(event));
	T_OK(doca_sync_event_export_to_remote_pci(event, side.dev, &data, &len));
	side_send(&side, data, (uint32_t)len);
	T_OK(doca_sync_event_wait_eq_yield(event, 7, ALL));
	T_OK(doca_sync_event_update_set(event, 8));
	/* The importer has let go of it. */
	t_hear(fd, 'X');
	T_OK(doca_sync_event_stop(event));
	T_OK(doca_sync_event_destroy(event));
	T_WAIT(doca_pe_progress(side.pe), side.nb_sent == 1);
	T_IS(doca_ctx_stop(side.ctx), DOCA_ERROR_IN_PROGRESS);
	T_WAIT(doca_pe_progress(side.pe), ctx_is_idle(side.ctx));
	side_destroy(&side);
	return 0;
}

T_CASE(an_export_is_sent_before_a_wait)
{
	struct doca_sync_event *event;
	struct t_proc host;
	struct side dpu;

	t_proc_start(&host, "host", host_main, NULL);
	server_create(&dpu, PAIR_NAME);
	T_OK(doca_ctx_start(dpu.ctx));
	t_say(host.fd, 'G', 0);
	T_WAIT(doca_pe_progress(dpu.pe), dpu.nb_msgs == 1);
	T_OK(doca_sync_event_create_from_export(dpu.dev, dpu.msg, dpu.msg_len, &event));
	T_OK(doca_sync_event_start(event));
	T_OK(doca_sync_event_update_set(event, 7));
	T_OK(doca_sync_event_wait_eq_yield(event, 8, ALL));
	T_OK(doca_sync_event_stop(event));
	T_OK(doca_sync_event_destroy(event));
	t_say(host.fd, 'X', 0);
	T_WAIT(doca_pe_progress(dpu.pe), dpu.nb_disconnects == 1);
	t_proc_join(&host);
	T_OK(doca_ctx_stop(dpu.ctx));
	side_destroy(&dpu);
}
