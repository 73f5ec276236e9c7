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
# As a shell has a process that kill -9 has ended.
STATUS_KILLED = 128 + signal.SIGKILL
# comch-info waits as long for a process that is stopped.
INFO_TIMEOUT_S = 6


def status_of(returncode):
    """As a shell has it: 128 and the signal."""
    return 128 - returncode if returncode < 0 else returncode


class Seen:
    """What is known of one side: what comch-info said, since when, and when anything of it has
    changed last; and what counts messages, not runs."""

    def __init__(self, name):
        self.name = name
        self.states = []
        self.busy = self.traffic = None
        self.looked_at = self.changed_at = self.spoke_at = time.monotonic()

    def take(self, states, now):
        """What comch-info has said. What it said before is kept, if there is nothing any more."""
        if not states:
            return
        for state in states:
            for kind in COUNTED:
                # One that has just ended has none.
                state[kind] = [o for o in state[kind] if "stats" in o]
        self.looked_at = now
        busy = [[(o.get("stats"), o.get("state"), o.get("asleep")) for o in state[kind]]
                for state in states for kind in KINDS]
        if busy != self.busy:
            self.changed_at = now
        traffic = [[o["stats"] for o in state[kind]] for state in states for kind in COUNTED]
        if traffic != self.traffic:
            self.spoke_at = now
        self.busy, self.traffic, self.states = busy, traffic, states

    def all(self, kind):
        """All objects of a kind, of all of its processes."""
        return [o for state in self.states for o in state[kind]]


class Side(Seen):
    """One program. Threads: a pump copies its output, a waiter tells *ended* when it is over."""

    def __init__(self, name, command, environment, log, show):
        super().__init__(name)
        self.command = command
        self.environment = environment
        self.log = log
        self.show = show
        self.process = None
        self.threads = []
        self.in_valgrind = command[0] == "valgrind"
        # We have ended it, so that its status says nothing.
        self.was_ended = False
        # By SIGKILL.
        self.was_shot = False
        # A fault kills it, which is what its user has asked for.
        self.may_be_killed = False

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

    def was_killed(self):
        """Whether its fault has killed it: its status says nothing then."""
        return (self.may_be_killed and not self.was_shot and self.process is not None and
                self.process.returncode is not None and
                status_of(self.process.returncode) == STATUS_KILLED)

    def status(self):
        """Its exit status; 0 while it runs, and if we or its fault have ended it, unless valgrind
        found errors."""
        if self.process is None or self.process.returncode is None or self.was_killed():
            return 0
        if self.was_ended and not (self.in_valgrind and
                                   self.process.returncode == VALGRIND_STATUS):
            return 0
        return status_of(self.process.returncode)

    def is_stopped(self):
        """Whether one of its processes has been stopped by a signal."""
        for state in self.states:
            try:
                with open(f"/proc/{state['pid']}/stat", encoding="utf-8", errors="replace") as file:
                    if file.read().rpartition(")")[2].split()[0] in "Tt":
                        return True
            except OSError:  # It has ended.
                pass
        return False

    def end(self):
        """Ask it to end; then end it."""
        for number in (signal.SIGTERM, signal.SIGKILL):
            if not self.is_running():
                return
            self.was_ended = True
            self.was_shot = number == signal.SIGKILL
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
        """Ask comch-info."""
        try:
            done = subprocess.run([comch_info, "--json"], env=self.environment,
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                  timeout=INFO_TIMEOUT_S, check=False)
            states = json.loads(done.stdout) if done.returncode == 0 else []
        except (subprocess.TimeoutExpired, ValueError):
            return
        self.take(states, time.monotonic())


COUNTED = ("connections", "producers", "consumers")
KINDS = ("servers", "clients", "connections", "producers", "consumers", "polls")
