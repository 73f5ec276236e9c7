# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
"""What the package uses of librte_comch, in C.

test/python/layout.py compares it with the headers: a declaration that differs from theirs fails
the build's tests.
"""

# The headers that have these declarations.
HEADERS = ("rte_eal.h", "rte_errno.h", "rte_comch.h", "rte_comch_dp.h", "rte_comch_poll.h")

TYPES = """
struct rte_comch_server;
struct rte_comch_client;
struct rte_comch_conn;
struct rte_comch_poll;
struct rte_comch_producer;
struct rte_comch_consumer;
struct rte_comch_mr;

enum rte_comch_state {
	RTE_COMCH_STATE_IDLE,
	RTE_COMCH_STATE_STARTING,
	RTE_COMCH_STATE_RUNNING,
	RTE_COMCH_STATE_STOPPING,
};

enum rte_comch_event_type {
	RTE_COMCH_EVENT_STATE,
	RTE_COMCH_EVENT_CONNECT_REQUEST,
	RTE_COMCH_EVENT_CONNECTED,
	RTE_COMCH_EVENT_DISCONNECTED,
	RTE_COMCH_EVENT_MSG,
	RTE_COMCH_EVENT_SENT,
	RTE_COMCH_EVENT_CONSUMER_NEW,
	RTE_COMCH_EVENT_CONSUMER_GONE,
	RTE_COMCH_EVENT_MR_ADDED,
};

enum rte_comch_obj_type {
	RTE_COMCH_OBJ_SERVER,
	RTE_COMCH_OBJ_CLIENT,
	RTE_COMCH_OBJ_CONN,
	RTE_COMCH_OBJ_PRODUCER,
	RTE_COMCH_OBJ_CONSUMER,
};

struct rte_comch_poll_conf {
	size_t conf_size;
	const char *name;
	int socket_id;
};

struct rte_comch_server_conf {
	size_t conf_size;
	struct rte_comch_poll *poll;
	const char *name;
	uint16_t rep;
	uint32_t flags;
	uint32_t max_msg_size;
	uint32_t recv_queue;
	uint32_t send_queue;
	uint32_t max_clients;
	uint64_t user_data;
	uint32_t reserve;
};

struct rte_comch_client_conf {
	size_t conf_size;
	struct rte_comch_poll *poll;
	const char *name;
	uint32_t max_msg_size;
	uint32_t recv_queue;
	uint32_t send_queue;
	uint32_t connect_timeout_ms;
	uint64_t user_data;
	uint32_t flags;
};

struct rte_comch_conn_info {
	uint32_t id;
	int16_t dev_id;
	uint16_t rep;
	_Bool established;
	char name[120];
	uint32_t max_msg_size;
	uint32_t send_credits;
	uint32_t recv_queue;
	int32_t peer_pid;
	int32_t peer_uid;
	int32_t peer_gid;
	char reason[128];
	_Bool ctrl_only;
};

struct rte_comch_msg {
	const void *data;
	uint32_t len;
	uint32_t flags;
	uint64_t cookie;
};

struct rte_comch_event_state { enum rte_comch_state prev, next; };
struct rte_comch_event_msg { const void *data; uint32_t len; };
struct rte_comch_event_sent { uint64_t cookie; };
struct rte_comch_event_consumer { uint32_t id; uint32_t imm_size; uint32_t depth; };
struct rte_comch_event_mr { struct rte_comch_mr *mr; };

struct rte_comch_event {
	enum rte_comch_event_type type;
	enum rte_comch_obj_type obj_type;
	union {
		void *ptr;
		struct rte_comch_server *server;
		struct rte_comch_client *client;
		struct rte_comch_conn *conn;
		struct rte_comch_producer *producer;
		struct rte_comch_consumer *consumer;
	} obj;
	struct rte_comch_conn *conn;
	uint64_t user_data;
	int32_t status;
	union {
		struct rte_comch_event_state state;
		struct rte_comch_event_msg msg;
		struct rte_comch_event_sent sent;
		struct rte_comch_event_consumer consumer;
		struct rte_comch_event_mr mr;
	};
	const char *text;
};

struct rte_comch_producer_conf {
	size_t conf_size;
	struct rte_comch_poll *poll;
	uint32_t queue_size;
	uint64_t user_data;
	uint32_t flags;
};

struct rte_comch_op {
	const void *addr;
	struct rte_comch_mr *mr;
	uint64_t cookie;
	uint32_t len;
	uint32_t consumer_id;
	const void *imm;
	uint16_t imm_len;
	uint16_t flags;
	uint16_t nb_sges;
	uint16_t reserved;
};

struct rte_comch_cpl {
	uint64_t cookie;
	int32_t status;
	uint32_t len;
	uint32_t peer_id;
	uint16_t imm_len;
	uint16_t copies;
	uint8_t imm[32];
	uint64_t user_data;
};

struct rte_comch_consumer_conf {
	size_t conf_size;
	struct rte_comch_poll *poll;
	uint32_t queue_size;
	uint32_t imm_size;
	uint32_t staging_size;
	uint32_t flags;
	struct rte_comch_mr *const *mrs;
	uint16_t nb_mrs;
	uint64_t user_data;
};

struct rte_comch_buf {
	void *addr;
	struct rte_comch_mr *mr;
	uint64_t cookie;
	uint32_t len;
	uint32_t reserved;
};
"""

FUNCTIONS = """
int rte_eal_init(int argc, char **argv);
unsigned int rte_lcore_count(void);

const char *rte_comch_version(void);
int rte_comch_dev_probe(const char *devargs, int16_t *dev_id);
int rte_comch_dev_close(int16_t dev_id);
int rte_comch_dev_by_name(const char *name);
int rte_comch_dev_rep_by_name(int16_t dev_id, const char *name);

struct rte_comch_poll *rte_comch_poll_create(const struct rte_comch_poll_conf *conf);
int rte_comch_poll_destroy(struct rte_comch_poll *poll);
uint16_t rte_comch_poll_run(struct rte_comch_poll *poll, struct rte_comch_event *events,
	uint16_t max);
int rte_comch_poll_fd(struct rte_comch_poll *poll, uint32_t cls);
int rte_comch_poll_arm(struct rte_comch_poll *poll, uint32_t cls);
int rte_comch_poll_wait(struct rte_comch_poll *poll, uint32_t cls, int timeout_ms);

struct rte_comch_server *rte_comch_server_create(int16_t dev_id,
	const struct rte_comch_server_conf *conf);
int rte_comch_server_start(struct rte_comch_server *server);
int rte_comch_server_stop(struct rte_comch_server *server);
int rte_comch_server_destroy(struct rte_comch_server *server);
enum rte_comch_state rte_comch_server_state(const struct rte_comch_server *server);

struct rte_comch_client *rte_comch_client_create(int16_t dev_id,
	const struct rte_comch_client_conf *conf);
int rte_comch_client_start(struct rte_comch_client *client);
int rte_comch_client_stop(struct rte_comch_client *client);
int rte_comch_client_destroy(struct rte_comch_client *client);
enum rte_comch_state rte_comch_client_state(const struct rte_comch_client *client);
struct rte_comch_conn *rte_comch_client_conn(const struct rte_comch_client *client);

int rte_comch_conn_info_get(const struct rte_comch_conn *conn, struct rte_comch_conn_info *info);
int rte_comch_conn_accept(struct rte_comch_conn *conn);
int rte_comch_conn_reject(struct rte_comch_conn *conn, const char *reason);
int rte_comch_conn_disconnect(struct rte_comch_conn *conn, const char *reason);
int rte_comch_conn_abort(struct rte_comch_conn *conn);
int rte_comch_conn_msgs_done(struct rte_comch_conn *conn, uint32_t n);
struct rte_comch_server *rte_comch_conn_server(const struct rte_comch_conn *conn);
uint16_t rte_comch_conn_send_burst(struct rte_comch_conn *conn, const struct rte_comch_msg *msgs,
	uint16_t n);

struct rte_comch_producer *rte_comch_producer_create(struct rte_comch_conn *conn,
	const struct rte_comch_producer_conf *conf);
int rte_comch_producer_start(struct rte_comch_producer *producer);
int rte_comch_producer_stop(struct rte_comch_producer *producer);
int rte_comch_producer_destroy(struct rte_comch_producer *producer);
enum rte_comch_state rte_comch_producer_state(const struct rte_comch_producer *producer);
uint32_t rte_comch_producer_id(const struct rte_comch_producer *producer);
uint16_t rte_comch_producer_send(struct rte_comch_producer *producer,
	const struct rte_comch_op *ops, uint16_t n);
uint16_t rte_comch_producer_done(struct rte_comch_producer *producer, struct rte_comch_cpl *cpls,
	uint16_t n);

struct rte_comch_consumer *rte_comch_consumer_create(struct rte_comch_conn *conn,
	const struct rte_comch_consumer_conf *conf);
int rte_comch_consumer_start(struct rte_comch_consumer *consumer);
int rte_comch_consumer_stop(struct rte_comch_consumer *consumer);
int rte_comch_consumer_destroy(struct rte_comch_consumer *consumer);
enum rte_comch_state rte_comch_consumer_state(const struct rte_comch_consumer *consumer);
uint32_t rte_comch_consumer_id(const struct rte_comch_consumer *consumer);
uint16_t rte_comch_consumer_post(struct rte_comch_consumer *consumer,
	const struct rte_comch_buf *bufs, uint16_t n);
uint16_t rte_comch_consumer_recv(struct rte_comch_consumer *consumer, struct rte_comch_cpl *cpls,
	uint16_t n);

void *rte_comch_mem_alloc(size_t len, int socket_id);
int rte_comch_mem_free(void *addr);
struct rte_comch_mr *rte_comch_mem_register(void *addr, size_t len, uint32_t flags);
int rte_comch_mem_unregister(struct rte_comch_mr *mr);
"""

# RTE_COMCH_*, for test/python/layout.py to compare.
CONSTANTS = {
    "SERVER_F_MANUAL_ACCEPT": 1 << 0,
    "SERVER_F_EXACT": 1 << 1,
    "SERVER_F_CTRL_ONLY": 1 << 3,
    "SERVER_F_MANUAL_CREDIT": 1 << 4,
    "CLIENT_F_CTRL_ONLY": 1 << 0,
    "CLIENT_F_MANUAL_CREDIT": 1 << 1,
    "MSG_F_SILENT": 1 << 0,
    "CONSUMER_F_SNAPSHOT": 1 << 0,
    "PRODUCER_F_PAUSES": 1 << 0,
    "POLL_ANY": 7,
}
