/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <poll.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "stranger.h"

#define PAYLOAD_LEN 8192
/* Looks for an answer: what a thread of the library does takes longer than a run. */
#define MAX_LOOKS 300

enum step {
	STEP_FRAME,      /* as an honest peer could send it */
	STEP_BAD_FRAME,  /* the same, with something wrong */
	STEP_BYTES,      /* a frame of the input's bytes */
	STEP_MSG,
	STEP_SOCKET,
	STEP_RING,       /* bytes into the ring of cells */
	STEP_POSITION,
	STEP_MADE,       /* bytes into a region of the fast path */
	STEP_RUN,
	STEP_APP,
	STEP_HANG_UP,
	NB_STEPS
};

static const struct t_driver driver_shm = {
	.name = "comch_shm", .has_dir = true, .has_kernel_peer = true,
};

void
stranger_init(void)
{
	t_driver = &driver_shm;
	fuzz_eal_start();
}

void
stranger_begin(struct stranger *s, struct t_node *node, const char *name, int sock)
{
	const struct fuzz_in in = s->in;

	memset(s, 0, sizeof(*s));
	s->in = in;
	s->name = name;
	app_begin(&s->app, node, &s->in);
	raw_prepare(&s->raw, sock, 1u << (4 + fuzz_u8(&s->in) % 5));
}

/* Memory */

static struct stranger_mem *
make(struct stranger *s, size_t len, unsigned int seals)
{
	struct stranger_mem *m;

	if (s->nb_made == RTE_DIM(s->made))
		return NULL;
	m = &s->made[s->nb_made++];
	m->wake[0] = m->wake[1] = -1;
	raw_mem_new(&m->mem, RTE_ALIGN_CEIL(len, (size_t)4096), MFD_ALLOW_SEALING, seals);
	return m;
}

static int
make_socket(struct stranger *s)
{
	struct stranger_mem *m;

	if (s->nb_made == RTE_DIM(s->made))
		return -1;
	m = &s->made[s->nb_made++];
	memset(m, 0, sizeof(*m));
	m->mem.fd = -1;
	T_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, m->wake), 0);
	return m->wake[1];
}

static void
made_free(struct stranger_mem *m)
{
	raw_mem_free(&m->mem);
	if (m->wake[0] >= 0) {
		close(m->wake[0]);
		close(m->wake[1]);
	}
}

/* The library's end */

/* Remember what a frame of the library's end announces. */
static void
hear(struct stranger *s, const struct raw_frame *f)
{
	uint32_t v[4];

	memcpy(v, f->body, sizeof(v));
	if (f->type == COMCH_WIRE_CONSUMER_NEW) {
		s->app_cons = v[0];
		s->app_depth = v[1];
		s->app_staging = v[3];
	} else if (f->type == COMCH_WIRE_MR_ADD) {
		s->app_mr = v[0];
	} else if (f->type == COMCH_WIRE_PRODUCER_NEW) {
		s->app_prod = v[0];
	}
}

static bool
is_hung_up(const struct stranger *s)
{
	struct pollfd p = { .fd = s->raw.sock };

	return poll(&p, 1, 0) < 0 || (p.revents & (POLLHUP | POLLERR)) != 0;
}

/* All that was sent has been read. */
static bool
is_heard(const struct stranger *s)
{
	return s->raw.vic != NULL &&
		__atomic_load_n(&s->raw.vic->rx_pos, __ATOMIC_ACQUIRE) == s->raw.tx_pos;
}

void
stranger_settle(struct stranger *s)
{
	struct raw_frame f;
	unsigned int i, quiet = 0;

	for (i = 0; i < MAX_LOOKS && quiet < 3 && !s->is_over; i++) {
		quiet = t_step(s->app.node) == 0 && is_heard(s) ? quiet + 1 : 0;
		if (s->raw.vic == NULL && !raw_is_up(&s->raw))
			sched_yield();
		/* What is left of a connection that is over may lack its descriptors. */
		s->is_over = is_hung_up(s);
		while (!s->is_over && !s->is_deaf && raw_recv(&s->raw, &f)) {
			hear(s, &f);
			raw_frame_free(&f);
		}
		if (!is_heard(s))
			sched_yield();
	}
}

/* Frames */

/* An id that means something, mostly. */
static uint32_t
pick_id(struct stranger *s)
{
	const uint8_t how = fuzz_u8(&s->in);

	switch (how & 7) {
	case 0:
		return s->app_cons;
	case 1:
		return s->app_mr;
	case 2:
		return s->app_prod;
	case 3:
		return how >> 3;
	default:
		return 1 + (how >> 3) % 4;
	}
}

static uint32_t
pick_depth(struct stranger *s)
{
	const uint8_t how = fuzz_u8(&s->in);

	return how < 240 ? 1u << how % 8 : fuzz_u32(&s->in);
}

static uint32_t
pick_staging(struct stranger *s)
{
	const uint8_t how = fuzz_u8(&s->in);

	if (how < 128)
		return 0;
	return how < 240 ? 4096u << how % 4 : fuzz_u32(&s->in);
}

static int
pick_mem(struct stranger *s, size_t len, unsigned int seals)
{
	const struct stranger_mem *m = len < (1 << 20) ? make(s, len, seals) : NULL;

	return m != NULL ? m->mem.fd : -1;
}

/* The descriptors that a frame needs. */
static void
pick_fds(struct stranger *s, const struct comch_wire_frame *f, struct raw_send *to)
{
	to->nb_fds = 0;
	switch (f->type) {
	case COMCH_WIRE_MR_ADD:
		to->fds[to->nb_fds++] = pick_mem(s, PAYLOAD_LEN, f->acked & 1 ?
			RAW_SEALS_PAYLOAD : F_SEAL_SHRINK | F_SEAL_GROW);
		break;
	case COMCH_WIRE_CONSUMER_NEW:
		to->fds[to->nb_fds++] = pick_mem(s, f->depth > 4096 ? 4096 :
			comch_chan_post_len(f->depth), RAW_SEALS);
		to->fds[to->nb_fds++] = make_socket(s);
		break;
	case COMCH_WIRE_CONSUMER_ACK:
		if (f->status == 0 && s->app_depth <= 4096 && s->app_staging <= 65536)
			to->fds[to->nb_fds++] = pick_mem(s, comch_chan_rec_len(s->app_depth,
				s->app_staging), RAW_SEALS);
		break;
	case COMCH_WIRE_PRODUCER_NEW:
		to->fds[to->nb_fds++] = make_socket(s);
		break;
	default:
		break;
	}
	/* No more can be made. */
	if (to->nb_fds > 0 && (to->fds[0] < 0 || to->fds[to->nb_fds - 1] < 0))
		to->nb_fds = 0;
}

static void
fill(struct stranger *s, struct comch_wire_frame *f)
{
	struct fuzz_in *in = &s->in;

	f->acked = s->raw.acked;
	f->magic = COMCH_WIRE_MAGIC;
	f->major = COMCH_WIRE_MAJOR;
	f->minor = fuzz_u8(in) % 4;
	f->max_msg_size = f->type == COMCH_WIRE_HELLO || f->type == COMCH_WIRE_ACCEPT ?
		(uint32_t)fuzz_number(in) * 16 : 0;
	f->recv_queue = f->max_msg_size != 0 ? (uint32_t)fuzz_number(in) : 0;
	f->flags = fuzz_u8(in) & 3;
	f->status = f->type == COMCH_WIRE_REJECT || f->type == COMCH_WIRE_DISCONNECT ||
		(fuzz_u8(in) & 7) == 7 ? -(int32_t)(fuzz_u8(in) % 128) : 0;
	snprintf(f->text, sizeof(f->text), "%s", s->name);
	f->id = pick_id(s);
	f->size = PAYLOAD_LEN;
	f->depth = pick_depth(s);
	f->imm_size = RTE_COMCH_IMM_SIZE;
	f->staging_size = pick_staging(s);
	f->has_final = f->minor == 2;
	f->final = fuzz_u8(in);
}

/* Something that is not as it should be. */
static void
spoil(struct stranger *s, struct comch_wire_frame *f)
{
	struct fuzz_in *in = &s->in;

	switch (fuzz_u8(in) % 10) {
	case 0:
		f->id = (uint32_t)fuzz_number(in);
		break;
	case 1:
		f->depth = (uint32_t)fuzz_number(in);
		break;
	case 2:
		f->staging_size = (uint32_t)fuzz_number(in);
		break;
	case 3:
		f->imm_size = (uint32_t)fuzz_number(in);
		break;
	case 4:
		f->offset = fuzz_number(in);
		break;
	case 5:
		f->size = fuzz_number(in);
		break;
	case 6:
		f->acked = (uint32_t)fuzz_number(in);
		break;
	case 7:
		f->text[fuzz_u8(in) % 4] = (char)fuzz_u8(in);
		break;
	case 8:
		f->kind = fuzz_u8(in);
		break;
	default:
		f->major = (uint16_t)fuzz_number(in);
		break;
	}
}

static void
send_raw(struct stranger *s, const struct raw_send *send)
{
	/* A ring that is full: the library's end has to read first. */
	if (!s->is_over && !raw_try(&s->raw, send))
		stranger_settle(s);
}

static void
send_frame(struct stranger *s, bool is_bad)
{
	struct comch_wire_frame f = { 0 };
	uint8_t buf[COMCH_WIRE_MAX_FRAME];
	struct raw_send send = { .body = buf + COMCH_WIRE_HDR_SIZE };
	uint8_t how;

	do {
		f.type = 1 + fuzz_u8(&s->in) % (COMCH_WIRE_NB_TYPES - 1);
	} while (f.type == COMCH_WIRE_MSG || f.type == COMCH_WIRE_MSG_AT);
	fill(s, &f);
	pick_fds(s, &f, &send);
	if (is_bad)
		spoil(s, &f);
	send.type = f.type;
	send.len = comch_wire_build(&f, buf) - COMCH_WIRE_HDR_SIZE;
	how = is_bad ? fuzz_u8(&s->in) : 0;
	if ((how & 3) == 3)
		buf[COMCH_WIRE_HDR_SIZE + how % 16] ^= (uint8_t)(1u << (how >> 5));
	if ((how & 7) == 2)
		send.nb_fds = how >> 6;
	send_raw(s, &send);
}

/* What the header and the prefix say need not be true. */
static void
send_bytes(struct stranger *s)
{
	uint8_t body[64];
	struct raw_send send = { .type = fuzz_u8(&s->in), .body = body };
	const uint8_t how = fuzz_u8(&s->in);

	send.len = fuzz_u8(&s->in) % sizeof(body);
	fuzz_take(&s->in, body, send.len);
	send.lie = (how & 1) != 0;
	if (send.lie) {
		send.say_body = (uint32_t)fuzz_number(&s->in);
		send.say_len = how & 2 ? (uint32_t)fuzz_number(&s->in) :
			COMCH_WIRE_HDR_SIZE + send.say_body;
		send.say_fds = how & 4 ? fuzz_u8(&s->in) : 0;
	}
	send.junk = how & 8 ? fuzz_u32(&s->in) & 0xffffff : 0;
	send_raw(s, &send);
}

static void
send_msg(struct stranger *s)
{
	static const uint8_t zeros[4096];
	uint8_t body[4096];
	struct raw_send send = { .body = zeros };
	const uint16_t how = fuzz_u16(&s->in);
	uint64_t clock;

	send.len = how % sizeof(body);
	send.type = how & 0x8000 ? COMCH_WIRE_MSG_AT : COMCH_WIRE_MSG;
	if (send.type == COMCH_WIRE_MSG_AT) {
		clock = fuzz_number(&s->in);
		memcpy(body, &clock, sizeof(clock));
		memset(body + sizeof(clock), 0, sizeof(body) - sizeof(clock));
		send.body = body;
	}
	send_raw(s, &send);
}

/* Wake-ups, descriptors that belong to no frame, and other messages on the socket. */
static void
send_on_socket(struct stranger *s)
{
	const uint8_t how = fuzz_u8(&s->in);
	uint8_t data[32] = { how & 1 ? SHM_SOCK_WAKE : SHM_SOCK_FDS };
	size_t len = 1;
	int fds[4];
	uint32_t i, n = (how >> 1) % 5;

	if (how & 0x80)
		len = fuzz_take(&s->in, data, fuzz_u8(&s->in) % sizeof(data));
	for (i = 0; i < n; i++)
		fds[i] = how & 0x40 ? s->raw.own_fd : STDERR_FILENO;
	(void)raw_sock_send(s->raw.sock, data, len, fds, n);
}

static void
write_ring(struct stranger *s)
{
	const size_t len = shm_link_len(s->raw.cells);
	const size_t off = fuzz_u16(&s->in) % len;

	s->is_deaf |= off < sizeof(s->raw.own->rx_pos);
	fuzz_take(&s->in, (uint8_t *)s->raw.own + off,
		RTE_MIN(len - off, (size_t)(fuzz_u8(&s->in) % 64)));
}

static void
write_made(struct stranger *s)
{
	const uint8_t which = fuzz_u8(&s->in);
	const uint16_t at = fuzz_u16(&s->in);
	struct raw_mem *m;
	uint64_t v;

	if (s->nb_made == 0)
		return;
	m = &s->made[which % s->nb_made].mem;
	if (m->fd < 0)
		return;
	v = fuzz_number(&s->in);
	if (at & 0x8000)
		fuzz_take(&s->in, (uint8_t *)m->addr + (at & 0x7fff) % (m->len - 64), 64);
	else
		/* A field of the header, or of the first entries. */
		memcpy((uint8_t *)m->addr + at % 48 * 8, &v, sizeof(v));
}

/* Returns false after hanging up. */
static bool
do_step(struct stranger *s)
{
	switch ((enum step)(fuzz_u8(&s->in) % NB_STEPS)) {
	case STEP_FRAME:
		send_frame(s, false);
		break;
	case STEP_BAD_FRAME:
		send_frame(s, true);
		break;
	case STEP_BYTES:
		send_bytes(s);
		break;
	case STEP_MSG:
		send_msg(s);
		break;
	case STEP_SOCKET:
		send_on_socket(s);
		break;
	case STEP_RING:
		write_ring(s);
		break;
	case STEP_POSITION:
		s->is_deaf = true;
		s->raw.own->rx_pos = s->raw.rx_pos - fuzz_number(&s->in);
		break;
	case STEP_MADE:
		write_made(s);
		break;
	case STEP_RUN:
		s->raw.mute = (fuzz_u8(&s->in) & 15) == 15;
		stranger_settle(s);
		break;
	case STEP_APP:
		app_step(&s->app);
		break;
	default:
		return false;
	}
	return true;
}

/* The driver's handshake; the input may spoil it, or leave it out. */
static void
say_hello(struct stranger *s)
{
	struct shm_hello hello = {
		.magic = SHM_HELLO_MAGIC, .version = SHM_HELLO_VERSION, .cells = s->raw.cells,
		.flags = SHM_HELLO_F_MEMBARRIER | SHM_HELLO_F_CREDIT_BIT,
	};
	const uint8_t how = fuzz_u8(&s->in);
	uint32_t *field = (uint32_t *)&hello + how % 4;

	if ((how & 0xf0) == 0xf0)
		return;
	if ((how & 0xf0) == 0xe0)
		*field = (uint32_t)fuzz_number(&s->in);
	(void)raw_sock_send(s->raw.sock, &hello, (how & 0xf0) == 0xd0 ? how & 15 : sizeof(hello),
		&s->raw.own_fd, (how & 0xf0) == 0xc0 ? 0 : 1);
	stranger_settle(s);
}

void
stranger_run(struct stranger *s)
{
	say_hello(s);
	while (s->in.left > 0 && !s->is_over && do_step(s))
		;
	stranger_settle(s);
}

void
stranger_end(struct stranger *s)
{
	uint32_t i;

	raw_close(&s->raw);
	for (i = 0; i < s->nb_made; i++)
		made_free(&s->made[i]);
	app_end(&s->app);
	t_forget(s->app.node);
}
