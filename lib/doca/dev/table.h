/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef IMPL_DEV_TABLE_H
#define IMPL_DEV_TABLE_H

/*
 * The device table: which devices the DPU has, which functions the host, and
 * which native device each is. It is read once and then stays, so that all
 * that DOCA calls an info or a device is a part of it and never dangles.
 *
 * table.c finds and reads it, table_parse.c reads one key, table_check.c sees
 * to what needs the whole, table_default.c is the one that is built in.
 */

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include <doca_dev.h>
#include <rte_comch.h>
#include <rte_pci.h>

/** Of a section, [device LABEL]. With its NUL. */
#define IMPL_LABEL_SIZE 40
/** What the native drivers take, bytes. */
#define IMPL_ARGS_SIZE 192
/** A text that says what is wrong. */
#define IMPL_WHY_SIZE 512

/* An open device; dev.c. Part of its info. */
struct doca_dev {
	struct doca_devinfo *info;
	unsigned int nb_opens;
	unsigned int nb_users; /* what keeps the last close from happening */
	int16_t id;            /* the native one */
};

struct doca_devinfo {
	bool is_dpu;
	uint16_t number;       /* among the devices of its side */
	struct rte_pci_addr pci;
	char ibdev[DOCA_DEVINFO_IBDEV_NAME_SIZE];
	char iface[IMPL_LABEL_SIZE];
	uint8_t mac[DOCA_DEVINFO_MAC_ADDR_SIZE];
	uint8_t ipv4[DOCA_DEVINFO_IPV4_ADDR_SIZE];
	uint8_t ipv6[DOCA_DEVINFO_IPV6_ADDR_SIZE];
	bool has_ipv4;
	uint64_t active_rate;
	uint16_t nb_reps;      /* of a device of the DPU */
	uint16_t vhca_id;
	enum doca_pci_func_type type;
	uint16_t pf;
	uint16_t index;        /* of a VF or SF */
	char driver[RTE_COMCH_DEV_NAME_SIZE];
	char args[IMPL_ARGS_SIZE];
	cpu_set_t dpa_cpus;    /* for DPA threads; empty: any */
	uint32_t dpa_max_run_ms; /* that a kernel of the DPA may run; 0: for ever */
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
	const struct doca_devinfo *host; /* the function, as the host sees it */
	uint16_t id;                     /* the native number of it */
	char iface[IMPL_LABEL_SIZE];
	char vuid[DOCA_DEVINFO_REP_VUID_SIZE];
	struct doca_dev_rep rep;
};

/* A section. */
struct impl_entry {
	TAILQ_ENTRY(impl_entry) next;
	bool is_func;
	unsigned int line;
	uint32_t given;                  /* a bit for each key */
	char label[IMPL_LABEL_SIZE];
	struct doca_devinfo info;
	/* Of a function only. */
	char device[IMPL_LABEL_SIZE];
	char func[RTE_COMCH_DEV_NAME_SIZE];
	struct doca_devinfo_rep rep;
};

TAILQ_HEAD(impl_entries, impl_entry);

struct impl_table {
	struct impl_entries entries;
	unsigned int nb_devs;            /* entries that are of the DPU */
	unsigned int nb_funcs;           /* and of the host */
	char source[512];                /* file name, for messages */
	char why[IMPL_WHY_SIZE];         /* what is wrong with it; "": nothing */
};

#define IMPL_TABLE_FOREACH(entry, table) TAILQ_FOREACH(entry, &(table)->entries, next)

/* The process's, read by the first call.
 * DOCA_ERROR_BAD_CONFIG: it is wrong. Said once, aloud.
 * DOCA_ERROR_NO_MEMORY.
 */
doca_error_t impl_table_get(struct impl_table **table);

/* Read a text, or what a file holds, into an empty table; what is wrong is in why. */
doca_error_t impl_table_read_text(struct impl_table *table, const char *name,
		const char *text);
doca_error_t impl_table_read_file(struct impl_table *table, const char *path);
void impl_table_free(struct impl_table *table);

/* The rest of the table's own files. */

/* "FILE:LINE: text" to why, if it is the first; DOCA_ERROR_BAD_CONFIG. */
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
	IMPL_KEY_DEVICE,
	IMPL_KEY_FUNC,
	IMPL_KEY_REP_IFACE,
	IMPL_KEY_VUID,
};

static inline bool
impl_entry_has(const struct impl_entry *entry, enum impl_key key)
{
	return (entry->given >> key & 1) != 0;
}

/* One line, KEY = VALUE. */
doca_error_t impl_table_set(struct impl_table *table, struct impl_entry *entry,
		unsigned int line, const char *key, const char *value);
/* All sections are there: resolve, fill in, refuse. */
doca_error_t impl_table_check(struct impl_table *table);

/* Strict: "0000:03:00.0" or "03:00.0". */
bool impl_pci_parse(const char *text, struct rte_pci_addr *pci);

#endif /* IMPL_DEV_TABLE_H */
