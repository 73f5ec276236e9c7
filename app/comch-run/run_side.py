# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
"""A side of a pair: a program, its output, and what comch-info knows of it."""

import json
import os
import pty
import signal
import subprocess
import threading
import time
import tty

# How long a program may take to end when it is asked to; in valgrind, which then reports.
END_S = 2
END_VALGRIND_S = 30
# Status of valgrind if it has found errors.
VALGRIND_STATUS = 99
# comch-info waits as long for a process that is stopped.
INFO_TIMEOUT_S = 6


def status_of(returncode):
    """As a shell has it: 128 and the signal."""
    return 128 - returncode if returncode < 0 else returncode


class Side:
    """One program. Threads: a pump copies its output, a waiter tells *ended* when it is over."""

    def __init__(self, name, command, environment, log, show):
        self.name = name
        self.command = command
        self.environment = environment
        self.log = log
        self.show = show
        self.process = None
        self.threads = []
        self.in_valgrind = command[0] == "valgrind"
        # We have ended it, so that its status says nothing.
        self.was_ended = False
        # What comch-info knows, since when, and when anything of it has changed last; and what
        # counts messages, not runs.
        self.states = []
        self.busy = self.traffic = None
        self.looked_at = self.changed_at = self.spoke_at = time.monotonic()

    def start(self, ended, terminal=False):
        """Start it; the queue *ended* gets this side when it is over. May raise OSError."""
        self.log.unlink(missing_ok=True)
        if terminal:
            self.process = subprocess.Popen(self.command, env=self.environment)
        else:
            # On a terminal, programs write each line as it is complete: what has been said is
            # there even if the program is killed.
            log = open(self.log, "wb", buffering=0)  # The pump closes it.
            master, slave = pty.openpty()
            tty.setraw(slave)
            try:
                self.process = subprocess.Popen(
                    self.command, env=self.environment, stdin=subprocess.DEVNULL, stdout=slave,
                    stderr=slave, start_new_session=True)
            finally:
                os.close(slave)
            self.threads.append(threading.Thread(target=self.pump, args=(master, log),
                                                 daemon=True))
        self.threads.append(threading.Thread(target=self.wait, args=(ended,), daemon=True))
        for thread in self.threads:
            thread.start()

    def pump(self, master, log):
        """Copy the output to the log, and show it by whole lines."""
        rest = b""
        while True:
            try:
                data = os.read(master, 65536)
            except OSError:  # No process has the other end.
                break
            *lines, rest = (rest + data).split(b"\n")
            self.keep(log, data, lines)
        if rest:
            self.keep(log, b"", [rest])
        log.close()
        os.close(master)

    def keep(self, log, data, lines):
        """Write to the log, and show. If nobody reads it, or the disk is full, the side goes on."""
        try:
            log.write(data)
        except OSError:
            pass
        for line in lines:
            self.show(self.name, line)

    def wait(self, ended):
        """Until it is over."""
        self.process.wait()
        ended.put(self)

    def join(self):
        """After its end: all of its output has been shown, unless a child of it writes still."""
        for thread in self.threads:
            thread.join(timeout=END_S)

    def is_running(self):
        """Whether it has started and not ended."""
        return self.process is not None and self.process.returncode is None

    def status(self):
        """Its exit status; 0 while it runs, and if we have ended it, unless valgrind found errors."""
        if self.process is None or self.process.returncode is None:
            return 0
        if self.was_ended and not (self.in_valgrind and
                                   self.process.returncode == VALGRIND_STATUS):
            return 0
        return status_of(self.process.returncode)

    def end(self):
        """Ask it to end; then end it."""
        for number in (signal.SIGTERM, signal.SIGKILL):
            if not self.is_running():
                return
            self.was_ended = True
            try:
                os.killpg(self.process.pid, number)
            except ProcessLookupError:
                # It has the terminal, so it is no group of its own; or it has just ended.
                self.process.send_signal(number)
            except PermissionError:  # Of another user, by sudo.
                return
            try:
                self.process.wait(timeout=END_VALGRIND_S if self.in_valgrind else END_S)
            except subprocess.TimeoutExpired:
                pass

    def look(self, comch_info):
        """Ask comch-info. Keeps what it said before, if there is nothing any more."""
        try:
            done = subprocess.run([comch_info, "--json"], env=self.environment,
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                  timeout=INFO_TIMEOUT_S, check=False)
            states = json.loads(done.stdout) if done.returncode == 0 else []
        except (subprocess.TimeoutExpired, ValueError):
            return
        if not states:
            return
        for state in states:
            for kind in COUNTED:
                # One that has just ended has none.
                state[kind] = [o for o in state[kind] if "stats" in o]
        self.looked_at = time.monotonic()
        busy = [[(o.get("stats"), o.get("state"), o.get("asleep")) for o in state[kind]]
                for state in states for kind in KINDS]
        if busy != self.busy:
            self.changed_at = self.looked_at
        traffic = [[o["stats"] for o in state[kind]] for state in states for kind in COUNTED]
        if traffic != self.traffic:
            self.spoke_at = self.looked_at
        self.busy, self.traffic, self.states = busy, traffic, states

    def all(self, kind):
        """All objects of a kind, of all of its processes."""
        return [o for state in self.states for o in state[kind]]


COUNTED = ("connections", "producers", "consumers")
KINDS = ("servers", "clients", "connections", "producers", "consumers", "polls")
