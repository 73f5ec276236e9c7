/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * MsgQ: a ping-pong between two lcores. A MsgQ has one direction, so there are two.
 * No device, server or client is involved.
 *
 * Each message carries a number, and the answer must have the same number. At the
 * end, or on Ctrl-C, the main lcore prints the round-trip times.
 */

#include <sched.h>

#include <rte_cycles.h>
#include <rte_launch.h>

#include <rte_comch_msgq.h>

#include "../common/example.h"

/* One message is in flight at a time; credit must be available before the next. */
#define CREDITS 16
/* Fruitless checks before an lcore yields its CPU, which it may share. */
#define LOOKS 512

/* One direction. */
struct way {
	struct rte_comch_msgq *msgq;
	struct rte_comch_msgq_consumer *consumer;
	struct rte_comch_msgq_producer *producer;
};

struct app {
	/* Options. */
	uint64_t count;
	uint64_t size;

	struct way there; /* From the main lcore to the other one. */
	struct way back;
	uint64_t *times;  /* Round-trip times in cycles. */
	uint64_t nb_rounds;
};

/* After a fruitless check: returns whether to continue. */
static bool
look_again(unsigned int *looks)
{
	if (++*looks % LOOKS == 0)
		sched_yield();
	return !example_quit;
}

static bool
send_number(const struct way *way, uint64_t number, uint64_t size)
{
	uint8_t imm[RTE_COMCH_IMM_SIZE] = { 0 };
	const struct rte_comch_op op = {
		.consumer_id = rte_comch_msgq_consumer_id(way->consumer),
		.imm = imm,
		.imm_len = (uint16_t)size,
		/* No completion needed: this send always succeeds. */
		.flags = RTE_COMCH_OP_F_SILENT,
	};
	unsigned int looks = 0;

	memcpy(imm, &number, sizeof(number));
	while (rte_comch_msgq_send_burst(way->producer, &op, 1) == 0) {
		if (!look_again(&looks))
			return false;
	}
	return true;
}

static bool
receive_number(const struct way *way, uint64_t *number)
{
	struct rte_comch_cpl cpl;
	unsigned int looks = 0;

	while (rte_comch_msgq_recv_burst(way->consumer, &cpl, 1) == 0) {
		if (!look_again(&looks))
			return false;
	}
	memcpy(number, cpl.imm, sizeof(*number));
	return true;
}

/* The other lcore: send every number back. */
static int
answer(void *arg)
{
	const struct app *app = arg;
	uint64_t i, number;

	for (i = 0; i < app->count; i++) {
		if (!receive_number(&app->there, &number) ||
				!send_number(&app->back, number, app->size))
			break;
		/* Give credit for the next message while the answer travels. */
		rte_comch_msgq_credit(app->there.consumer, 1);
	}
	return 0;
}

/* The main lcore. */
static int
ask(struct app *app)
{
	uint64_t i, begin, number;

	for (i = 0; i < app->count; i++) {
		begin = rte_rdtsc();
		if (!send_number(&app->there, i, app->size) ||
				!receive_number(&app->back, &number))
			break;
		app->times[i] = rte_rdtsc() - begin;
		if (number != i) {
			EXAMPLE_ERR("message %" PRIu64 " came back as %" PRIu64, i, number);
			return -1;
		}
		rte_comch_msgq_credit(app->back.consumer, 1);
		app->nb_rounds++;
	}
	return 0;
}

static int
open_way(struct way *way, const char *name)
{
	const struct rte_comch_msgq_conf conf = {
		.conf_size = sizeof(conf),
		.name = name,
		.socket_id = SOCKET_ID_ANY,
	};

	way->msgq = rte_comch_msgq_create(&conf);
	if (way->msgq == NULL)
		return example_error("create MsgQ", rte_errno);
	way->consumer = rte_comch_msgq_consumer_create(way->msgq, NULL);
	if (way->consumer == NULL)
		return example_error("create consumer", rte_errno);
	way->producer = rte_comch_msgq_producer_create(way->msgq, NULL);
	if (way->producer == NULL)
		return example_error("create producer", rte_errno);
	rte_comch_msgq_credit(way->consumer, CREDITS);
	return 0;
}

/* A consumer can be destroyed when all of its credits have come back. */
static void
close_way(struct way *way)
{
	struct rte_comch_cpl cpls[CREDITS];

	if (way->producer != NULL)
		rte_comch_msgq_producer_destroy(way->producer);
	if (way->consumer != NULL) {
		rte_comch_msgq_consumer_stop(way->consumer);
		while (rte_comch_msgq_consumer_state(way->consumer) != RTE_COMCH_STATE_IDLE)
			rte_comch_msgq_recv_burst(way->consumer, cpls, CREDITS);
		rte_comch_msgq_consumer_destroy(way->consumer);
	}
	if (way->msgq != NULL)
		rte_comch_msgq_destroy(way->msgq);
}

static void
draw(unsigned int main_lcore, unsigned int other)
{
	printf("    lcore %-4u                             lcore %u\n"
		"    +----------+                           +----------+\n"
		"    | producer |------ MsgQ 'there' ------>| consumer |\n"
		"    | consumer |<----- MsgQ 'back' --------| producer |\n"
		"    +----------+                           +----------+\n",
		main_lcore, other);
}

static int
compare(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void
report(struct app *app)
{
	const double ns = 1e9 / (double)rte_get_tsc_hz();
	uint64_t n = app->nb_rounds;

	printf("%" PRIu64 " round trips of %" PRIu64 " bytes", n, app->size);
	if (n > 0) {
		qsort(app->times, n, sizeof(app->times[0]), compare);
		printf(": min %.0f ns, median %.0f ns, p99 %.0f ns",
				(double)app->times[0] * ns, (double)app->times[n / 2] * ns,
				(double)app->times[n * 99 / 100] * ns);
	}
	printf("\n");
}

static int
play(struct app *app)
{
	unsigned int other = rte_get_next_lcore(-1, 1, 0);
	int ret;

	ret = rte_eal_remote_launch(answer, app, other);
	if (ret < 0)
		return example_error("start the other lcore", ret);
	draw(rte_lcore_id(), other);
	ret = ask(app);
	/* Otherwise the other lcore would wait forever. */
	if (app->nb_rounds < app->count)
		example_stop();
	rte_eal_wait_lcore(other);
	report(app);
	return ret;
}

int
main(int argc, char **argv)
{
	struct app app = { .count = 100000, .size = RTE_COMCH_IMM_SIZE };
	const struct example_option options[] = {
		EXAMPLE_NUMBER('n', "count", "N", "round trips", &app.count, 1, 1 << 27),
		EXAMPLE_NUMBER('s', "size", "N", "message length; the number takes 8 bytes",
				&app.size, sizeof(uint64_t), RTE_COMCH_IMM_SIZE),
	};
	int ret;

	ret = example_options(argc, argv, options, RTE_DIM(options));
	if (ret == 0)
		ret = example_start(2);
	if (ret != 0)
		return ret < 0 ? EXIT_FAILURE : EXIT_SUCCESS;

	app.times = calloc(app.count, sizeof(app.times[0]));
	if (app.times == NULL)
		ret = example_error("allocate round-trip times", ENOMEM);
	if (ret == 0)
		ret = open_way(&app.there, "there");
	if (ret == 0)
		ret = open_way(&app.back, "back");
	if (ret == 0)
		ret = play(&app);
	close_way(&app.back);
	close_way(&app.there);
	free(app.times);
	example_end();
	return ret == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
