# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
"""Run a pair on two virtual machines, an x86-64 host and an arm64 DPU, by devtools/lab.sh."""

import os
import pathlib
import re
import shlex
import shutil
import subprocess

# Of the tools that look into a program, none is in the machines.
ALONE = ("gdb", "strace", "valgrind")
STATUS_FAILED = 1
# For a pair whose time is not limited: lab.sh wants a number. A month.
LONG_S = 30 * 86400
# The report of lab.sh, after the output of both sides.
REPORT = re.compile(r"(dpu|host): exit status (\d+)\n?$")


class Wrong(Exception):
    """What was asked for, and what would be right."""


def find(here):
    """lab.sh: that of package comch-lab, or of the source tree that comch-run is in."""
    named = os.environ.get("COMCH_LAB")
    if named:
        if not os.access(named, os.X_OK):
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
    done = subprocess.run([lab, "devices"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Wrong(f"--lab: {lab}: {done.stderr.strip()}")
    path = out / "lab.ini"
    path.write_text(done.stdout)
    return path


def check(options, commands):
    """What works on one machine alone."""
    for tool in ALONE:
        if getattr(options, tool):
            raise Wrong(f"--{tool}: not with --lab")
    if len(commands) != 2:
        raise Wrong(f"--lab has one host, and {len(commands) - 1} were given")


def words_of(lab, options, table, commands):
    """The command line of lab.sh."""
    words = [lab, "--time", str(int(options.timeout or LONG_S)), "--out", str(options.out)]
    if table:
        words += ["--devices", str(table)]
    if options.doca:
        words += ["--doca", options.doca]
    dpu, host = map(shlex.join, commands)
    return [*words, "run", host, dpu]


def run(lab, options, table, commands, output):
    """Run it once; the status: that of the DPU's program if it failed, else of the host's."""
    statuses = {}
    process = subprocess.Popen(words_of(lab, options, table, commands), stdout=subprocess.PIPE,
                               stdin=subprocess.DEVNULL)
    try:
        for line in process.stdout:
            text = line.decode(errors="replace")
            side, _, rest = text.partition(" | ")
            report = REPORT.match(text)
            if side in ("dpu", "host") and rest:
                output.line(side, line.split(b" | ", 1)[1].rstrip(b"\n"))
            elif report:
                statuses[report.group(1)] = int(report.group(2))
            elif text.strip():
                output.say(text.strip().removeprefix("==> "))
    except BaseException:
        process.terminate()
        raise
    finally:
        process.wait()
    for side in ("dpu", "host"):
        if statuses.get(side):
            output.say(f"{side}: ended with status {statuses[side]}; its output is in "
                       f"{options.out / side}")
            return statuses[side]
    return 0 if process.returncode == 0 else STATUS_FAILED
