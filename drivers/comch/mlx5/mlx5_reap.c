/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * What comes back to a sending end: the consumer's posts and completions of sends.
 *
 * After a failure, no completion decides the messages that are open. While the link is
 * UP the consumer has stopped, and CONSUMER_GONE brings its final position. Messages
 * complete only after the device has flushed all work requests: then it reads no
 * payload any more.
 */

#include <errno.h>

#include "mlx5_send.h"
#include "sdk/comch_peer.h"

/* How long a queue pair may take to flush before it is destroyed. */
#define KILL_MS 2

/* Posts */

/* Check a post. Returns why it is invalid, or NULL. */
static const char *
check_post(const struct mlx5_remote *r, const struct mlx5_post_hdr *peer_hdr, uint32_t len)
{
	uint32_t gained = peer_hdr->taken - r->taken;

	if (peer_hdr->count > MLX5_POST_MAX ||
			len != sizeof(*peer_hdr) + peer_hdr->count * sizeof(struct comch_desc))
		return "peer's post has an invalid length";
	if (peer_hdr->first != r->post->tail)
		return "peer's post does not follow its last post";
	/* Positions below claim were received, so that their buffers can be posted again. */
	if (peer_hdr->first + peer_hdr->count - r->claim > r->to.base.depth)
		return "peer posted more buffers than its consumer's depth";
	if (gained > r->nb_pieces - r->taken)
		return "peer took more pieces than were sent";
	if (peer_hdr->count == 0 && gained == 0)
		return "peer's post is empty";
	return NULL;
}

/* Apply a post to the private copy of the descriptors. Returns why it is invalid. */
static const char *
apply_post(struct mlx5_remote *r, const uint8_t *slot_shared, uint32_t len)
{
	struct mlx5_post_hdr peer_hdr;
	uint64_t pos = r->post->tail;
	const char *invalid;
	uint32_t i, n;

	if (len < sizeof(peer_hdr))
		return "peer's post is shorter than its header";
	peer_copy(&peer_hdr, slot_shared, sizeof(peer_hdr));
	invalid = check_post(r, &peer_hdr, len);
	if (invalid != NULL)
		return invalid;
	n = peer_hdr.count;
	for (i = 0; i < n; i++)
		peer_copy(&r->post->desc[(pos + i) & r->to.mask],
			slot_shared + sizeof(peer_hdr) + i * sizeof(struct comch_desc),
			sizeof(struct comch_desc));
	r->taken = peer_hdr.taken;
	/*
	 * Release: pairs with comch_send_posted() and mlx5_remote_has_posts().
	 * Model: ring.pml, post.
	 */
	comch_store_release(&r->post->tail, pos + n);
	return NULL;
}

/* Only the first violation counts. */
static void
on_post(struct mlx5_remote *r, const struct ibv_wc *wc)
{
	const char *invalid = NULL;

	if (!r->is_broken)
		invalid = apply_post(r, mlx5_qp_slot(&r->qp, wc), wc->byte_len);
	if (invalid != NULL) {
		r->is_broken = true;
		mlx5_link_fault(r->data->link, -EPROTO, invalid);
	}
	mlx5_qp_repost(&r->qp, wc->wr_id);
}

/* Completions */

void
mlx5_remote_add(struct mlx5_remote *r, struct mlx5_prod *p, const struct rte_comch_op *op,
		bool copied)
{
	struct mlx5_work *w = &r->work[r->claim & r->to.mask];

	*w = (struct mlx5_work){
		.prod = p, .len = op->len, .has_imm = op->imm_len > 0,
	};
	if ((op->flags & RTE_COMCH_OP_F_SILENT) == 0)
		w->done = comch_done_put(&p->tx.done, op, COMCH_DONE_OPEN, copied);
	__atomic_fetch_add(&p->in_flight, 1, __ATOMIC_RELAXED);
	r->claim++;
}

/* Counters of a producer: several remotes may complete messages of one at a time. */
static void
count(uint64_t *counter, uint64_t n)
{
	if (n > 0)
		__atomic_fetch_add(counter, n, __ATOMIC_RELAXED);
}

/* n messages of p are not in flight any more. The last access to p. */
static void
land(struct mlx5_prod *p, uint32_t n)
{
	/*
	 * Before the decrement, after which a stopped producer may be freed.
	 * Model: publish.pml, find.
	 */
	if (unlikely(comch_load_acquire(&p->tx.halt) != RTE_COMCH_HALT_NONE) &&
			comch_load_relaxed(&p->in_flight) == n)
		p->dq.base.idle_cb(p->dq.base.ctx);
	/* Release: pairs with the acquires in mlx5_prod.c. Model: done.pml, land. */
	__atomic_fetch_sub(&p->in_flight, n, __ATOMIC_RELEASE);
}

/* Complete messages of one producer, from r->completed on. */
static void
complete_run(struct mlx5_remote *r, uint64_t end, int status)
{
	struct mlx5_prod *p = r->work[r->completed & r->to.mask].prod;
	uint64_t msgs = 0, bytes = 0, imms = 0;
	const struct mlx5_work *w;
	uint32_t n = 0;
	int ret;

	for (; r->completed != end; r->completed++) {
		w = &r->work[r->completed & r->to.mask];
		if (w->prod != p)
			break;
		if (p == NULL)
			continue;
		n++;
		ret = status != 0 ? status : w->status;
		if (ret == 0) {
			msgs++;
			bytes += w->len;
			imms += w->has_imm;
		}
		if (w->done != NULL)
			comch_done_close(w->done, ret);
	}
	if (n == 0)
		return;
	count(&p->tx.stats.msgs, msgs);
	count(&p->tx.stats.bytes, bytes);
	count(&p->tx.stats.imm_msgs, imms);
	if (unlikely(msgs != n))
		__atomic_fetch_add(&p->late_errors, (uint32_t)(n - msgs), __ATOMIC_RELAXED);
	land(p, n);
}

static void
complete(struct mlx5_remote *r, uint64_t end, int status)
{
	while (r->completed != end)
		complete_run(r, end, status);
}

/* Failures that a correct peer never causes, even while its consumer stops. */
static bool
is_violation(enum ibv_wc_status status)
{
	return status == IBV_WC_REM_ACCESS_ERR || status == IBV_WC_REM_INV_REQ_ERR ||
		status == IBV_WC_LOC_LEN_ERR;
}

static void
on_failure(struct mlx5_remote *r, const struct ibv_wc *wc)
{
	if (!is_violation(wc->status) || r->is_broken ||
			comch_load_relaxed(&r->peer_halted) || comch_load_relaxed(&r->is_retired))
		return;
	r->is_broken = true;
	mlx5_link_fault(r->data->link, -EPROTO, mlx5_qp_status_text(wc->status));
}

static void
on_completion(struct mlx5_remote *r, const struct ibv_wc *wc)
{
	if (unlikely(wc->status != IBV_WC_SUCCESS))
		on_failure(r, wc);
	else if (mlx5_qp_is_recv(wc))
		on_post(r, wc);
	else
		complete(r, r->wr_pos[mlx5_qp_send_number(wc) & r->wr_mask], 0);
}

/* Complete what a failure left open, once the reason is known and nothing is read. */
static void
settle(struct mlx5_remote *r)
{
	/* Pairs with mlx5_remote_retire(). Model: publish.pml, find. */
	bool is_retired = comch_load_acquire(&r->is_retired);

	if (likely(!comch_load_acquire(&r->qp.is_err)) || !mlx5_qp_is_flushed(&r->qp) ||
			(!is_retired && !comch_load_acquire(&r->is_down))) /* publish.pml, find */
		return;
	mlx5_stream_drop(r);
	if (is_retired && r->final - r->completed <= r->claim - r->completed)
		complete(r, r->final, 0);
	complete(r, r->claim, is_retired ? -ENOENT : -ECONNRESET);
}

void
mlx5_remote_reap(struct mlx5_remote *r)
{
	const struct ibv_wc *wc = NULL;
	uint32_t i;

	if (unlikely(r->is_killed))
		return;
	for (i = 0; i < MLX5_REAP_MAX; i++) {
		wc = mlx5_qp_next(&r->qp);
		if (wc == NULL)
			break;
		on_completion(r, wc);
	}
	if (unlikely(r->stream.prod != NULL)) {
		mlx5_stream_push(r);
		mlx5_remote_flush(r, true);
	}
	if (unlikely(wc == NULL))
		settle(r);
}

void
mlx5_remote_kill(struct mlx5_remote *r)
{
	uint64_t end = mlx5_dev_now_ms() + KILL_MS;

	if (r->is_killed)
		return;
	/* Pairs with settle(). Model: publish.pml, publish. */
	if (!comch_load_relaxed(&r->is_retired))
		comch_store_release(&r->is_down, true);
	mlx5_qp_error(&r->qp);
	do
		mlx5_remote_reap(r);
	while (r->completed != r->claim && !mlx5_qp_is_flushed(&r->qp) &&
		mlx5_dev_now_ms() < end);
	/* Without messages in flight no payload is read: the helper thread may destroy it. */
	if (r->completed != r->claim && !mlx5_qp_is_flushed(&r->qp)) {
		mlx5_qp_destroy_now(&r->qp);
		r->qp.tx_head = r->qp.tx_posted;
	}
	settle(r);
	r->is_killed = true;
}

bool
mlx5_remote_give_up(struct mlx5_remote *r, struct mlx5_prod *p)
{
	struct mlx5_work *w;
	uint32_t n = 0;
	uint64_t pos;

	if (!comch_load_relaxed(&r->peer_halted) && !comch_load_relaxed(&r->is_retired))
		return false;
	if (r->is_killed)
		return true;
	mlx5_qp_error(&r->qp);
	mlx5_remote_reap(r);
	if (!mlx5_qp_is_flushed(&r->qp))
		return true;
	mlx5_stream_drop(r);
	for (pos = r->completed; pos != r->claim; pos++) {
		w = &r->work[pos & r->to.mask];
		if (w->prod != p)
			continue;
		if (w->done != NULL)
			comch_done_close(w->done, p->abort_err);
		w->prod = NULL;
		n++;
	}
	if (n == 0)
		return true;
	__atomic_fetch_add(&p->late_errors, n, __ATOMIC_RELAXED);
	land(p, n);
	return true;
}

/* Work requests */

void
mlx5_remote_flush(struct mlx5_remote *r, bool signal)
{
	uint64_t end = r->claim - (r->stream.prod != NULL);

	if (r->qp.nb_chain == 0)
		return;
	/* Before silent messages fill the ring of positions, one must ask. */
	signal |= end - r->signalled >= RTE_MAX(r->to.base.depth / 4, UINT32_C(1));
	/* A failure shows in is_err, and settle() decides. */
	(void)mlx5_qp_flush(&r->qp, signal);
	if (r->qp.tx_signalled == r->qp.tx_tail)
		r->signalled = end;
}

/* An empty RDMA WRITE reads and writes nothing, and needs no receive slot. */
void
mlx5_remote_sync(struct mlx5_remote *r)
{
	const struct ibv_sge none = { 0 };
	uint64_t number;

	if (r->signalled == r->claim || r->stream.prod != NULL || r->is_killed ||
			mlx5_remote_is_err(r) || mlx5_qp_tx_room(&r->qp) == 0)
		return;
	number = mlx5_qp_write(&r->qp, &none, 0, 0, 0);
	r->wr_pos[number & r->wr_mask] = r->claim;
	mlx5_remote_flush(r, true);
}
