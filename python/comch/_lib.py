# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
"""librte_comch, loaded, with EAL started; and its errors as Python has them."""

import atexit
import ctypes
import errno
import os
import pathlib
import shlex
import shutil
import sys
import tempfile
import threading

import cffi

from ._cdef import CONSTANTS, FUNCTIONS, TYPES

LIBRARY = "librte_comch.so.0"
# As SOCKET_ID_ANY of DPDK.
SOCKET_ID_ANY = -1

ffi = cffi.FFI()
ffi.cdef(TYPES + FUNCTIONS)


class Constants:
    """RTE_COMCH_*, without that prefix."""


for _name, _value in CONSTANTS.items():
    setattr(Constants, _name, _value)


class Eal:
    """The library and EAL, which a process starts once. A program may choose EAL's arguments by
    init() before its first poll or device."""

    def __init__(self):
        self.lock = threading.Lock()
        self.lib = None
        # The same library, for the variables of a thread, which cffi does not know.
        self.symbols = None
        self.argv = None
        self.directory = None
        self.pid = None

    def get(self):
        """The library; starts EAL with the default arguments if it has not been started."""
        with self.lock:
            if self.lib is None:
                self.start(shlex.split(os.environ.get("COMCH_EAL_ARGS", "")))
            elif self.pid != os.getpid():
                raise OSError(errno.ENOTSUP, f"a fork of process {self.pid} cannot use its "
                                             "channel: start another program instead")
            return self.lib

    def init(self, arguments):
        """Start it with more arguments."""
        with self.lock:
            if self.lib is not None:
                raise OSError(errno.EALREADY, "EAL runs already: call init() first")
            self.start(arguments)

    def load(self):
        """dlopen(), with a hint where it fails."""
        name = os.environ.get("COMCH_LIBRARY", LIBRARY)
        try:
            # Its dependencies are found through it, EAL among them.
            return ffi.dlopen(name), ctypes.CDLL(name)
        except OSError as error:
            raise ImportError(
                f"{error}: the package librte-comch0 has it; $COMCH_LIBRARY or "
                "$LD_LIBRARY_PATH name another one") from error

    def start(self, arguments):
        """The lock is held."""
        lib, self.symbols = self.load()
        if lib.rte_lcore_count() == 0:
            self.start_eal(lib, arguments)
        self.lib = lib
        self.pid = os.getpid()

    def start_eal(self, lib, arguments):
        """In a thread that ends, so that this one is bound to no CPU."""
        words = [pathlib.Path(sys.argv[0]).name or "python3", *defaults(arguments)]
        if not has(arguments, "--file-prefix", "--in-memory"):
            words += self.own_directory()
        words += arguments
        result = []
        # EAL may change the array, and keeps what it points to.
        self.argv = [ffi.new("char[]", word.encode()) for word in words]
        array = ffi.new("char *[]", self.argv + [ffi.NULL])

        def run():
            result.append((lib.rte_eal_init(len(words), array), self.rte_errno()))

        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
        status, reason = result[0]
        if status < 0:
            raise OSError(reason, f"EAL does not start: {os.strerror(reason)}; its arguments "
                                  f"were {shlex.join(words[1:])}")

    def own_directory(self):
        """Arguments for a directory of this process, in which comch-info and comch-run see it."""
        base = pathlib.Path(os.environ.get("RUNTIME_DIRECTORY") or (
            "/var/run" if os.geteuid() == 0 else os.environ.get("XDG_RUNTIME_DIR", "/tmp")))
        try:
            (base / "dpdk").mkdir(exist_ok=True)
            self.directory = tempfile.mkdtemp(prefix="comch_py_", dir=base / "dpdk")
        except OSError:
            return ["--in-memory", "--no-telemetry", "--log-level=lib.eal:3"]
        atexit.register(self.clean)
        return [f"--file-prefix={pathlib.Path(self.directory).name}"]

    def clean(self):
        """At the end of the process, and not of a fork of it."""
        if self.pid in (None, os.getpid()):
            shutil.rmtree(self.directory, ignore_errors=True)

    def rte_errno(self):
        """Of this thread."""
        return ctypes.c_int.in_dll(self.symbols, "per_lcore__rte_errno").value


def has(arguments, *options):
    """Whether one of them is given, such as "-l 0", "-l0", "--lcores=0"."""
    return any((word.split("=")[0] if word.startswith("--") else word[:2]) in options
               for word in arguments)


def defaults(arguments):
    """Arguments of EAL that are not given: no hugepages, no hardware, any CPU."""
    if not has(arguments, "--no-huge", "--huge-dir", "--socket-mem"):
        yield "--no-huge"
    if not has(arguments, "-m", "--socket-mem"):
        yield "-m256"
    if not has(arguments, "-l", "-c", "--lcores"):
        cpus = ",".join(map(str, sorted(os.sched_getaffinity(0))))
        yield f"--lcores=0@({cpus})"
    if not has(arguments, "-a", "--allow", "-b", "--block", "--no-pci"):
        yield "--no-pci"
    if not has(arguments, "--iova-mode"):
        yield "--iova-mode=va"
    if not has(arguments, "--proc-type", "--no-shconf", "--in-memory"):
        yield "--no-shconf"
    if not has(arguments, "--log-level"):
        yield "--log-level=*:error"
        yield "--log-level=*comch*:warning"


eal = Eal()


def error_of(status, what):
    """The exception of a negative errno, such as ConnectionRefusedError."""
    return OSError(-status, f"{what}: {os.strerror(-status)}")


def check(status, what, *expected):
    """Raise, unless *status* is 0 or more, or expected."""
    if status < 0 and status not in expected:
        raise error_of(status, what)
    return status


def made(pointer, what):
    """Raise if nothing was made; rte_errno says why."""
    if pointer == ffi.NULL:
        raise error_of(-eal.rte_errno(), what)
    return pointer


def text_of(pointer):
    """A string of the library; "" for none."""
    return "" if pointer == ffi.NULL else ffi.string(pointer).decode(errors="replace")


def key_of(pointer):
    """By which objects are found."""
    return int(ffi.cast("uintptr_t", pointer))
