/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Receive interrupts: the descriptor of a queue's poll, which the peer makes readable if
 * the poll is armed. The poll is run and armed with the queue's lock held.
 */

#include <errno.h>

#include <rte_interrupts.h>

#include "comch_ethdev.h"

static int
intr_fill(struct comch_port *port, struct rte_intr_handle *handle)
{
	const struct rte_eth_dev_data *data = port->dev->data;
	struct comch_rxq *rxq;
	uint16_t i;
	int fd;

	if (rte_intr_vec_list_alloc(handle, "net_comch", data->nb_rx_queues) != 0 ||
			rte_intr_type_set(handle, RTE_INTR_HANDLE_VDEV) != 0 ||
			/* The library empties the descriptor, not EAL. */
			rte_intr_efd_counter_size_set(handle, 0) != 0 ||
			rte_intr_nb_efd_set(handle, data->nb_rx_queues) != 0)
		return -ENOMEM;
	for (i = 0; i < data->nb_rx_queues; i++) {
		rxq = data->rx_queues[i];
		fd = rte_comch_poll_fd(rxq->poll, RTE_COMCH_POLL_ANY);
		if (fd < 0)
			return fd;
		if (rte_intr_efds_index_set(handle, i, fd) != 0 ||
				rte_intr_vec_list_index_set(handle, i,
					i + RTE_INTR_VEC_RXTX_OFFSET) != 0)
			return -ENOMEM;
	}
	rte_intr_max_intr_set(handle, data->nb_rx_queues + 1);
	return 0;
}

int
comch_ethdev_intr_open(struct comch_port *port)
{
	struct rte_intr_handle *handle;
	int ret;

	if (port->dev->data->dev_conf.intr_conf.rxq == 0)
		return 0;
	handle = rte_intr_instance_alloc(RTE_INTR_INSTANCE_F_PRIVATE);
	if (handle == NULL)
		return -ENOMEM;
	ret = intr_fill(port, handle);
	port->dev->intr_handle = handle;
	if (ret != 0)
		comch_ethdev_intr_close(port);
	return ret;
}

void
comch_ethdev_intr_close(struct comch_port *port)
{
	if (port->dev->intr_handle == NULL)
		return;
	rte_intr_vec_list_free(port->dev->intr_handle);
	rte_intr_instance_free(port->dev->intr_handle);
	port->dev->intr_handle = NULL;
}

int
comch_ethdev_intr_enable(struct rte_eth_dev *dev, uint16_t queue)
{
	struct comch_rxq *rxq = dev->data->rx_queues[queue];
	struct rte_comch_event events[4];
	int ret = -EINVAL;

	rte_spinlock_lock(&rxq->lock);
	if (rxq->poll != NULL) {
		/* Changes of state, which the control thread sees without them. */
		while (rte_comch_poll_run(rxq->poll, events, RTE_DIM(events)) > 0)
			;
		ret = rte_comch_poll_arm(rxq->poll, RTE_COMCH_POLL_RX);
		/* Something arrived already, or waits for an mbuf. */
		if (ret == -EAGAIN || (ret == 0 && rxq->bounce.nb_held > 0))
			ret = rte_comch_poll_notify(rxq->poll);
	}
	rte_spinlock_unlock(&rxq->lock);
	return ret;
}

int
comch_ethdev_intr_disable(struct rte_eth_dev *dev, uint16_t queue)
{
	struct comch_rxq *rxq = dev->data->rx_queues[queue];
	int ret = -EINVAL;

	rte_spinlock_lock(&rxq->lock);
	if (rxq->poll != NULL)
		ret = rte_comch_poll_clear(rxq->poll);
	rte_spinlock_unlock(&rxq->lock);
	return ret;
}
