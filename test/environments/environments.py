#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
"""Run two programs in an unusual environment. Both find each other and end well, and EAL has
no complaint.

usage: environments.py ENVIRONMENT HELPERS DPU-PROGRAM [ARGUMENT...] -- HOST-PROGRAM [ARGUMENT...]

HELPERS is the directory with environment_deny (a seccomp filter) and the libraries
environment_ticks.so and environment_clock.so, which the programs get by LD_PRELOAD.

doc/guides/environments.md says what each environment needs. Where this machine cannot
have one, the test is skipped (status 77) with a reason.
"""

import ctypes.util
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import sys

SKIP = 77
TIMEOUT_S = 50
# Of a container's default filter: what it refuses, of what this library could call.
CONTAINER = ["bpf", "perf_event_open", "ptrace", "mount", "umount2", "unshare", "setns", "keyctl",
             "add_key", "io_uring_setup", "userfaultfd", "move_pages", "mbind", "get_mempolicy",
             "set_mempolicy", "kcmp", "name_to_handle_at", "open_by_handle_at"]


class Environment:
    """How the programs are started."""

    def __init__(self, both=(), each=(), env=None, limits=None, shell=None, needs=(),
                 says=()):
        self.both = list(both)    # before the command that runs both
        self.each = list(each)    # before each program
        self.env = env or {}      # variables; None: without it
        self.limits = limits or {}
        self.shell = shell        # commands for a shell before each program
        self.needs = needs        # programs and files
        self.says = says          # EAL, with reason


def in_shell(commands):
    """Return the prefix that runs commands of a shell before a program."""
    return ["sh", "-c", f'{commands}\nexec "$@"', "sh"]


def mounts(commands):
    """Return the prefix that changes mounts of a namespace of its own before both run."""
    return ["unshare", "--mount", "--propagation", "private"] + in_shell(f"set -e\n{commands}")


def preload(name):
    """Return the path of an installed library, or its name, which is not there then."""
    found = ctypes.util.find_library(name)
    return found or f"lib{name}"


def environments(helpers):
    """Return the environments by name."""
    here = os.environ["TMPDIR"].rsplit("/", 1)[0]
    deny = str(helpers / "environment_deny")
    libraries = ":".join(str(helpers.parents[1] / "lib" / name) for name in ("comch", "doca"))
    return {
        # Namespaces: one for each side.
        "pid_namespaces": Environment(each=["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"]),
        "user_namespaces": Environment(each=["unshare", "--user", "--map-root-user"]),
        "mount_namespaces": Environment(each=["unshare", "--mount"]),
        "net_namespaces": Environment(each=["unshare", "--net", "--ipc", "--uts"]),
        # File systems.
        "shm_64k": Environment(both=mounts("mount -t tmpfs -o size=64k none /dev/shm")),
        "shm_64m": Environment(both=mounts("mount -t tmpfs -o size=64m none /dev/shm")),
        "read_only_root": Environment(both=mounts(
            f"mount --bind {here} {here}\nmount -o remount,bind,ro /")),
        # EAL's own directory cannot be written, and nobody says where else.
        "read_only_run": Environment(both=mounts(
            "mount --bind /run /run\nmount -o remount,bind,ro /run"),
                                     env={"RUNTIME_DIRECTORY": None}),
        # The loader's $ORIGIN needs /proc.
        "no_proc": Environment(both=mounts("umount -l /proc"),
                               env={"LD_LIBRARY_PATH": libraries}),
        "no_home": Environment(env={"HOME": None, "XDG_RUNTIME_DIR": None,
                                    "XDG_CONFIG_HOME": None, "USER": None}),
        "umask": Environment(shell="umask 0777"),
        "no_stdio": Environment(shell="exec <&- >&- 2>&-"),
        # Limits.
        "limit_files": Environment(limits={"NOFILE": 64}),
        "limit_sizes": Environment(limits={"FSIZE": 128 << 20}, says=[
            "EAL: Cannot resize memfd: File too large", "EAL: Falling back to anonymous map"]),
        "limit_processes": Environment(limits={"NPROC": 64}, needs=["!root"]),
        "limit_memlock": Environment(limits={"MEMLOCK": 0}),
        "limit_address_space": Environment(limits={"AS": 2 << 30}),
        "limit_stack": Environment(limits={"STACK": 1 << 20}),
        # The kernel refuses.
        "seccomp": Environment(each=[deny, "EPERM", *CONTAINER, "fchmodat2", "--"]),
        "no_membarrier": Environment(each=[deny, "ENOSYS", "membarrier", "--"]),
        "old_kernel": Environment(each=[deny, "ENOSYS", "close_range", "openat2", "fchmodat2",
                                        "membarrier", "--"]),
        "memfd_noexec": Environment(
            each=["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"] + in_shell(
                "set -e\necho 2 >/proc/sys/vm/memfd_noexec"),
            needs=["/proc/sys/vm/memfd_noexec"]),
        # What programs do around the library.
        "timer_signals": Environment(
            env={"LD_PRELOAD": str(helpers / "environment_ticks.so")}),
        "clock_jumps": Environment(env={"LD_PRELOAD": str(helpers / "environment_clock.so")}),
        "jemalloc": Environment(env={"LD_PRELOAD": preload("jemalloc")}, needs=["=jemalloc"]),
        "tcmalloc": Environment(env={"LD_PRELOAD": preload("tcmalloc_minimal")},
                                needs=["=tcmalloc_minimal"]),
        "mimalloc": Environment(env={"LD_PRELOAD": preload("mimalloc")}, needs=["=mimalloc"]),
        "one_cpu": Environment(both=["taskset", "-c", str(min(os.sched_getaffinity(0)))]),
        "many_descriptors": Environment(limits={"NOFILE": 4096}, each=[
            "bash", "-c", 'for i in {3..1502}; do eval "exec $i</dev/null"; done; exec "$@"',
            "bash"]),
    }


def skip(reason):
    """End as a test that is skipped."""
    print(f"skipped: {reason}")
    sys.exit(SKIP)


def check_needs(name, wanted):
    """Skip what this machine cannot do."""
    for need in wanted.needs:
        if need.startswith("="):
            if ctypes.util.find_library(need[1:]) is None:
                skip(f"{name}: lib{need[1:]} is not installed")
        elif need == "!root":
            if os.getuid() == 0:
                skip(f"{name}: root has no such limit")
        elif not os.path.exists(need):
            skip(f"{name}: there is no {need}")
    prefix = wanted.both + wanted.each
    if prefix and shutil.which(prefix[0]) is None:
        skip(f"{name}: {prefix[0]} is not installed")
    if "unshare" in prefix:
        done = subprocess.run([*prefix, "true"], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            skip(f"{name}: not allowed here: {done.stderr.strip()}")


def set_limits(limits):
    """Set limits of this process, and so of its children."""
    for name, value in limits.items():
        resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (value, value))


def run(wanted, programs):
    """Run both programs; return whether they ended well."""
    env = {**os.environ, **{key: value for key, value in wanted.env.items() if value is not None}}
    for key, value in wanted.env.items():
        if value is None:
            env.pop(key, None)
    shell = in_shell(wanted.shell) if wanted.shell else []
    files = [pathlib.Path(os.environ["TMPDIR"]) / name for name in ("dpu.log", "host.log")]
    # One command starts both, so that they share what surrounds them.
    pair = ["bash", "-c", 'out=$1 n=$2; shift 2; "${@:1:n}" >"$out/dpu.log" 2>&1 & pid=$!; '
            '"${@:n+1}" >"$out/host.log" 2>&1; status=$?; '
            '[ $status -eq 0 ] || kill $pid; wait $pid || status=$?; exit $status', "pair",
            os.environ["TMPDIR"], str(len(wanted.each + shell + programs[0]))]
    for program in programs:
        pair += wanted.each + shell + program
    # A session of their own, to end all of them.
    started = subprocess.Popen([*wanted.both, *pair], env=env, start_new_session=True,
                               preexec_fn=lambda: set_limits(wanted.limits))
    try:
        status = started.wait(TIMEOUT_S)
    except subprocess.TimeoutExpired:
        status = "time ran out"
        os.killpg(started.pid, signal.SIGKILL)
        started.wait()
    texts = [path.read_text() if path.exists() else "(none)" for path in files]
    for path, text in zip(files, texts):
        print(f"{path.name}:\n{text}")
    if status != 0:
        print(f"ended with: {status}")
        return False
    noise = [line for text in texts for line in text.splitlines()
             if line.startswith("EAL: ") and line not in wanted.says]
    if noise:
        print(f"both ended well, and yet EAL says: {noise[0]}")
    return not noise


def main():
    """Return the exit status."""
    name, helpers, *rest = sys.argv[1:]
    split = rest.index("--")
    programs = [rest[:split], rest[split + 1:]]
    wanted = environments(pathlib.Path(helpers).resolve())[name]
    check_needs(name, wanted)
    return 0 if run(wanted, programs) else 1


if __name__ == "__main__":
    sys.exit(main())
