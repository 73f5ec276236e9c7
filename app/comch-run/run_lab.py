# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
"""Run a pair on two virtual machines, an x86-64 host and an arm64 DPU, by devtools/lab.sh."""

import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import time

import run_table
from run_pair import STATUS_FAILED, STATUS_TIMEOUT
from run_side import STATUS_KILLED, Seen
from run_why import why

# Of the tools that look into a program, none is in the machines.
ALONE = ("gdb", "strace", "valgrind")
# Between the two looks of lab.sh.
BETWEEN_LOOKS_S = 2
# For a pair whose time is not limited: lab.sh wants a number. A month.
LONG_S = 30 * 86400
# The report of lab.sh, after the output of both sides.
REPORT = re.compile(r"(dpu|host): exit status (\d+)(: ended after)?")


class Wrong(Exception):
    """What was asked for, and what would be right."""


def find(here):
    """lab.sh: that of package comch-lab, or of the source tree that comch-run is in."""
    named = os.environ.get("COMCH_LAB")
    if named:
        if not os.access(named, os.X_OK) or not os.path.isfile(named):
            raise Wrong(f"--lab: $COMCH_LAB names {named}, which cannot be executed")
        return named
    for parent in pathlib.Path(here).resolve().parents:
        if os.access(parent / "devtools" / "lab.sh", os.X_OK):
            return str(parent / "devtools" / "lab.sh")
    lab = shutil.which("comch-lab")
    if lab is None:
        raise Wrong("--lab: there is no comch-lab: install package comch-lab, or have $COMCH_LAB "
                    "name devtools/lab.sh of the sources of comch")
    return lab


def devices(lab, out):
    """The device table of the machines, as a file in the directory *out*."""
    path = out / "lab.ini"
    try:
        done = subprocess.run([lab, "devices"], capture_output=True, text=True, check=False)
        if done.returncode == 0:
            path.write_text(done.stdout)
            return path
    except OSError as error:
        raise Wrong(f"--lab: {error.filename}: {error.strerror}") from error
    raise Wrong(f"--lab: {lab}: ended with status {done.returncode}: {done.stderr.strip()}")


def check(options, commands):
    """What works on one machine alone."""
    for tool in ALONE:
        if getattr(options, tool):
            raise Wrong(f"--{tool}: not with --lab")
    if options.doca:
        raise Wrong("--doca: not with --lab: a program is compiled for a release, by comch-lab "
                    f"--doca {options.doca} compile")
    if len(commands) != 2:
        raise Wrong(f"--lab has one host, and {len(commands) - 1} were given")


class LabSide(Seen):
    """A side in its machine. It is asked by lab.sh, and only when time has run out."""

    def __init__(self, name):
        super().__init__(name)
        self.status = None
        self.is_late = False

    def is_running(self):
        """Whether it had not ended before."""
        return self.status is None or self.is_late

    def is_stopped(self):
        """Not known."""
        return False

    def read(self, out):
        """What comch-info has said, twice."""
        now = time.monotonic()
        for turn, ago in ((1, BETWEEN_LOOKS_S), (2, 0)):
            try:
                self.take(json.loads((out / f"{self.name}.{turn}.json").read_text()), now - ago)
            except (OSError, ValueError):  # It had ended, or shows nothing.
                pass


def words_of(lab, options, table, commands):
    """The command line of lab.sh."""
    words = [lab, "--time", str(max(1, round(options.timeout or LONG_S))), "--out", str(options.out),
             "--grace", str(round(options.grace))]
    if table:
        words += ["--devices", str(table)]
    for side in ("dpu", "host"):
        if run_table.has_fault(options, side, "exit"):
            words += ["--may-die", side]
    machines = os.environ.get("COMCH_LAB_MACHINES")
    if machines:
        words += ["--machines", machines]
    dpu, host = map(shlex.join, commands)
    return [*words, "run", host, dpu]


def show(process, sides, output):
    """Its output; the status that each side ended with."""
    for line in process.stdout:
        text = line.decode(errors="replace")
        name, _, rest = text.partition(" | ")
        report = REPORT.match(text)
        if name in sides and rest:
            output.line(name, line.split(b" | ", 1)[1].rstrip(b"\n"))
        elif report:
            side = sides[report.group(1)]
            side.status, side.is_late = int(report.group(2)), bool(report.group(3))
        elif text.strip():
            output.say(text.strip().removeprefix("==> "))


def verdict(options, sides):
    """The status, that of the first side that failed, and what to say of it; None: nothing."""
    if any(side.is_late for side in sides):
        for side in sides:
            side.read(options.out)
        dpu, *hosts = sides
        return STATUS_TIMEOUT, f"timeout after {options.timeout:g} s: " + (
            why(dpu, hosts) or "no connection has been seen")
    for side in sides:
        if side.status and not (side.status == STATUS_KILLED and
                                run_table.has_fault(options, side.name, "exit")):
            return side.status, (f"{side.name}: ended with status {side.status}; its output is in "
                                 f"{options.out / side.name}.log")
    return 0, None


def run(lab, options, table, commands, output):
    """Run it once; the status."""
    sides = {name: LabSide(name) for name in ("dpu", "host")}
    process = subprocess.Popen(words_of(lab, options, table, commands), stdout=subprocess.PIPE,
                               stdin=subprocess.DEVNULL, start_new_session=True)
    try:
        show(process, sides, output)
    except BaseException:
        # Also what it builds with.
        os.killpg(process.pid, signal.SIGTERM)
        raise
    finally:
        process.wait()
    status, said = verdict(options, sides.values())
    if said:
        output.say(said)
    # It may have failed by itself.
    return status or (STATUS_FAILED if process.returncode != 0 else 0)
