/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef IMPL_DEV_TABLE_H
#define IMPL_DEV_TABLE_H

/*
 * The device table: devices of the DPU, functions of the host, and the native device of
 * each. It is read once and never freed: DOCA's infos and devices are parts of it, so
 * pointers to them never dangle.
 *
 * table.c finds and reads it, table_parse.c parses one key (limit.c and fault.c those
 * that begin with limit. and fault.),
 * table_check.c checks the whole table, table_default.c is the built-in one.
 */

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include <doca_dev.h>
#include <rte_comch.h>
#include <rte_pci.h>

#include "dev/manners.h"

/** Size of the label of a section, [device LABEL], with its NUL. */
#define IMPL_LABEL_SIZE 40
/** Size of arguments for native drivers, in bytes. */
#define IMPL_ARGS_SIZE 192
/** Size of addresses for native drivers, "10.0.0.2+10.0.0.3". */
#define IMPL_ADDRESS_SIZE 128
/** Size of an error text. */
#define IMPL_WHY_SIZE 512

/* An open device; dev.c. Part of its info. */
struct doca_dev {
	struct doca_devinfo *info;
	unsigned int nb_opens;
	unsigned int nb_users; /* objects that prevent the last close */
	int16_t id;            /* native id */
};

struct doca_devinfo {
	bool is_dpu;
	uint16_t number;       /* index among the devices of its side */
	struct rte_pci_addr pci;
	char ibdev[DOCA_DEVINFO_IBDEV_NAME_SIZE];
	char iface[IMPL_LABEL_SIZE];
	uint8_t mac[DOCA_DEVINFO_MAC_ADDR_SIZE];
	uint8_t ipv4[DOCA_DEVINFO_IPV4_ADDR_SIZE];
	uint8_t ipv6[DOCA_DEVINFO_IPV6_ADDR_SIZE];
	bool has_ipv4;
	uint64_t active_rate;
	uint16_t nb_reps;      /* devices of the DPU only */
	uint16_t vhca_id;
	enum doca_pci_func_type type;
	uint16_t pf;
	uint16_t index;        /* VFs and SFs only */
	char driver[RTE_COMCH_DEV_NAME_SIZE];
	char args[IMPL_ARGS_SIZE];
	cpu_set_t dpa_cpus;    /* for DPA threads; empty: any */
	uint32_t dpa_max_run_ms; /* 0: unlimited */
	struct impl_manners manners;
	struct impl_faults faults;       /* if manners.faults */
	struct doca_dev dev;
};

/* An open representor; rep.c. Part of its info. */
struct doca_dev_rep {
	struct doca_devinfo_rep *info;
	unsigned int nb_opens;
	unsigned int nb_users;
};

struct doca_devinfo_rep {
	struct doca_devinfo *owner;      /* the DPU's device */
	const struct doca_devinfo *host; /* the function on the host */
	uint16_t id;                     /* native id */
	char iface[IMPL_LABEL_SIZE];
	char vuid[DOCA_DEVINFO_REP_VUID_SIZE];
	uint32_t host_index;
	uint32_t iface_index;
	struct doca_dev_rep rep;
};

/* A section. */
struct impl_entry {
	TAILQ_ENTRY(impl_entry) next;
	bool is_func;
	unsigned int line;
	uint32_t given;                  /* bit mask of keys */
	uint32_t given_limits;           /* and of limit.* */
	uint32_t given_faults;           /* and of fault.* */
	uint32_t profile;                /* index, if IMPL_KEY_PROFILE is given */
	char label[IMPL_LABEL_SIZE];
	struct doca_devinfo info;
	/* Functions only. */
	char device[IMPL_LABEL_SIZE];
	char func[RTE_COMCH_DEV_NAME_SIZE];
	char address[IMPL_ADDRESS_SIZE]; /* of the host in the transport; "": needs none */
	struct doca_devinfo_rep rep;
};

TAILQ_HEAD(impl_entries, impl_entry);

struct impl_table {
	struct impl_entries entries;
	unsigned int nb_devs;            /* entries of the DPU */
	unsigned int nb_funcs;           /* entries of the host */
	char source[512];                /* file name, for messages */
	char why[IMPL_WHY_SIZE];         /* error; "": none */
};

#define IMPL_TABLE_FOREACH(entry, table) TAILQ_FOREACH(entry, &(table)->entries, next)

/* Get the table of the process, which the first call reads.
 * DOCA_ERROR_BAD_CONFIG: invalid; reported once, also to stderr.
 * DOCA_ERROR_NO_MEMORY.
 */
doca_error_t impl_table_get(struct impl_table **table);
/* The same if it was read and is valid; else NULL. */
struct impl_table *impl_table_if_read(void);

/*
 * Whether a pointer is to a member of an entry of the process's table, and not to something
 * else that the program has cast. It is not followed.
 */
#define IMPL_TABLE_HAS(object, member) \
	impl_table_has(object, offsetof(struct impl_entry, member))
bool impl_table_has(const void *object, size_t offset);

/* Read a text or a file into an empty table; an error is in why. */
doca_error_t impl_table_read_text(struct impl_table *table, const char *name,
		const char *text);
doca_error_t impl_table_read_file(struct impl_table *table, const char *path);
void impl_table_free(struct impl_table *table);

/* For the files of the table only */

/* Set why to "FILE:LINE: text" unless set; returns DOCA_ERROR_BAD_CONFIG. */
doca_error_t impl_table_wrong(struct impl_table *table, unsigned int line,
		const char *format, ...) __attribute__((format(printf, 3, 4)));

enum impl_key {
	IMPL_KEY_PCI,
	IMPL_KEY_IBDEV,
	IMPL_KEY_IFACE,
	IMPL_KEY_MAC,
	IMPL_KEY_IPV4,
	IMPL_KEY_IPV6,
	IMPL_KEY_ACTIVE_RATE,
	IMPL_KEY_DRIVER,
	IMPL_KEY_ARGS,
	IMPL_KEY_DPA_CPUS,
	IMPL_KEY_DPA_MAX_RUN_MS,
	IMPL_KEY_PROGRESS,
	IMPL_KEY_LENIENT,
	IMPL_KEY_AGAIN_AFTER_SEND,
	IMPL_KEY_PROFILE,
	/* Two for each of enum impl_offload_kind. */
	IMPL_KEY_DMA,
	IMPL_KEY_DMA_MIN,
	IMPL_KEY_CRYPTO,
	IMPL_KEY_CRYPTO_MIN,
	IMPL_KEY_COMPRESS,
	IMPL_KEY_COMPRESS_MIN,
	IMPL_KEY_WORKERS,
	IMPL_KEY_DEVICE,
	IMPL_KEY_FUNC,
	IMPL_KEY_ADDRESS,
	IMPL_KEY_REP_IFACE,
	IMPL_KEY_VUID,
	IMPL_KEY_HOST_INDEX,
	IMPL_KEY_REP_IFACE_INDEX,
};

static inline bool
impl_entry_has(const struct impl_entry *entry, enum impl_key key)
{
	return (entry->given >> key & 1) != 0;
}

/* Parse a line, KEY = VALUE. */
doca_error_t impl_table_set(struct impl_table *table, struct impl_entry *entry,
		unsigned int line, const char *key, const char *value);
/* After all sections: resolve references, fill in defaults, validate. */
doca_error_t impl_table_check(struct impl_table *table);

/* Accepts only digits, and numbers from min to max. */
bool impl_table_number(const char *text, uint64_t min, uint64_t max, uint64_t *number);
/* Accepts only "0000:03:00.0" and "03:00.0". */
bool impl_pci_parse(const char *text, struct rte_pci_addr *pci);

#endif /* IMPL_DEV_TABLE_H */
