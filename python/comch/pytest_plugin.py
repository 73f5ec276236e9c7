# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
"""Fixtures of pytest: the test is the other side of the program under test.

    # conftest.py
    pytest_plugins = ["comch.pytest_plugin"]

    def test_client_says_what_it_got(comch_dpu, comch_program):
        with comch_dpu.server("echo") as server:
            client = comch_program("build/client", "-p", "b1:00.0")
            server.accept().send(b"no such file")
            assert client.wait() == 1
            assert "no such file" in client.output()

comch_dpu and comch_host are devices on one poll, comch_poll, in a directory of the test's own,
comch_dir; comch_program starts programs that meet them there, and ends them after the test. While
the test waits for one, the poll runs.
"""

import os
import pathlib
import pty
import shutil
import subprocess
import tempfile
import threading
import tty

import pytest

from ._ctrl import dpu, host
from ._poll import Poll, waits

# How long a program may take to end when it is asked to, seconds.
END_S = 2


class Program:
    """A program under test. Its output is that on a terminal, so that it is there at once."""

    def __init__(self, command, environment, poll):
        self.poll = poll
        self.name = pathlib.Path(command[0]).name
        self.said = b""
        master, slave = pty.openpty()
        tty.setraw(slave)
        try:
            self.process = subprocess.Popen(
                command, env=environment, stdin=subprocess.DEVNULL, stdout=slave, stderr=slave,
                start_new_session=True)
        except OSError:
            os.close(master)
            raise
        finally:
            os.close(slave)
        self.pump = threading.Thread(target=self.read, args=(master,), daemon=True)
        self.pump.start()

    def __str__(self):
        return f"{self.name} (process {self.process.pid})"

    def read(self, master):
        """A thread: what it says."""
        with open(master, "rb", buffering=0) as file:
            while True:
                try:
                    data = file.read(65536)
                except OSError:  # No process has the other end.
                    return
                if not data:
                    return
                self.said += data

    def output(self):
        """What it has said so far."""
        return self.said.decode(errors="replace")

    @waits("{0} has not ended")
    def wait(self):
        """Wait for its end; the exit status, or a signal's number as -N."""
        while self.process.poll() is None:
            yield
        self.pump.join(timeout=END_S)
        return self.process.returncode

    @waits("{0} has not said it")
    def expect(self, text):
        """Wait until it has said this; all that it has said."""
        while text not in self.output():
            if self.process.poll() is not None:
                self.pump.join(timeout=END_S)
                if text in self.output():
                    break
                raise AssertionError(f"{self} ended with status {self.process.returncode} and "
                                     f"did not say {text!r}, but:\n{self.output()}")
            yield
        return self.output()

    def end(self):
        """Ask it to end; then end it."""
        for number in (15, 9):
            if self.process.poll() is not None:
                break
            os.killpg(self.process.pid, number)
            try:
                self.process.wait(timeout=END_S)
            except subprocess.TimeoutExpired:
                pass
        self.pump.join(timeout=END_S)


@pytest.fixture
def comch_dir():
    """Where both sides meet: of this test alone. Short, as paths of sockets are."""
    path = tempfile.mkdtemp(prefix="comch-", dir="/tmp")
    yield path
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture
def comch_poll():
    """A poll, for all that a test makes."""
    with Poll() as poll:
        yield poll


@pytest.fixture
def comch_dpu(comch_dir, comch_poll):
    """The DPU's device, for servers."""
    with dpu(directory=comch_dir, poll=comch_poll) as device:
        yield device


@pytest.fixture
def comch_host(comch_dir, comch_poll):
    """Function pf0 of the host, for clients."""
    with host(directory=comch_dir, poll=comch_poll) as device:
        yield device


@pytest.fixture
def comch_program(comch_dir, comch_poll):
    """Start a program: comch_program("./client", "-p", "b1:00.0", VARIABLE="value")."""
    programs = []

    def start(*command, **variables):
        environment = {**os.environ, "COMCH_DIR": comch_dir, **variables}
        programs.append(Program(list(map(str, command)), environment, comch_poll))
        return programs[-1]

    yield start
    for program in programs:
        program.end()
