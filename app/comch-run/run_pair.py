# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
"""Run a pair once: the DPU side, and when its server can be reached, the hosts."""

import ctypes
import os
import pathlib
import queue
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

import run_table
from run_end import ENDING, requests
from run_side import Side
from run_why import before_server, why

# Exit status when time has run out, as timeout(1) has it.
STATUS_TIMEOUT = 124
STATUS_FAILED = 1
# A program that cannot be executed, as a shell has it.
STATUS_CANNOT = 126
# How often comch-info looks at the sides: before the server is there, and later.
LOOK_S = 0.1
LOOK_LATER_S = 0.5
# The path of a socket has 107 characters; those below the place take some 80.
MAX_PLACE = 24
# Of processes that have started others, and so on.
MAX_DEPTH = 100
COLOURS = {"dpu": "36", "host": "33"}
PR_SET_CHILD_SUBREAPER = 36


class Output:
    """Lines of all sides, each with the side's name; and our own."""

    def __init__(self, names, colour):
        self.width = max(map(len, names))
        self.colour = colour
        self.lock = threading.Lock()
        self.is_read = True

    def line(self, name, data):
        """A line of a side."""
        prefix = f"{name:{self.width}} |"
        if self.colour:
            prefix = f"\033[{COLOURS[name.rstrip('0123456789')]}m{prefix}\033[0m"
        with self.lock:
            if not self.is_read:
                return
            try:
                sys.stdout.buffer.write(prefix.encode() + b" " + data.rstrip(b"\r") + b"\n")
                sys.stdout.buffer.flush()
            except OSError:
                # As with "| head": the pair goes on, and its output is in the logs.
                self.is_read = False
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

    def say(self, text):
        """A line of comch-run."""
        with self.lock:
            print(f"comch-run: {text}", file=sys.stderr, flush=True)


def descendants():
    """Processes that have us as their parent: also those whose own parent has ended."""
    pids = []
    for task in os.listdir("/proc/self/task"):
        try:
            pids += pathlib.Path(f"/proc/self/task/{task}/children").read_text().split()
        except OSError:  # A thread that has just ended.
            pass
    return [int(pid) for pid in pids]


class Pair:
    """One run. *sides*: (name, role, command) each, the DPU side first; *options* are those of
    comch-run; environment_of(role): the variables of a side."""

    def __init__(self, sides, options, environment_of, output):
        self.options = options
        self.output = output
        self.ended = queue.Queue()
        self.stopping = threading.Event()
        # What went wrong; said last, where one looks.
        self.verdict = None
        base = tempfile.gettempdir()
        # May fail, so that it comes before anything is made.
        environments = [environment_of(role) for _, role, _ in sides]
        self.place = pathlib.Path(tempfile.mkdtemp(
            prefix="comch-run-", dir=base if len(base) <= MAX_PLACE else "/tmp"))
        self.sides = []
        for (name, _, command), environment in zip(sides, environments):
            # Each side has a directory for EAL's files, so that comch-info sees it alone; and the
            # pair has one in which it meets, without any other pair.
            environment["RUNTIME_DIRECTORY"] = str(self.place / name)
            environment.setdefault("COMCH_DIR", str(self.place / "comch"))
            (self.place / name).mkdir()
            side = Side(name, command, environment, options.out / f"{name}.log", output.line)
            side.may_be_killed = run_table.has_fault(options, name, "exit")
            self.sides.append(side)
        self.dpu, *self.hosts = self.sides
        self.sockets_before = self.sockets()
        # The programs' orphans are ours, so that none is left.
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)

    def sockets(self):
        """Of servers in the directory in which the pair meets."""
        return set(pathlib.Path(self.dpu.environment["COMCH_DIR"]).glob("*/*.sock"))

    def has_socket(self):
        """Whether a server has come there, though it shows nothing."""
        return bool(self.sockets() - self.sockets_before)

    def is_ready(self):
        """Whether a server can be reached."""
        servers = self.dpu.all("servers")
        return any(s["state"] == "RUNNING" for s in servers) or (not servers and self.has_socket())

    def watch(self):
        """A thread: ask comch-info, until the pair has ended."""
        while not self.stopping.wait(LOOK_LATER_S):
            self.look()

    def look(self):
        """Ask about the sides that run."""
        for side in self.sides:
            if side.is_running():
                side.look(self.options.comch_info)

    def remaining(self, deadline):
        """Seconds until then; None: for ever."""
        return None if deadline is None else max(0, deadline - time.monotonic())

    def start(self, side):
        """Start a side; 0 or the status of the run."""
        terminal = side.name == self.options.terminal
        try:
            # A side that is half there could not be ended.
            with requests.held():
                side.start(self.ended, terminal)
        except OSError as error:
            what = error.strerror
            if isinstance(error, FileNotFoundError) and os.path.exists(side.command[0]):
                what = "its interpreter, in the first line, does not exist"
            self.verdict = f"{side.name}: cannot be started: {side.command[0]}: {what}"
            return STATUS_CANNOT
        if terminal:
            # Ctrl-C is for the debugger.
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        return 0

    def wait_for_server(self, deadline):
        """0 once it can be reached; else the status of the run."""
        while not self.is_ready():
            if not self.dpu.is_running():
                self.explain(self.dpu, "no server of it could be reached before")
                return self.dpu.status() or STATUS_FAILED
            if deadline is not None and time.monotonic() >= deadline:
                self.verdict = (f"timeout after {self.options.timeout:g} s: no server can be "
                                f"reached; {before_server(self.dpu)}")
                return STATUS_TIMEOUT
            time.sleep(LOOK_S)
            self.dpu.look(self.options.comch_info)
        return 0

    def explain(self, side, sentence):
        """That a side has ended too early, where its output is, and what is known of the reason."""
        self.verdict = f"{side.name}: " + ("was killed by its fault" if side.was_killed() else
                                           f"ended with status {side.status()}")
        if side.name != self.options.terminal:
            self.verdict += f"; its output is in {side.log}"
        if sentence:
            self.verdict += f"; {sentence}"

    def wait_for_ends(self, deadline):
        """Until a side fails, or all have ended; the status."""
        left = set(self.sides)
        while left & set(self.hosts):
            try:
                side = self.ended.get(timeout=self.remaining(deadline))
            except queue.Empty:
                self.look()
                hosts = [host for host in self.hosts if host.is_running()]
                self.verdict = f"timeout after {self.options.timeout:g} s: " + (
                    why(self.dpu, hosts) or "no connection has been seen")
                return STATUS_TIMEOUT
            left.discard(side)
            if side.status() != 0:
                self.explain(side, None if side is self.dpu else why(self.dpu, [side]))
                return side.status()
        return self.wait_for_dpu(deadline)

    def wait_for_dpu(self, deadline):
        """The hosts are done: many servers then run on."""
        grace = None if self.dpu.name == self.options.terminal else self.options.grace
        if grace is not None and deadline is not None:
            grace = min(grace, self.remaining(deadline))
        try:
            self.dpu.process.wait(timeout=grace)
        except subprocess.TimeoutExpired:
            self.output.say("dpu: still runs after the hosts are done: ending it")
            self.dpu.end()
        if self.dpu.status() != 0:
            self.explain(self.dpu, None)
        return self.dpu.status()

    def wait_for_terminal(self):
        """A side in a debugger is not ended: its user ends it."""
        for side in self.sides:
            if side.name == self.options.terminal and side.is_running():
                self.output.say(f"waiting for the debugger of {side.name}" + (
                    f"; {self.verdict}" if self.verdict else ""))
                side.process.wait()

    def run(self):
        """The status: 0, that of the first side that failed, or STATUS_TIMEOUT."""
        timeout = self.options.timeout
        deadline = None if timeout is None else time.monotonic() + timeout
        watcher = threading.Thread(target=self.watch, daemon=True)
        try:
            status = self.start(self.dpu) or self.wait_for_server(deadline)
            for host in self.hosts:
                status = status or self.start(host)
            if status == 0:
                watcher.start()
                status = self.wait_for_ends(deadline)
            self.wait_for_terminal()
            return status
        finally:
            # Whoever asks again would leave what is not ended yet.
            handlers = {number: signal.signal(number, signal.SIG_IGN) for number in ENDING}
            self.stopping.set()
            self.close()
            for number, handler in handlers.items():
                signal.signal(number, handler)
            for side in self.sides:
                if side.was_killed():
                    self.output.say(f"{side.name}: was killed by its fault, which is no failure")
            if self.verdict is not None:
                self.output.say(self.verdict)

    def close(self):
        """End what still runs; nothing is left but the logs."""
        for side in reversed(self.sides):
            side.end()
            side.join()
        # Those of a process that is killed become ours.
        for _ in range(MAX_DEPTH):
            pids = descendants()
            if not pids:
                break
            for pid in pids:
                try:
                    os.kill(pid, signal.SIGKILL)
                    os.waitpid(pid, 0)
                except (ProcessLookupError, ChildProcessError, PermissionError):
                    pass
        shutil.rmtree(self.place, ignore_errors=True)
