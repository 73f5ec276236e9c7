# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
"""Sessions of test-comch: at a pseudo terminal, or through pipes."""

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time

PROMPT = "test-comch> "
# What librte_cmdline and the tables write beside text.
ESCAPES = re.compile(r"\x1b\[[0-9;]*[A-Za-z]|\x1b[A-Z]")
PATIENCE = 10


class Session:
    """A program whose output is read until it has what is expected."""

    def __init__(self, args, process, fd_in, fd_out):
        self.args = args
        self.process = process
        self.fd_in = fd_in
        self.fd_out = fd_out
        self.raw = ""      # everything it has written
        self.seen = 0      # what was expected up to here, in text()

    def text(self):
        """All that it has written, without escape sequences and carriage returns."""
        return ESCAPES.sub("", self.raw).replace("\r", "")

    def read(self, seconds):
        """Read what is there. Return False at the end."""
        ready, _, _ = select.select([self.fd_out], [], [], seconds)
        if not ready:
            return True
        try:
            data = os.read(self.fd_out, 65536)
        except OSError:  # of a terminal
            data = b""
        self.raw += data.decode("utf-8", "replace")
        return bool(data)

    def expect(self, pattern):
        """Read until the pattern is there, behind what was expected before; with "~" in
        front, anywhere: an event may come before or after the prompt."""
        end = time.monotonic() + PATIENCE
        anywhere = pattern.startswith("~")
        while True:
            match = re.compile(pattern.lstrip("~"), re.M).search(
                self.text(), 0 if anywhere else self.seen)
            if match:
                self.seen = max(self.seen, match.end())
                return match
            if time.monotonic() > end or not self.read(0.2):
                raise AssertionError(f"{self.args}: no {pattern!r} in:\n"
                                     f"{self.text()[self.seen:]}\nafter:\n"
                                     f"{self.text()[:self.seen]}")

    def keys(self, text):
        """Type."""
        os.write(self.fd_in, text.encode())

    def do(self, command, pattern=None):
        """Give a command, and expect something of it."""
        self.keys(command + "\n")
        return self.expect(pattern) if pattern else None

    def end(self, status=0):
        """Read to the end and check the exit status."""
        end = time.monotonic() + PATIENCE
        while self.read(0.2):
            assert time.monotonic() < end, f"{self.args}: does not end:\n{self.text()}"
        found = self.process.wait(timeout=PATIENCE)
        assert found == status, f"{self.args}: exit status {found}, expected {status}:\n" \
                                f"{self.text()}"
        return self.text()

    def quit(self, status=0):
        self.do("quit")
        return self.end(status)

    def kill(self):
        """Kill it; also called for what is left after a failure."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


class Terminal(Session):
    """A session at a pseudo terminal."""

    def __init__(self, args, columns=100, term="xterm", **env):
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
        env = {**{key: val for key, val in os.environ.items() if key != "NO_COLOR"},
               "TERM": term, **env}
        process = subprocess.Popen(args, stdin=slave, stdout=slave, stderr=slave, env=env)
        os.close(slave)
        super().__init__(args, process, master, master)

    def prompt(self):
        self.expect(re.escape(PROMPT))

    def do(self, command, pattern=None):
        """Type a command, expect its echo, something of it, and the next prompt."""
        self.keys(command + "\n")
        self.expect(re.escape(command[-60:]))
        match = None
        if pattern and not pattern.startswith("~"):
            match = self.expect(pattern)
        if command != "quit":
            self.prompt()
        return self.expect(pattern) if pattern and pattern.startswith("~") else match


class Pipe(Session):
    """A session through pipes."""

    def __init__(self, args):
        process = subprocess.Popen(args, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT)
        super().__init__(args, process, process.stdin.fileno(), process.stdout.fileno())
