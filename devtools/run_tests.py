#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
"""Run tests of a build directory, and judge them.

usage: run_tests.py [--gate] [--busy] NAME BUILD RESULTS [MESON-ARGUMENT...]

NAME      of the build, for what is printed
BUILD     a build directory
RESULTS   a directory: counts (passed, failed, skipped), and lists to which lines are added:
          failed, flaky, skipped
--gate    the rules of the gate, below
--busy    beside one busy loop for each CPU

The gate gives the same verdict each time. A test that fails is run again, twice alone and three
times beside one busy loop for each CPU, as often as fits into two minutes but at least twice. If it
passes each time, it is listed as flaky; up to three such tests do not fail the gate. Some failures are never
forgiven: the end by a signal, the report of a sanitizer, wrong content, and a test that ran into
its limit. Five of the latter end the run. Where CI is set, a skipped case fails unless
test/skips.txt lists it.
"""

import argparse
import contextlib
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

TOP = pathlib.Path(__file__).resolve().parent.parent
SKIPS = TOP / "test" / "skips.txt"
KINDS = {"OK": "passed", "EXPECTEDFAIL": "passed", "SKIP": "skipped"}
MAX_TIMEOUTS = 5
MAX_FLAKY = 3
AGAIN_ALONE, AGAIN_BUSY, AGAIN_AT_LEAST = 2, 3, 2
AGAIN_SECONDS = 120
LINES = 40

# What is never forgiven, in the output of a test.
SIGNAL = re.compile(r"CRASH!|ended by (a )?signal|: signal \d|caught signal|core dumped"
                    r"|Segmentation fault|Aborted|Bus error|Illegal instruction"
                    r"|Floating point exception|exit status -\d|returncode=-\d"
                    # Of a shell, and of wait().
                    r"|status \(?1[2-9]\d\b|status \(\d+\) == 0")
SANITIZER = re.compile(r"(Address|Leak|Thread|UndefinedBehavior)Sanitizer|runtime error: ")
# Of the checks of contents: T_VERIFY(), T_SEQ(), canaries, books of messages, copies of files.
CONTENT = re.compile(r"\bt_verify\(|\bmemcmp\(|\bcanar|instead of \d|out of order"
                     r"|\b(lost|twice|doubled|duplicate|damaged|differs)\b|\blacks (texts|blocks)"
                     r"|wrong (byte|content|data|order)")


def name_of(test):
    """Return the name alone, without project and suites."""
    return test["name"].split(" / ")[-1]


def output(test):
    return test.get("stdout", "") + test.get("stderr", "")


def kind(test):
    return KINDS.get(test["result"], "failed")


def skips_of(test):
    """Return what a test says of its skipped cases; "== CASE" comes before."""
    case, found = "", []
    for line in test.get("stdout", "").splitlines():
        if line.startswith("== "):
            case = line[3:] + ": "
        elif line.startswith("skipped: "):
            found.append(case + line[9:])
    found += [line[9:] for line in test.get("stderr", "").splitlines()
              if line.startswith("skipped: ")]
    if test["result"] == "SKIP" and not found:
        found = ["no reason given"]
    return found


def allowed_skips():
    """Return the list of test/skips.txt: (test, pattern of the reason)."""
    lines = (line.strip() for line in SKIPS.read_text(encoding="utf-8").splitlines())
    return [line.split(": ", 1) for line in lines if line and not line.startswith("#")]


def is_allowed(name, reason, allowed):
    return any(re.fullmatch(test, name) and re.search(pattern, reason)
               for test, pattern in allowed)


def never_forgiven(test):
    """Return why a failure counts even if the test passes when it is run again, or None."""
    text = output(test)
    if test["result"] == "TIMEOUT":
        return "it ran into its limit"
    if test["returncode"] < 0 or test["returncode"] > 128:
        return "it ended by a signal"
    for pattern, why in ((SIGNAL, "a process ended by a signal"),
                         (SANITIZER, "a sanitizer reports an error"),
                         (CONTENT, "the content is wrong")):
        match = pattern.search(text)
        if match:
            return f"{why} ({match.group()})"
    return None


def read_log(path):
    """Return the tests of a testlog.json, one object per line; the last may be incomplete."""
    tests = []
    with contextlib.suppress(FileNotFoundError), open(path, encoding="utf-8") as log:
        for line in log:
            with contextlib.suppress(json.JSONDecodeError):
                tests.append(json.loads(line))
    return tests


@contextlib.contextmanager
def busy_loops(count):
    """Keep CPUs busy meanwhile."""
    loops = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(count)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


class Run:
    """The tests of one build."""

    def __init__(self, name, build, results, gate):
        self.name, self.build, self.gate = name, pathlib.Path(build).resolve(), gate
        self.results = pathlib.Path(results)
        self.counts = {"passed": 0, "failed": 0, "skipped": 0}

    def logs(self, base):
        """Return the logs of a run; meson adds the name of a setup to theirs."""
        return (self.build / "meson-logs").glob(f"{base}*.json")

    def read_logs(self, base):
        return [test for log in self.logs(base) for test in read_log(log)]

    def meson(self, base, *arguments):
        """Return the command of a run, whose log has this name."""
        for log in self.logs(base):
            log.unlink()
        return ["meson", "test", "-C", str(self.build), "--no-rebuild", "--logbase", base,
                *arguments]

    def add(self, to, text):
        """Add to a list of the results."""
        with open(self.results / to, "a", encoding="utf-8") as file:
            print(text, file=file)

    def all_of(self, arguments):
        """Run the tests; the results. In the gate, too many that hang end the run."""
        limits = set()
        command = self.meson("testlog", "--print-errorlogs", *arguments)
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, errors="replace") as meson:
            for line in meson.stdout:
                print(line, end="", flush=True)
                match = re.match(r" *(\d+)/\d+ .* TIMEOUT ", line)
                if match and self.gate and match[1] not in limits:
                    limits.add(match[1])
                    if len(limits) == MAX_TIMEOUTS:
                        meson.send_signal(signal.SIGTERM)
        tests = self.read_logs("testlog")
        whole = [test for test in tests if test["result"] != "INTERRUPT"]
        if len(limits) >= MAX_TIMEOUTS:
            self.fail("the run", f"ended, because {len(limits)} tests ran into their limits")
        elif len(whole) < len(tests):
            self.fail("the run", f"{len(tests) - len(whole)} tests were interrupted")
        elif meson.returncode != 0 and not any(kind(test) == "failed" for test in whole):
            self.fail("the run", f"meson ended with status {meson.returncode}")
        return whole

    def fail(self, what, why, text=""):
        self.counts["failed"] += 1
        self.add("failed", "\n".join([f"\nfailed: {self.name}: {what}: {why}",
                                      *text.splitlines()[-LINES:]]))

    def again(self, name, times, seconds, patience):
        """Run one test alone, so many times; the results of those that ended in time.

        The one that did not has failed if it took longer than patience.
        """
        command = self.meson("again", "--repeat", str(times), "--num-processes", "1", name)
        with subprocess.Popen(command, stdout=subprocess.DEVNULL) as meson:
            try:
                meson.wait(timeout=max(seconds, 1))
            except subprocess.TimeoutExpired:
                meson.send_signal(signal.SIGTERM)
                meson.wait()
        return [test for test in self.read_logs("again")
                if test["result"] != "INTERRUPT" or test["duration"] > patience]

    def is_flaky(self, test):
        """Whether a test that has failed passes when it is run again; and what it did."""
        begin = time.monotonic()
        patience = AGAIN_SECONDS / 2
        runs = self.again(name_of(test), AGAIN_ALONE, AGAIN_SECONDS, patience)
        if all(kind(run) == "passed" for run in runs):
            # Beside busy loops it has about a third of a CPU.
            patience = max([30, *(5 * run["duration"] for run in runs)])
            with busy_loops(os.cpu_count()):
                runs += self.again(name_of(test), AGAIN_BUSY,
                                   AGAIN_SECONDS - (time.monotonic() - begin), patience)
        passed = sum(kind(run) == "passed" for run in runs)
        return (passed == len(runs) >= AGAIN_AT_LEAST,
                f"{test['result']}, then passed {passed} of {len(runs)} times")

    def judge_failed(self, tests):
        """Count the tests that failed; the gate runs those again that may be flaky."""
        forgivable = []
        for test in tests:
            why = never_forgiven(test) if self.gate else None
            if self.gate and why is None:
                forgivable.append(test)
                continue
            self.fail(test["name"], test["result"] + (f": {why}" if why else ""), output(test))
        for test in forgivable:
            flaky, said = False, test["result"]
            if len(forgivable) <= MAX_FLAKY:
                flaky, said = self.is_flaky(test)
            else:
                said += f", as have {len(forgivable) - 1} others"
            if flaky:
                self.counts["passed"] += 1
                suite = test["name"].split(" / ")[0].split(":")[-1]
                self.add("flaky", "\n".join([f"FLAKY {suite}/{name_of(test)} ({self.name}: {said})",
                                             *output(test).splitlines()[-LINES:]]))
            else:
                self.fail(test["name"], said, output(test))

    def judge_skipped(self, tests):
        """List the skipped cases; where CI is set, the gate allows only those it knows."""
        allowed = allowed_skips()
        for test in tests:
            for reason in skips_of(test):
                self.add("skipped", f"{self.name}: {name_of(test)}: {reason}")
                if self.gate and os.environ.get("CI") and \
                        not is_allowed(name_of(test), reason, allowed):
                    self.fail(test["name"], f"skipped, which test/skips.txt does not allow: {reason}")

    def go(self, arguments):
        tests = self.all_of(arguments)
        for test in tests:
            if kind(test) != "failed":
                self.counts[kind(test)] += 1
        self.judge_failed([test for test in tests if kind(test) == "failed"])
        self.judge_skipped(tests)
        if not tests and self.counts["failed"] == 0:
            self.fail("the run", "there are no such tests")
        with open(self.results / "counts", "a", encoding="utf-8") as file:
            print(*self.counts.values(), file=file)


def main():
    parser = argparse.ArgumentParser(description=__doc__, usage=argparse.SUPPRESS,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gate", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--busy", action="store_true", help=argparse.SUPPRESS)
    for name in ("name", "build", "results"):
        parser.add_argument(name, help=argparse.SUPPRESS)
    parser.add_argument("meson", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    options = parser.parse_args()
    run = Run(options.name, options.build, options.results, options.gate)
    with busy_loops(os.cpu_count() if options.busy else 0):
        run.go(options.meson)
    return 0


if __name__ == "__main__":
    sys.exit(main())
