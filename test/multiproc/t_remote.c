/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Memory of the other side, natively: an exporter that does nothing, and the test as its importer.
 * test/doca/accel has the lists, the deaths and the peers that do not keep to the rules.
 */

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bsd/string.h>

#include <rte_comch_remote.h>
#include <rte_errno.h>

#include "mp.h"
#include "t_log.h"

/* Where a descriptor has its path. */
#define DESC_PATH 36
/* A user besides root. */
#define ANOTHER 65534
#define LEN (3 * RTE_COMCH_PIECE_MAX + 5)

/* What both processes see. */
struct shared {
	uint8_t desc[RTE_COMCH_EXPORT_DESC_LEN];
	uint64_t addr;
	uint8_t copy[LEN];   /* of the exporter's memory */
	uint32_t flags;
};

struct remote {
	struct t_proc exporter;
	struct shared *shared;
	struct rte_comch_import *imp;
	uint8_t mem[LEN];
};

static uint8_t
byte_at(size_t i)
{
	return (uint8_t)(i * 5 + i / 253);
}

static int16_t
open_dev(const char *devargs)
{
	int16_t dev;

	T_EQ(rte_comch_dev_probe(devargs, &dev), 0);
	return dev;
}

static void filter_calls(void);

static void
ends_log(struct t_log *log)
{
	T_EQ(t_log_count(log, "it may not"), 1);
	t_log_stop(log);
	free(log->text);
}

/*
 * 'C': copy the memory; 'D': destroy the export; 'U': unmap; 'F': filter calls; 'L': begin a log;
 * 'M': that had one refusal; 'X': exit.
 */
static int
export_memory(int fd, void *arg)
{
	struct shared *shared = arg;
	struct rte_comch_export *exp;
	struct t_step step;
	struct t_log log;
	uint8_t *mem;
	int16_t dev;
	size_t i;

	t_eal_start(1);
	dev = open_dev("comch_shm0,role=host,func=pf0");
	mem = mmap(NULL, LEN, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	T_CHECK(mem != MAP_FAILED);
	for (i = 0; i < LEN; i++)
		mem[i] = byte_at(i);
	exp = rte_comch_export_create(dev, mem, LEN, shared->flags);
	T_CHECK(exp != NULL);
	T_EQ(rte_comch_export_desc(exp, shared->desc), 0);
	shared->addr = (uintptr_t)mem;
	t_say(fd, 'R', 0);
	for (;;) {
		T_AWAIT(t_listen(fd, &step));
		if (step.code == 'C')
			memcpy(shared->copy, mem, LEN);
		else if (step.code == 'D')
			T_EQ(rte_comch_export_destroy(exp), 0);
		else if (step.code == 'U')
			T_EQ(munmap(mem, LEN), 0);
		else if (step.code == 'F')
			filter_calls();
		else if (step.code == 'L')
			t_log_begin(&log);
		else if (step.code == 'M')
			ends_log(&log);
		else
			break;
		t_say(fd, (char)step.code, 0);
	}
	T_EQ(rte_comch_dev_close(dev), 0);
	t_eal_stop();
	return 0;
}

static struct shared *
share(uint32_t flags)
{
	struct shared *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	T_CHECK(shared != MAP_FAILED);
	shared->flags = flags;
	return shared;
}

static void
remote_open(struct remote *r, uint32_t flags)
{
	r->shared = share(flags);
	t_proc_start(&r->exporter, "exporter", export_memory, r->shared);
	t_hear(r->exporter.fd, 'R');
	t_eal_start(1);
	r->imp = rte_comch_import_create(r->shared->desc);
	T_CHECK(r->imp != NULL);
	memset(r->mem, 0, LEN);
}

static void
exporter_do(struct remote *r, char what)
{
	t_say(r->exporter.fd, what, 0);
	t_hear(r->exporter.fd, what);
}

static void
remote_close(struct remote *r)
{
	rte_comch_import_destroy(r->imp);
	t_say(r->exporter.fd, 'X', 0);
	t_proc_join(&r->exporter);
	T_EQ(munmap(r->shared, sizeof(*r->shared)), 0);
	t_eal_stop();
}

static void
begin_readable(struct remote *r)
{
	remote_open(r, 0);
}

static void
begin_writable(struct remote *r)
{
	remote_open(r, RTE_COMCH_EXPORT_F_WRITE);
}

#define READABLE_CASE(name) T_CASE_OF(struct remote, begin_readable, remote_close, name, r)
#define WRITABLE_CASE(name) T_CASE_OF(struct remote, begin_writable, remote_close, name, r)

static struct rte_comch_piece
piece_of(struct remote *r, size_t off, uint32_t len, bool is_write)
{
	return (struct rte_comch_piece){
		.imp = r->imp, .local = r->mem + off, .addr = r->shared->addr + off, .len = len,
		.is_write = is_write,
	};
}

/* Whether it can be started. */
static int
try(struct rte_comch_piece *piece)
{
	int ret = 0;

	T_WAIT(0, (ret = rte_comch_piece_start(piece)) != -EAGAIN);
	return ret;
}

static void
start(struct rte_comch_piece *piece)
{
	T_EQ(try(piece), 0);
}

/* How a piece ends. */
static int
end(struct rte_comch_piece *piece)
{
	int ret = 0;

	T_WAIT(0, (ret = rte_comch_piece_poll(piece)) != -EINPROGRESS);
	return ret;
}

READABLE_CASE(reads)
{
	struct rte_comch_piece pieces[4];
	size_t i;

	/* Several at a time, that end in any order. */
	for (i = 0; i < 4; i++) {
		pieces[i] = piece_of(r, i * RTE_COMCH_PIECE_MAX, i < 3 ? RTE_COMCH_PIECE_MAX : 5,
			false);
		start(&pieces[i]);
	}
	for (i = 4; i > 0; i--)
		T_EQ(end(&pieces[i - 1]), 0);
	for (i = 0; i < LEN; i++)
		T_EQ(r->mem[i], byte_at(i));
}

WRITABLE_CASE(writes)
{
	struct rte_comch_piece piece = piece_of(r, 1, 1000, true);

	memset(r->mem, 0x77, LEN);
	start(&piece);
	T_EQ(end(&piece), 0);
	exporter_do(r, 'C');
	T_EQ(r->shared->copy[0], byte_at(0));
	T_EQ(r->shared->copy[1], 0x77);
	T_EQ(r->shared->copy[1000], 0x77);
	T_EQ(r->shared->copy[1001], byte_at(1001));
}

READABLE_CASE(refused)
{
	struct rte_comch_piece piece = piece_of(r, 0, 10, true);

	start(&piece);
	T_EQ(end(&piece), -EACCES);
	piece = piece_of(r, LEN - 5, 6, false);
	start(&piece);
	T_EQ(end(&piece), -EACCES);
	piece = piece_of(r, 0, RTE_COMCH_PIECE_MAX + 1, false);
	T_EQ(rte_comch_piece_start(&piece), -EINVAL);
	T_EQ(rte_comch_piece_start(NULL), -EINVAL);
	/* The connection goes on. */
	piece = piece_of(r, LEN - 5, 5, false);
	start(&piece);
	T_EQ(end(&piece), 0);
}

/* Whatever it asks for, an importer fills no log. */
READABLE_CASE(refused_again_and_again)
{
	struct rte_comch_piece piece;
	unsigned int i;

	exporter_do(r, 'L');
	for (i = 0; i < 20; i++) {
		piece = i % 2 == 0 ? piece_of(r, i, 10, true) : piece_of(r, LEN, i, false);
		start(&piece);
		T_EQ(end(&piece), -EACCES);
	}
	exporter_do(r, 'M');
}

/* In a process of another user, which has the key. */
static int
import_as_another(int fd, void *arg)
{
	const struct shared *shared = arg;
	struct rte_comch_piece piece = { .addr = shared->addr, .len = 1 };
	struct t_log log;
	uint8_t byte;

	RTE_SET_USED(fd);
	t_eal_start(1);
	T_EQ(setresuid(ANOTHER, ANOTHER, ANOTHER), 0);
	/* Its /proc is its own, as that of a process of that user from the start on. */
	T_EQ(prctl(PR_SET_DUMPABLE, 1, 0, 0, 0), 0);
	piece.imp = rte_comch_import_create(shared->desc);
	piece.local = &byte;
	T_CHECK(piece.imp != NULL);
	t_log_begin(&log);
	T_EQ(try(&piece), -ENOTCONN);
	T_EQ(try(&piece), -ENOTCONN);
	T_EQ(t_log_count(&log, "import from"), 1);
	t_log_end(&log, "Permission denied");
	rte_comch_import_destroy(piece.imp);
	return 0;
}

/* Let others look for files in the directories of the tests. */
static void
open_dirs(const char *path)
{
	char dir[108], *slash;

	strlcpy(dir, path, sizeof(dir));
	while ((slash = strrchr(dir, '/')) > dir + strlen("/tmp")) {
		*slash = '\0';
		T_EQ(chmod(dir, 0711), 0);
	}
}

T_CASE(another_user)
{
	struct t_proc exporter, importer;
	struct shared *shared;

	if (geteuid() != 0)
		t_skip("only root can be another user");
	shared = share(0);
	/* It may let everybody in by its own choice, but not here. */
	umask(0);
	t_proc_start(&exporter, "exporter", export_memory, shared);
	t_hear(exporter.fd, 'R');
	open_dirs((const char *)shared->desc + DESC_PATH);
	t_proc_start(&importer, "importer", import_as_another, shared);
	t_proc_join(&importer);
	t_say(exporter.fd, 'X', 0);
	t_proc_join(&exporter);
}

READABLE_CASE(more_than_there_can_be)
{
	struct rte_comch_piece pieces[RTE_COMCH_MAX_PIECES + 1];
	size_t i;

	for (i = 0; i < RTE_DIM(pieces); i++)
		pieces[i] = piece_of(r, i, 1, false);
	start(&pieces[0]);
	T_EQ(end(&pieces[0]), 0);
	for (i = 0; i < RTE_COMCH_MAX_PIECES; i++)
		start(&pieces[i]);
	/* Whether they are done or not, until they are polled. */
	T_EQ(rte_comch_piece_start(&pieces[RTE_COMCH_MAX_PIECES]), -EAGAIN);
	T_EQ(end(&pieces[3]), 0);
	start(&pieces[RTE_COMCH_MAX_PIECES]);
	for (i = 0; i < RTE_DIM(pieces); i++)
		if (i != 3)
			T_EQ(end(&pieces[i]), 0);
}

READABLE_CASE(cancelled)
{
	struct rte_comch_piece piece = piece_of(r, 0, 100, false);
	size_t i;

	start(&piece);
	T_EQ(end(&piece), 0);
	/* As often as there are slots, and once more. */
	for (i = 0; i <= RTE_COMCH_MAX_PIECES; i++) {
		start(&piece);
		rte_comch_piece_cancel(&piece);
	}
	memset(r->mem, 0, LEN);
	start(&piece);
	T_EQ(end(&piece), 0);
	T_EQ(r->mem[99], byte_at(99));
}

READABLE_CASE(destroyed)
{
	struct rte_comch_piece piece = piece_of(r, 0, 100, false);
	int ret;

	start(&piece);
	T_EQ(end(&piece), 0);
	exporter_do(r, 'D');
	start(&piece);
	T_EQ(end(&piece), -ENOTCONN);
	/* The exporter has ended the connection, as is seen now or later, and refuses another. */
	ret = try(&piece);
	T_EQ(ret == 0 ? end(&piece) : ret, -ENOTCONN);
}

/* An import, while a piece of it is under way. */
READABLE_CASE(import_destroyed)
{
	struct rte_comch_piece piece = piece_of(r, 0, 100, false);

	start(&piece);
	rte_comch_import_destroy(r->imp);
	r->imp = NULL;
	T_EQ(end(&piece), 0);
	T_EQ(r->mem[99], byte_at(99));
}

static int
use_in_child(int fd __rte_unused, void *arg)
{
	struct remote *r = arg;
	struct rte_comch_piece piece = piece_of(r, 0, 1, false);

	return rte_comch_piece_start(&piece) == -EBADFD ? 0 : 1;
}

/* As in a container that knows process_vm_readv() as a call of debuggers. */
static void
filter_calls(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_writev, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = { .len = RTE_DIM(code), .filter = code };

	T_EQ(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	/* For the library's thread as well. */
	T_EQ(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program), 0);
}

WRITABLE_CASE(filtered)
{
	struct rte_comch_piece piece = piece_of(r, 0, RTE_COMCH_PIECE_MAX, false);
	size_t i;

	exporter_do(r, 'F');
	start(&piece);
	T_EQ(end(&piece), 0);
	for (i = 0; i < RTE_COMCH_PIECE_MAX; i++)
		T_EQ(r->mem[i], byte_at(i));
	memset(r->mem, 0x77, LEN);
	piece = piece_of(r, 1, 1000, true);
	start(&piece);
	T_EQ(end(&piece), 0);
	exporter_do(r, 'C');
	T_EQ(r->shared->copy[1], 0x77);
	T_EQ(r->shared->copy[1000], 0x77);
	T_EQ(r->shared->copy[1001], byte_at(1001));
	/* Memory that is gone is found in this way, too. */
	exporter_do(r, 'U');
	start(&piece);
	T_EQ(end(&piece), -EFAULT);
	piece.is_write = false;
	start(&piece);
	T_EQ(end(&piece), -EFAULT);
}

WRITABLE_CASE(unmapped)
{
	struct rte_comch_piece piece = piece_of(r, 0, 100, false);

	start(&piece);
	T_EQ(end(&piece), 0);
	exporter_do(r, 'U');
	start(&piece);
	T_EQ(end(&piece), -EFAULT);
	piece.is_write = true;
	start(&piece);
	T_EQ(end(&piece), -EFAULT);
}

/* The process goes on exporting in a child, once it has no objects itself. */
static int
export_in_child(int fd, void *arg)
{
	struct rte_comch_piece piece = { .len = 4 };
	uint8_t desc[RTE_COMCH_EXPORT_DESC_LEN];
	struct rte_comch_export *exp;
	char there[] = "abc", here[4] = "";
	int16_t dev;

	RTE_SET_USED(fd);
	RTE_SET_USED(arg);
	dev = open_dev("comch_shm0,role=host,func=pf0");
	exp = rte_comch_export_create(dev, there, sizeof(there), 0);
	T_CHECK(exp != NULL);
	T_EQ(rte_comch_export_desc(exp, desc), 0);
	piece.imp = rte_comch_import_create(desc);
	piece.addr = (uintptr_t)there;
	piece.local = here;
	start(&piece);
	T_EQ(end(&piece), 0);
	T_EQ(memcmp(here, there, sizeof(there)), 0);
	rte_comch_import_destroy(piece.imp);
	T_EQ(rte_comch_export_destroy(exp), 0);
	T_EQ(rte_comch_dev_close(dev), 0);
	return 0;
}

static void
export_in_both(void)
{
	struct t_proc child;

	export_in_child(-1, NULL);
	t_proc_start(&child, "child", export_in_child, NULL);
	t_proc_join(&child);
	export_in_child(-1, NULL);
}

T_CASE(child_of_an_exporter)
{
	t_eal_start(1);
	export_in_both();
	t_eal_stop();
}

/* What its parent copied by is not the child's. */
T_CASE(child_of_a_filtered_exporter)
{
	t_eal_start(1);
	filter_calls();
	export_in_both();
	t_eal_stop();
}

READABLE_CASE(forked)
{
	struct rte_comch_piece piece = piece_of(r, 0, 1, false);
	struct t_proc child;

	start(&piece);
	T_EQ(end(&piece), 0);
	t_proc_start(&child, "child", use_in_child, r);
	t_proc_join(&child);
	start(&piece);
	T_EQ(end(&piece), 0);
}

#define BLOCK ((size_t)2 << 20)

static bool
is_untouched(uint8_t *addr, size_t len)
{
	unsigned char pages[2 * BLOCK / 4096];
	size_t i;

	T_CHECK(len <= 2 * BLOCK);
	T_EQ(mincore(addr, len, pages), 0);
	for (i = 0; i < len / 4096; i++)
		if ((pages[i] & 1) != 0)
			return false;
	return true;
}

/* Memory that is there may be moved; what is not there stays away. */
T_CASE(huge_pages)
{
	const size_t len = 6 * BLOCK;
	struct rte_comch_export *exp;
	uint8_t *mem, *map;
	int16_t dev;
	size_t i;

	t_eal_start(1);
	dev = open_dev("comch_shm0,role=dpu,rep=pf0");
	map = mmap(NULL, len + BLOCK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	T_CHECK(map != MAP_FAILED);
	/* Blocks as they are moved: the kernel may have huge pages without a move as well. */
	mem = RTE_PTR_ALIGN_CEIL(map, BLOCK);
	for (i = 0; i < len / 2; i++)
		mem[i] = byte_at(i);
	exp = rte_comch_export_create(dev, mem + 100, len - 200, 0);
	T_CHECK(exp != NULL);
	for (i = 0; i < len / 2; i++)
		T_EQ(mem[i], byte_at(i));
	T_CHECK(is_untouched(mem + len / 2, BLOCK));
	T_CHECK(is_untouched(mem + len - 2 * BLOCK, 2 * BLOCK));
	T_EQ(rte_comch_export_destroy(exp), 0);
	T_EQ(munmap(map, len + BLOCK), 0);
	T_EQ(rte_comch_dev_close(dev), 0);
	t_eal_stop();
}

T_CASE(arguments)
{
	uint8_t desc[RTE_COMCH_EXPORT_DESC_LEN] = { 0 };
	struct rte_comch_export *exp;
	int16_t dev, ring;
	uint8_t byte;

	t_eal_start(1);
	dev = open_dev("comch_shm0,role=dpu,rep=pf0");
	ring = open_dev("comch_ring0,role=dpu,rep=pf0");
	T_CHECK(rte_comch_export_create(dev, NULL, 1, 0) == NULL);
	T_EQ(rte_errno, EINVAL);
	T_CHECK(rte_comch_export_create(dev, &byte, 0, 0) == NULL);
	T_EQ(rte_errno, EINVAL);
	T_CHECK(rte_comch_export_create(dev, &byte, SIZE_MAX, 0) == NULL);
	T_EQ(rte_errno, EINVAL);
	T_CHECK(rte_comch_export_create(dev, &byte, 1, 2) == NULL);
	T_EQ(rte_errno, EINVAL);
	T_CHECK(rte_comch_export_create(1000, &byte, 1, 0) == NULL);
	T_EQ(rte_errno, ENODEV);
	exp = rte_comch_export_create(ring, &byte, 1, 0);
	T_CHECK(exp != NULL);
	T_EQ(rte_comch_export_destroy(exp), 0);
	exp = rte_comch_export_create(dev, &byte, 1, 0);
	T_CHECK(exp != NULL);
	T_EQ(rte_comch_export_desc(NULL, desc), -EINVAL);
	T_EQ(rte_comch_export_desc(exp, NULL), -EINVAL);
	T_EQ(rte_comch_export_destroy(NULL), -EINVAL);
	T_CHECK(rte_comch_import_create(NULL) == NULL);
	T_EQ(rte_errno, EINVAL);
	T_CHECK(rte_comch_import_create(desc) == NULL);
	T_EQ(rte_errno, EINVAL);
	T_EQ(rte_comch_export_desc(exp, desc), 0);
	/* A path that is not one of ours. */
	memcpy(desc + DESC_PATH, "/run/docker.sock", sizeof("/run/docker.sock"));
	T_CHECK(rte_comch_import_create(desc) == NULL);
	T_EQ(rte_errno, EINVAL);
	rte_comch_import_destroy(NULL);
	T_EQ(rte_comch_export_destroy(exp), 0);
	T_EQ(rte_comch_dev_close(ring), 0);
	T_EQ(rte_comch_dev_close(dev), 0);
	t_eal_stop();
}
