/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef RTE_COMCH_REMOTE_H
#define RTE_COMCH_REMOTE_H

/**
 * @file
 * Memory of the other side: a process *exports* memory, and others read and write it, though it is
 * ordinary memory that no file is behind, and though the exporter does nothing.
 *
 *     exporter                                  importer
 *     rte_comch_export_create()
 *     rte_comch_export_desc() -- 144 bytes -> rte_comch_import_create()
 *     ... anything, or nothing                  rte_comch_piece_start()
 *                                               rte_comch_piece_poll() until it has ended
 *     rte_comch_export_destroy()                rte_comch_import_destroy()
 *
 * No right to trace the exporter is needed, and no process has a pointer into another one: a
 * thread of this library copies between the exporter's memory and a *window*, 1 MiB of the
 * importer's that both share, and the importer copies between the window and its own memory. So a
 * piece is copied twice, by two CPUs; keep several under way. Where the exporter has unmapped the
 * memory, a piece fails; no process gets a signal.
 *
 * The descriptor holds a key: a process that has it reaches the memory, within its range and
 * permissions. Send it over a connection, and keep it from others. It works any number of times,
 * from wherever it was stored, until the export is destroyed. In addition, the socket of an
 * exporter is open to processes of its user and of root only.
 *
 * Its file is in the directory of the device (of the shared-memory driver: dir=, COMCH_DIR), which
 * has the same path for both sides; or, if the exporter cannot create files there, in
 * $XDG_RUNTIME_DIR or /tmp, as the log says then. /proc is needed. An exporter serves 256 imports
 * at a time, 128 of one process.
 *
 * Peers may be hostile: an importer reaches nothing else of the exporter, and an exporter can
 * change the bytes that it was to send, and no others. See the guide, "Security".
 *
 * Threads: any. A piece belongs to one thread. Start and poll never block; they make system calls.
 *
 * In a child of fork() that its parent's objects reach, each call returns -EBADFD or does nothing.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rte_comch.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Size of a descriptor, bytes. */
#define RTE_COMCH_EXPORT_DESC_LEN 144
/** Longest piece, bytes. */
#define RTE_COMCH_PIECE_MAX (UINT32_C(128) << 10)
/** Pieces of an import that are under way at a time; more than these wait. */
#define RTE_COMCH_MAX_PIECES 8

/** The memory may be written, too. */
#define RTE_COMCH_EXPORT_F_WRITE (UINT32_C(1) << 0)

struct rte_comch_export;
struct rte_comch_import;

/**
 * Export memory of this process.
 *
 * Whole blocks of 2 MiB of it that are in memory are moved into transparent huge pages, if the
 * kernel (6.1) has some and /sys/kernel/mm/transparent_hugepage/enabled is not "never", since
 * copies are faster then. That takes 0.2 s per GiB. So fill memory before you export it. Memory
 * with MADV_NOHUGEPAGE stays as it is.
 *
 * @param dev_id
 *   A device whose two sides are on one machine.
 * @param addr
 *   Start; any alignment. It may be unmapped at any time; pieces fail then.
 * @param len
 *   Bytes.
 * @param flags
 *   RTE_COMCH_EXPORT_F_WRITE or 0.
 * @return
 *   The export, or NULL with rte_errno: EINVAL (no memory, or an unknown flag), ENODEV (unknown
 *   device), ENOTSUP (the two sides of the device can be on two machines), ENOMEM, EMFILE, or from
 *   bind(), logged.
 */
struct rte_comch_export *rte_comch_export_create(int16_t dev_id, void *addr, size_t len,
		uint32_t flags);

/** The descriptor of an export, for importers. @return 0, -EINVAL (NULL). */
int rte_comch_export_desc(const struct rte_comch_export *exp,
		uint8_t desc[RTE_COMCH_EXPORT_DESC_LEN]);

/**
 * End an export: when this returns, its memory is not read or written any more.
 *
 * @return 0, -EINVAL (NULL).
 */
int rte_comch_export_destroy(struct rte_comch_export *exp);

/**
 * Import memory. Nothing is connected before the first piece, so the exporter may be gone already.
 *
 * @param desc
 *   Checked: it may come from a peer.
 * @return
 *   The import, or NULL with rte_errno: EINVAL (NULL, or not a descriptor), ENOMEM.
 */
struct rte_comch_import *rte_comch_import_create(const uint8_t desc[RTE_COMCH_EXPORT_DESC_LEN]);

/** Destroy an import; its pieces that are under way can still be polled. NULL is allowed. */
void rte_comch_import_destroy(struct rte_comch_import *imp);

/** A piece to be read into, or to be written from, memory of this process. */
struct rte_comch_piece {
	struct rte_comch_import *imp;
	void *local;
	uint64_t addr;   /**< In the exporter. */
	uint32_t len;    /**< At most RTE_COMCH_PIECE_MAX. */
	bool is_write;
	uint8_t slot;    /**< Of the library. */
};

/**
 * Start a piece. The caller fills it in, and keeps it and its memory until it has ended.
 *
 * @return
 *   - 0: it is under way.
 *   - -EAGAIN: not now: the exporter has not answered yet, or RTE_COMCH_MAX_PIECES are under way.
 *   - -EINVAL: NULL, or too long.
 *   - -ENOTCONN: the exporter is gone, its export is destroyed, or it refuses this process, for
 *     instance as it serves as many as it can; logged once.
 *   - -ENOMEM, -EMFILE, -ENFILE: of this process, which may try again.
 */
int rte_comch_piece_start(struct rte_comch_piece *piece);

/**
 * See how far a piece is that was started.
 *
 * @return
 *   - -EINPROGRESS: under way; also as long as the exporter is stopped.
 *   - 0: done.
 *   - -EACCES: the exporter refuses it: not within the range, or a write into memory that can be
 *     read only.
 *   - -EFAULT: the exporter has unmapped the memory.
 *   - -ENOTCONN: the exporter is gone, or its export is destroyed.
 *   - -EIO: the exporter has another error.
 */
int rte_comch_piece_poll(struct rte_comch_piece *piece);

/** End a piece that is under way. The exporter may still write it if it is one to be written. */
void rte_comch_piece_cancel(struct rte_comch_piece *piece);

#ifdef __cplusplus
}
#endif

#endif /* RTE_COMCH_REMOTE_H */
