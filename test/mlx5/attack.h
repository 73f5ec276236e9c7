/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef ATTACK_H
#define ATTACK_H

/*
 * A malicious peer (vpeer.h) attacks a server of the library, or a client. The victim's poll
 * also runs an honest connection.
 *
 * After each attack the victim is alive and serves the honest connection; the attacker's has
 * ended with one reason and one line in the log, or is in order; and nothing is left of it.
 */

#include "t_figures.h"
#include "t_main.h"
#include "u_ctrl.h"
#include "vpeer.h"

/* Of the honest server, which is attacked, and of the malicious one. */
#define ATTACK_NAME "pair"
#define ATTACK_LIAR "liar"
/* What a buffer of the victim's consumer holds. */
#define ATTACK_BUF 1024

/* What its producer sends. */
#define ATTACK_SHORT 64
#define ATTACK_LONG 4096

/* How far the victim is: steps of enum lie_step, and two of the fast path. */
enum attack_step {
	ATTACK_FED = LIE_NB_STEPS, /* its consumer runs, with two buffers; we are its producer */
	ATTACK_FEEDS,              /* its producer knows our consumer */
	ATTACK_NB_STEPS
};

struct attack {
	struct t_pair p;                  /* honest */
	bool by_server;
	struct vp place;                  /* of the malicious server */
	struct vp a;
	struct t_node *node;              /* the victim's */
	struct rte_comch_client *client;  /* the attacked one */
	struct rte_comch_conn *conn;      /* the victim's end, once it is up; or NULL */
	struct rte_comch_consumer *cons;  /* on it, or NULL */
	struct rte_comch_producer *prod;
	bool sends;                       /* its producer sends a short and a long message */
	bool refuses_memory;              /* we do: its consumer has messages staged */
	unsigned int nb_received;         /* without an error */
	unsigned int nb_sent, nb_completed, nb_done; /* done: without an error */
	struct t_mem mem;                 /* of both */
	struct t_log log;
	unsigned int nb_live, nb_fds;     /* without the attacker */
	struct t_figures figures;
	unsigned int nb_ended, nb_alive, nb_quiet;
};

/* The honest ones, who stay; and what the attacks must not change. */
void attack_begin_by_client(struct attack *t);
void attack_begin_by_server(struct attack *t);
void attack_end(struct attack *t);

#define CLIENT_ATTACK(name) \
	T_CASE_OF(struct attack, attack_begin_by_client, attack_end, name, t)
#define SERVER_ATTACK(name) \
	T_CASE_OF(struct attack, attack_begin_by_server, attack_end, name, t)

/* Connect, and bring the victim so far. */
void attack_reach(struct attack *t, unsigned int step);
/* The first half of that: start the malicious connection, with this private data. */
void attack_link(struct attack *t, const void *data, uint8_t len);
/* The same of a server that refuses the connection. */
void attack_refuse(struct attack *t, const void *data, uint8_t len);
/* We have announced a consumer: have the victim's producer send to it, unless it ends instead. */
void attack_feed_from(struct attack *t);

/* Tell each lie in fields *from* to *nb* - 1. tell returns the number of fields. */
void attack_tell_lies(struct attack *t,
		unsigned int (*tell)(struct attack *t, unsigned int field, unsigned int which),
		unsigned int from, unsigned int nb);

/* Has the victim found out? */
bool attack_is_over(struct attack *t);
/*
 * The attack is complete: check what the victim makes of it, end the attacker, and check that
 * nothing is left. Returns how the connection ended before that; 0: it did not.
 */
int attack_judge(struct attack *t);
/* The same; the victim must end it with this status and text. */
void attack_expect(struct attack *t, int status, const char *text);

#endif /* ATTACK_H */
