/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <argz.h>
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <rte_lcore.h>
#include <rte_malloc.h>
#include <rte_mbuf.h>
#include <rte_memzone.h>

#include "fault.h"
#include "t.h"

#if defined(__x86_64__)
#define IS_CALL_RELOC(type) ((type) == R_X86_64_JUMP_SLOT || (type) == R_X86_64_GLOB_DAT)
#elif defined(__aarch64__)
#define IS_CALL_RELOC(type) ((type) == R_AARCH64_JUMP_SLOT || (type) == R_AARCH64_GLOB_DAT)
#else
#error "the relocations of calls on this machine are not known"
#endif

struct state {
	unsigned int kinds; /* 0: disarmed */
	unsigned int nth;
	bool from;
	unsigned int paused;
	unsigned int calls;
	unsigned int failed;
	const char *name;   /* of the first call that failed */
	const void *caller;
	const char *only;   /* names of the calls that fail; NULL: those of `kinds` */
	int err;            /* of these calls; 0: what they say when something is used up */
	void (*before)(void);
};

static struct state none;
/* Shared with children: the parent of one that crashed says which call it was. */
static struct state *fault = &none;

/* Of a wrapper: does this call fail? Library threads ask, too. */
#define DUE(kind, name) due(kind, name, __builtin_return_address(0))

/* Is it one of several names, with spaces between them? */
static bool
is_named(const char *names, const char *name)
{
	const size_t len = strlen(name);
	const char *at;

	for (at = names; (at = strstr(at, name)) != NULL; at += len)
		if ((at == names || at[-1] == ' ') && (at[len] == ' ' || at[len] == '\0'))
			return true;
	return false;
}

static bool
due(unsigned int kind, const char *name, const void *caller)
{
	unsigned int n;

	if ((__atomic_load_n(&fault->kinds, __ATOMIC_ACQUIRE) & kind) == 0 ||
			__atomic_load_n(&fault->paused, __ATOMIC_ACQUIRE) != 0 ||
			(fault->only != NULL && !is_named(fault->only, name)))
		return false;
	n = __atomic_add_fetch(&fault->calls, 1, __ATOMIC_RELAXED);
	if (n < fault->nth || (n > fault->nth && !fault->from))
		return false;
	if (fault->before != NULL) {
		__atomic_fetch_add(&fault->failed, 1, __ATOMIC_RELAXED);
		fault->before();
		return false;
	}
	if (__atomic_fetch_add(&fault->failed, 1, __ATOMIC_RELAXED) == 0) {
		fault->name = name;
		fault->caller = caller;
	}
	return true;
}

static void
arm(unsigned int kinds, const struct state *conf)
{
	fault->nth = conf->nth;
	fault->from = conf->from;
	fault->only = conf->only;
	fault->err = conf->err;
	fault->before = conf->before;
	fault->calls = fault->failed = 0;
	fault->name = NULL;
	fault->caller = NULL;
	__atomic_store_n(&fault->kinds, kinds, __ATOMIC_RELEASE);
}

void
fault_arm(unsigned int kinds, unsigned int nth, bool from)
{
	arm(kinds, &(struct state){ .nth = nth, .from = from });
}

void
fault_arm_call(const char *calls, unsigned int nth, int err)
{
	arm(UINT_MAX, &(struct state){ .nth = nth, .from = true, .only = calls, .err = err });
}

void
fault_arm_before(const char *call, unsigned int nth, void (*fn)(void))
{
	arm(UINT_MAX, &(struct state){ .nth = nth, .only = call, .before = fn });
}

bool
fault_disarm(void)
{
	__atomic_store_n(&fault->kinds, 0, __ATOMIC_RELEASE);
	return fault_is_felt();
}

bool
fault_is_felt(void)
{
	return __atomic_load_n(&fault->failed, __ATOMIC_RELAXED) != 0;
}

unsigned int
fault_calls(void)
{
	return __atomic_load_n(&fault->calls, __ATOMIC_RELAXED);
}

void
fault_pause(void)
{
	__atomic_add_fetch(&fault->paused, 1, __ATOMIC_RELEASE);
}

void
fault_resume(void)
{
	__atomic_sub_fetch(&fault->paused, 1, __ATOMIC_RELEASE);
}

const char *
fault_text(void)
{
	static char text[256];
	const char *file;
	Dl_info info;

	if (fault->name == NULL)
		return "no call";
	if (fault->caller == NULL || dladdr(fault->caller, &info) == 0)
		return fault->name;
	file = strrchr(info.dli_fname, '/');
	snprintf(text, sizeof(text), "%s of %s+0x%lx", fault->name,
		file == NULL ? info.dli_fname : file + 1,
		(unsigned long)((uintptr_t)fault->caller - (uintptr_t)info.dli_fbase));
	return text;
}

/* Of a call that fails: the error that was asked for, or its usual one. */
static int
error_of(int usual)
{
	return fault->err != 0 ? fault->err : usual;
}

/*
 * The wrappers. FAIL_PTR: a function that returns NULL, FAIL_INT: one that returns -1, both
 * with errno.
 */
#define FAIL_PTR(kind, fn, err, params, args) \
	static void * \
	fail_##fn params \
	{ \
		if (!DUE(kind, #fn)) \
			return (void *)(uintptr_t)fn args; \
		errno = error_of(err); \
		return NULL; \
	}
#define FAIL_INT(kind, type, fn, err, params, args) \
	static type \
	fail_##fn params \
	{ \
		if (!DUE(kind, #fn)) \
			return fn args; \
		errno = error_of(err); \
		return -1; \
	}

FAIL_PTR(FAULT_MEMORY, malloc, ENOMEM, (size_t n), (n))
FAIL_PTR(FAULT_MEMORY, calloc, ENOMEM, (size_t n, size_t size), (n, size))
FAIL_PTR(FAULT_MEMORY, realloc, ENOMEM, (void *p, size_t n), (p, n))
FAIL_PTR(FAULT_MEMORY, reallocarray, ENOMEM, (void *p, size_t n, size_t size), (p, n, size))
FAIL_PTR(FAULT_MEMORY, aligned_alloc, ENOMEM, (size_t align, size_t n), (align, n))
FAIL_PTR(FAULT_MEMORY, strdup, ENOMEM, (const char *s), (s))
FAIL_PTR(FAULT_MEMORY, strndup, ENOMEM, (const char *s, size_t n), (s, n))
FAIL_PTR(FAULT_MEMORY, open_memstream, ENOMEM, (char **buf, size_t *size), (buf, size))
FAIL_PTR(FAULT_MEMORY, fmemopen, ENOMEM, (void *buf, size_t n, const char *mode), (buf, n, mode))
FAIL_PTR(FAULT_MEMORY, rte_malloc, ENOMEM, (const char *type, size_t n, unsigned int align),
	(type, n, align))
FAIL_PTR(FAULT_MEMORY, rte_zmalloc, ENOMEM, (const char *type, size_t n, unsigned int align),
	(type, n, align))
FAIL_PTR(FAULT_MEMORY, rte_malloc_socket, ENOMEM,
	(const char *type, size_t n, unsigned int align, int socket), (type, n, align, socket))
FAIL_PTR(FAULT_MEMORY, rte_zmalloc_socket, ENOMEM,
	(const char *type, size_t n, unsigned int align, int socket), (type, n, align, socket))

/* EAL's functions set rte_errno. */
#define FAIL_EAL(type, fn, params, args) \
	static type * \
	fail_##fn params \
	{ \
		if (!DUE(FAULT_MEMORY, #fn)) \
			return fn args; \
		rte_errno = ENOMEM; \
		return NULL; \
	}

FAIL_EAL(const struct rte_memzone, rte_memzone_reserve,
	(const char *name, size_t n, int socket, unsigned int flags), (name, n, socket, flags))
FAIL_EAL(struct rte_mempool, rte_pktmbuf_pool_create_extbuf,
	(const char *name, unsigned int n, unsigned int cache, uint16_t priv, uint16_t room,
	int socket, const struct rte_pktmbuf_extmem *mem, unsigned int nb_mems),
	(name, n, cache, priv, room, socket, mem, nb_mems))

static int
fail_posix_memalign(void **p, size_t align, size_t n)
{
	return DUE(FAULT_MEMORY, "posix_memalign") ? ENOMEM : posix_memalign(p, align, n);
}

static int fail_vasprintf(char **s, const char *fmt, va_list ap) __rte_format_printf(2, 0);
static int fail_asprintf(char **s, const char *fmt, ...) __rte_format_printf(2, 3);

static int
fail_vasprintf(char **s, const char *fmt, va_list ap)
{
	*s = NULL;
	return DUE(FAULT_MEMORY, "vasprintf") ? -1 : vasprintf(s, fmt, ap);
}

static int
fail_asprintf(char **s, const char *fmt, ...)
{
	va_list ap;
	int n;

	*s = NULL;
	if (DUE(FAULT_MEMORY, "asprintf"))
		return -1;
	va_start(ap, fmt);
	n = vasprintf(s, fmt, ap);
	va_end(ap);
	return n;
}

/* It returns its error. */
static error_t
fail_argz_add(char **argz, size_t *len, const char *s)
{
	return DUE(FAULT_MEMORY, "argz_add") ? ENOMEM : argz_add(argz, len, s);
}

FAIL_INT(FAULT_MAP, int, memfd_create, EMFILE, (const char *name, unsigned int flags),
	(name, flags))
FAIL_INT(FAULT_MAP, int, fallocate, ENOSPC, (int fd, int mode, off_t off, off_t len),
	(fd, mode, off, len))
FAIL_INT(FAULT_MAP, int, ftruncate, EFBIG, (int fd, off_t len), (fd, len))
FAIL_INT(FAULT_SEAL, int, madvise, EAGAIN, (void *p, size_t n, int advice), (p, n, advice))

static void *
fail_mmap(void *addr, size_t len, int prot, int flags, int fd, off_t off)
{
	if (!DUE(FAULT_MAP, "mmap"))
		return mmap(addr, len, prot, flags, fd, off);
	errno = error_of(ENOMEM);
	return MAP_FAILED;
}

static void *
fail_mremap(void *addr, size_t len, size_t new_len, int flags, void *to)
{
	if (!DUE(FAULT_MAP, "mremap"))
		return mremap(addr, len, new_len, flags, to);
	errno = error_of(ENOMEM);
	return MAP_FAILED;
}

static int
fail_fcntl(int fd, int cmd, ...)
{
	const bool dups = cmd == F_DUPFD || cmd == F_DUPFD_CLOEXEC;
	va_list ap;
	long arg;

	va_start(ap, cmd);
	arg = va_arg(ap, long);
	va_end(ap);
	if (!DUE(dups ? FAULT_FD : FAULT_SEAL, "fcntl"))
		return fcntl(fd, cmd, arg);
	errno = error_of(dups ? EMFILE : EBUSY);
	return -1;
}

static int
fail_open(const char *path, int flags, ...)
{
	va_list ap;
	mode_t mode;

	va_start(ap, flags);
	mode = va_arg(ap, mode_t);
	va_end(ap);
	if (!DUE(FAULT_FD, "open"))
		return open(path, flags, mode);
	errno = error_of(EMFILE);
	return -1;
}

FAIL_PTR(FAULT_FD, fopen, EMFILE, (const char *path, const char *mode), (path, mode))
FAIL_PTR(FAULT_FD, opendir, EMFILE, (const char *path), (path))
FAIL_INT(FAULT_FD, int, socket, EMFILE, (int family, int type, int proto), (family, type, proto))
FAIL_INT(FAULT_FD, int, socketpair, EMFILE, (int family, int type, int proto, int *fds),
	(family, type, proto, fds))
FAIL_INT(FAULT_FD, int, accept4, EMFILE,
	(int fd, struct sockaddr *addr, socklen_t *len, int flags), (fd, addr, len, flags))
FAIL_INT(FAULT_FD, int, eventfd, EMFILE, (unsigned int count, int flags), (count, flags))
FAIL_INT(FAULT_FD, int, epoll_create1, EMFILE, (int flags), (flags))
FAIL_INT(FAULT_FD, int, timerfd_create, EMFILE, (int clock, int flags), (clock, flags))
FAIL_INT(FAULT_FD, int, inotify_init1, EMFILE, (int flags), (flags))
FAIL_INT(FAULT_FD, int, dup, EMFILE, (int fd), (fd))
FAIL_INT(FAULT_FD, int, dup3, EBUSY, (int fd, int to, int flags), (fd, to, flags))

FAIL_INT(FAULT_WATCH, int, epoll_ctl, ENOSPC, (int fd, int op, int of, struct epoll_event *ev),
	(fd, op, of, ev))
FAIL_INT(FAULT_WATCH, int, inotify_add_watch, ENOSPC, (int fd, const char *path, uint32_t mask),
	(fd, path, mask))
FAIL_INT(FAULT_WATCH, int, bind, ENOSPC, (int fd, const struct sockaddr *addr, socklen_t len),
	(fd, addr, len))
FAIL_INT(FAULT_WATCH, int, connect, ENOMEM, (int fd, const struct sockaddr *addr, socklen_t len),
	(fd, addr, len))
FAIL_INT(FAULT_WATCH, int, listen, ENOMEM, (int fd, int backlog), (fd, backlog))
FAIL_INT(FAULT_WATCH, int, flock, ENOLCK, (int fd, int op), (fd, op))
FAIL_INT(FAULT_WATCH, int, mkdir, ENOSPC, (const char *path, mode_t mode), (path, mode))
FAIL_INT(FAULT_WATCH, int, chmod, EROFS, (const char *path, mode_t mode), (path, mode))
/* Never because something is used up. */
FAIL_INT(FAULT_NEVER, int, fstat, EIO, (int fd, struct stat *st), (fd, st))
FAIL_INT(FAULT_NEVER, long, syscall, ENOSYS,
	(long nr, long a, long b, long c, long d, long e, long f), (nr, a, b, c, d, e, f))
FAIL_INT(FAULT_WATCH, int, getsockopt, ENOBUFS,
	(int fd, int level, int name, void *value, socklen_t *len), (fd, level, name, value, len))
FAIL_INT(FAULT_WATCH, int, setsockopt, ENOBUFS,
	(int fd, int level, int name, const void *value, socklen_t len),
	(fd, level, name, value, len))

FAIL_INT(FAULT_SEND, ssize_t, send, ENOBUFS, (int fd, const void *p, size_t n, int flags),
	(fd, p, n, flags))
FAIL_INT(FAULT_SEND, ssize_t, sendmsg, ENOBUFS, (int fd, const struct msghdr *msg, int flags),
	(fd, msg, flags))
static int
fail_pthread_create(pthread_t *t, const pthread_attr_t *attr, void *(*fn)(void *), void *arg)
{
	return DUE(FAULT_THREAD, "pthread_create") ? EAGAIN : pthread_create(t, attr, fn, arg);
}

/* EAL's threads; the name of the function and its arguments depend on the version. */
static int
fail_rte_thread(void *a, void *b, void *c, void *d, void *e)
{
	int (*next)(void *a, void *b, void *c, void *d, void *e);

	if (DUE(FAULT_THREAD, "control thread"))
		return -EAGAIN;
	*(void **)&next = dlsym(RTLD_DEFAULT, "rte_ctrl_thread_create");
	if (next == NULL)
		*(void **)&next = dlsym(RTLD_DEFAULT, "rte_thread_create_control");
	return next(a, b, c, d, e);
}

#define ROW(fn) { #fn, (void (*)(void))fail_##fn }

static const struct row {
	const char *name;
	void (*fn)(void);
} rows[] = {
	ROW(malloc), ROW(calloc), ROW(realloc), ROW(reallocarray), ROW(aligned_alloc), ROW(strdup),
	ROW(strndup), ROW(open_memstream), ROW(fmemopen), ROW(rte_malloc), ROW(rte_zmalloc),
	ROW(rte_malloc_socket), ROW(rte_zmalloc_socket), ROW(posix_memalign), ROW(vasprintf),
	ROW(asprintf), ROW(argz_add), ROW(rte_memzone_reserve),
	ROW(rte_pktmbuf_pool_create_extbuf),
	ROW(memfd_create), ROW(fallocate), ROW(ftruncate), ROW(madvise), ROW(mmap), ROW(mremap),
	ROW(fcntl), ROW(open), ROW(fopen), ROW(opendir), ROW(socket), ROW(socketpair), ROW(accept4),
	ROW(eventfd), ROW(epoll_create1), ROW(timerfd_create), ROW(inotify_init1), ROW(dup),
	ROW(dup3), ROW(epoll_ctl), ROW(inotify_add_watch), ROW(bind), ROW(connect), ROW(listen),
	ROW(flock), ROW(mkdir), ROW(chmod), ROW(fstat), ROW(syscall), ROW(getsockopt),
	ROW(setsockopt), ROW(send), ROW(sendmsg), ROW(pthread_create),
	{ "rte_ctrl_thread_create", (void (*)(void))fail_rte_thread },
	{ "rte_thread_create_control", (void (*)(void))fail_rte_thread },
};

/* With large files, open() is the symbol open64. */
static const struct row *
row_of(const char *symbol)
{
	size_t len = strlen(symbol);
	const struct row *row;

	if (len > 2 && strcmp(symbol + len - 2, "64") == 0)
		len -= 2;
	for (row = rows; row < rows + RTE_DIM(rows); row++)
		if (strncmp(row->name, symbol, len) == 0 && row->name[len] == '\0')
			return row;
	return NULL;
}

/* A table of relocations, of which those of calls lead to the wrappers. */
static unsigned int
redirect(ElfW(Addr) base, const ElfW(Rela) *rela, size_t size, const ElfW(Sym) *sym,
		const char *str)
{
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	const ElfW(Rela) *end = rela + size / sizeof(*rela);
	const struct row *row;
	unsigned int n = 0;
	uintptr_t slot;

	for (; rela < end; rela++) {
		if (!IS_CALL_RELOC(ELF64_R_TYPE(rela->r_info)))
			continue;
		row = row_of(str + sym[ELF64_R_SYM(rela->r_info)].st_name);
		if (row == NULL)
			continue;
		slot = base + rela->r_offset;
		T_EQ(mprotect((void *)(slot & ~(page - 1)), page, PROT_READ | PROT_WRITE), 0);
		memcpy((void *)slot, &row->fn, sizeof(row->fn));
		n++;
	}
	return n;
}

struct install {
	const char *file;
	unsigned int n;
};

static int
install_object(struct dl_phdr_info *info, size_t size, void *arg)
{
	const char *file = strrchr(info->dlpi_name, '/');
	const ElfW(Rela) *jmprel = NULL, *rela = NULL;
	size_t jmprel_size = 0, rela_size = 0;
	const ElfW(Dyn) *dyn = NULL;
	const ElfW(Sym) *sym = NULL;
	struct install *in = arg;
	const char *str = NULL;
	ElfW(Half) i;

	RTE_SET_USED(size);
	if (file == NULL || strncmp(file + 1, in->file, strlen(in->file)) != 0)
		return 0;
	for (i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			dyn = (const void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
	for (; dyn != NULL && dyn->d_tag != DT_NULL; dyn++) {
		switch (dyn->d_tag) {
		case DT_JMPREL:
			jmprel = (const void *)dyn->d_un.d_ptr;
			break;
		case DT_PLTRELSZ:
			jmprel_size = dyn->d_un.d_val;
			break;
		case DT_RELA:
			rela = (const void *)dyn->d_un.d_ptr;
			break;
		case DT_RELASZ:
			rela_size = dyn->d_un.d_val;
			break;
		case DT_SYMTAB:
			sym = (const void *)dyn->d_un.d_ptr;
			break;
		case DT_STRTAB:
			str = (const void *)dyn->d_un.d_ptr;
			break;
		default:
			break;
		}
	}
	T_CHECK(sym != NULL && str != NULL);
	in->n += redirect(info->dlpi_addr, jmprel, jmprel_size, sym, str);
	in->n += redirect(info->dlpi_addr, rela, rela_size, sym, str);
	return 0;
}

unsigned int
fault_install(const char *file)
{
	struct install in = { .file = file };

	if (fault == &none) {
		fault = mmap(NULL, sizeof(*fault), PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		T_CHECK(fault != MAP_FAILED);
	}
	dl_iterate_phdr(install_object, &in);
	return in.n;
}
