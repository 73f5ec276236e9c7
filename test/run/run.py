#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
"""Run pairs with comch-run: good ones, each kind of bad one, and mistakes at its command line.

usage: run.py COMCH-RUN SERVER CLIENT HANG [DOCA_SERVER DOCA_CLIENT]
"""

import json
import os
import pathlib
import shlex
import signal
import subprocess
import sys
import tempfile
import time

RUN, SERVER, CLIENT, HANG, *DOCA = sys.argv[1:]
# With EAL arguments, a program has telemetry.
EAL = ["--no-huge", "-m", "64", "--no-pci", "--"]
# For what does not end by itself.
LIMIT_S = 120
STATUS_TIMEOUT = 124

# comch-run makes directories of its own.
for variable in ("COMCH_DIR", "RUNTIME_DIRECTORY"):
    os.environ.pop(variable, None)
here = tempfile.TemporaryDirectory()
out = pathlib.Path(here.name, "out")


def words_of(dpu, hosts, options):
    """The command line."""
    words = [RUN, "--out", str(out), *options, "--", *dpu]
    for host in hosts:
        words += ["---", *host]
    return words


def run(dpu, *hosts, options=(), status=0, says=(), **more):
    """Run a pair; what it showed."""
    done = subprocess.run(words_of(dpu, hosts, options), capture_output=True, text=True,
                          timeout=LIMIT_S, check=False, **more)
    told = f"{done.stdout}\n{done.stderr}"
    assert done.returncode == status, (done.returncode, status, told)
    assert all(text in told for text in says), (says, told)
    return done


def shell(text):
    """A side that is a script."""
    return ["sh", "-c", text]


def server(*options):
    """The DPU side of ctrl_path."""
    return [SERVER, *EAL, *options]


def client(*options):
    """The host side of ctrl_path."""
    return [CLIENT, *EAL, *options]


def talks():
    """Output with prefixes and in files; the DPU side is ended when all is done, or ends."""
    done = run(server("--clients", "1"), client("--count", "3"))
    lines = done.stdout.splitlines()
    assert all(line.startswith(("dpu  | ", "host | ")) for line in lines), done
    assert "host | 3 messages sent, 3 delivered, 3 answered" in lines, done
    assert "3 messages sent" in (out / "host.log").read_text(), done
    assert 'client 1: "Message' in (out / "dpu.log").read_text(), done
    assert not done.stderr, done
    run(server(), client(), options=["--grace", "0"], says=["dpu: still runs", "ending it"])


def talks_to_many():
    """Several hosts, that do not meet another pair at the same time."""
    elsewhere = pathlib.Path(here.name, "elsewhere")
    other = subprocess.Popen(words_of(server(), [shell("sleep 1000")],
                                      ["--timeout", "0", "--out", str(elsewhere)]),
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    log = elsewhere / "dpu.log"
    while not (log.exists() and "is ready" in log.read_text()):
        assert other.poll() is None
        time.sleep(0.05)
    try:
        run(server("--clients", "2"), client(), client("--text", "second"), says=[
            "host1 | 1 messages sent, 1 delivered, 1 answered", 'dpu   | client 1: ',
            "host2 | 1 messages sent, 1 delivered, 1 answered", '"second"'])
    finally:
        other.terminate()
        assert other.wait(timeout=LIMIT_S) == 130
    run(server(), client(), options=["--repeat", "2", "--grace", "0"],
        says=["run 1 of 2: passed after", "run 2 of 2: passed after"])


def fails():
    """The status is that of the first that failed, and the others are ended."""
    done = run(server(), shell("exit 3"), status=3)
    assert done.stderr == f"comch-run: host: ended with status 3; its output is in {out}/host.log\n"
    run(server(), shell("kill -SEGV $$"), shell("sleep 1000"), status=139,
        says=["host1: ended with status 139"])
    run(shell("echo no; exit 4"), client(), status=4,
        says=["dpu  | no", "dpu: ended with status 4; ", "no server of it could be reached before"])
    run(["true"], client(), status=1, says=["dpu: ended with status 0; ", "no server of it could be reached"])
    run(server(), shell("exit 5"), options=["--repeat", "3"], status=5,
        says=["run 1 of 3: failed with status 5"])
    # Without a newline, and killed.
    run(server(), shell("printf rest; kill -KILL $$"), status=137, says=["host | rest"])


def waits():
    """What does not go on is ended, and named."""
    run(shell("sleep 1000"), client(), options=["--timeout", "0.5"], status=STATUS_TIMEOUT,
        says=["timeout after 0.5 s: no server can be reached; dpu: no telemetry"])
    run(server(), client("--name", "other", "--wait", "5000"), status=1,
        says=["host: its client 'other' on pf0 finds no server of that name there, but 'ctrl_path'"])
    run(server("--dev", "comch_shm0,role=dpu,rep=pf0vf1"), client("--wait", "5000"), status=1,
        says=["the dpu's server of that name is on pf0vf1, another representor"])
    run([HANG, *EAL], client(), options=["--timeout", "8"], status=STATUS_TIMEOUT,
        says=["dpu  | got a message", "dpu: hangs: it has not called its poll"])


def processes_with(text):
    """Those that have it in their environment."""
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*/environ"):
        try:
            if text.encode() in path.read_bytes():
                found.append(int(path.parent.name))
        except OSError:
            pass
    return found


def leaves_nothing():
    """Also what a side has started and left, or what ignores a request; and when interrupted."""
    mark = f"COMCH_RUN_TEST={here.name}"
    environment = {**os.environ, "COMCH_RUN_TEST": here.name, "TMPDIR": here.name}
    run(shell("setsid sh -c 'sleep 1000; :' & trap '' TERM; sleep 1000; sleep 1000"), client(),
        options=["--timeout", "0.3"], status=STATUS_TIMEOUT, env=environment)
    assert not processes_with(mark), processes_with(mark)
    with subprocess.Popen(words_of(shell("sleep 1000"), [client()], []), env=environment,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as pair:
        while len(processes_with(mark)) < 2:
            assert pair.poll() is None
            time.sleep(0.05)
        pair.send_signal(signal.SIGTERM)
        _, err = pair.communicate(timeout=LIMIT_S)
    assert pair.returncode == 130 and "comch-run: interrupted" in err, (pair.returncode, err)
    assert not processes_with(mark), processes_with(mark)
    assert not list(pathlib.Path(here.name).glob("comch-run-*")), os.listdir(here.name)


def odd_ends():
    """A reader that goes away; a program that cannot be executed; valgrind; a directory given."""
    words = words_of(server("--clients", "1"), [client("--count", "3")], [])
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as pair:
        pair.stdout.close()
        assert pair.wait(timeout=LIMIT_S) == 0, pair.stderr.read()
    assert "3 messages sent" in (out / "host.log").read_text()
    program = pathlib.Path(here.name, "program")
    program.write_bytes(b"\x7fELF no program")
    program.chmod(0o755)
    run(server(), [str(program)], status=126, says=["host: cannot be started: ", "Exec format"])
    program.write_text("#!/nowhere/sh\n")
    run(server(), [str(program)], status=126, says=["its interpreter, in the first line, does not"])
    # Without telemetry, a server is found in a directory that other pairs know, too.
    run([SERVER, "--no-telemetry", *EAL, "--clients", "1"], [CLIENT],
        env={**os.environ, "COMCH_DIR": str(pathlib.Path(here.name, "comch"))},
        says=["host | 1 messages sent, 1 delivered, 1 answered"])
    done = subprocess.run(words_of(["true"], [["true"]], ["--doca", "0.1"]), capture_output=True,
                          text=True, check=False, timeout=LIMIT_S,
                          env={**os.environ, "TMPDIR": here.name})
    assert done.returncode == 2 and "comch-run: --doca: " in done.stderr, done
    assert not list(pathlib.Path(here.name).glob("comch-run-*")), os.listdir(here.name)


def faults():
    """Programs for DOCA with faults and limits, which the table of the run has."""
    if not DOCA:
        return
    dpu, host = [DOCA[0], "-p", "03:00.0", "-r", "b1:00.0"], [DOCA[1], "-p", "b1:00.0"]
    run(dpu, host, options=["--fault", "host:again=1"], status=1, says=[
        "host | comch: fault.again of the device table, host side: submit 1 returns AGAIN"])
    run(dpu, host, options=["--fault", "dpu:exit=1", "--fault", "dpu:slow_ms=1"], status=1, says=[
        "dpu  | comch: fault.exit of the device table, DPU side: submit or message 1 kills",
        "dpu: was killed by its fault, which is no failure", "host: ended with status 1"])
    table = (out / "devices.ini").read_text()
    assert table.count("fault.exit = 1") == 1 and "fault.again" not in table, table
    run(dpu, host, options=["--limit", "max_msg_size=8", "--profile", "bf2"], status=1,
        says=["host | ", "Invalid argument"])
    table = (out / "devices.ini").read_text()
    assert table.count("profile = bf2") == table.count("[device ") > 0, table
    # Instead of the keys that the user's table has.
    mine = pathlib.Path(here.name, "mine.ini")
    mine.write_bytes(b"\xef\xbb\xbf[device d]\npci = 03:00.0\nlimit.max_msg_size : 8\n; \xe9t\xe9\n"
                     b"[function pf0]\npci = b1:00.0\nfault.again = 1\nlimit.max_msg_size = 9\n")
    run(dpu, host, options=["--devices", str(mine), "--limit", "max_msg_size=100",
                            "--fault", "host:again=100"], says=[
        "1 texts received",
        "host | comch: fault.again did not come: the host side had 1 submits"])
    # A mistake is found before a program starts.
    for options, text in (
            (["--fault", "host:fire=1"], "unknown fault 'fire'; known faults: again, error, late, "),
            (["--fault", "dpu:again=x"], "fault.again = x: expected N (the Nth)"),
            (["--limit", "speed=1"], "unknown limit 'speed'"),
            (["--profile", "bf9"], "profile = bf9: expected")):
        run(dpu, host, options=options, status=2, says=[text])


def lab():
    """--lab, on a lab.sh that only says what the real one says of its machines."""
    fake = pathlib.Path(here.name, "lab.sh")
    words = pathlib.Path(here.name, "words")

    table = pathlib.Path(here.name, "lab.ini")
    table.write_text("[device d]\npci = 03:00.0\n[function pf0]\npci = b1:00.0\n")

    def says(text, status):
        fake.write_text(f"#!/bin/sh\n[ $1 != devices ] || exec cat {table}\n"
                        f"echo \"$@\" >{words}\nprintf '{text}'\nexit {status}\n")
        fake.chmod(0o755)

    def run_lab(text, *options, status, lab_status=0, said=()):
        says(text, lab_status)
        run(["./my dpu"], ["host", "a b"], options=["--lab", "--timeout", "9", *options],
            status=status, says=said, env={**os.environ, "COMCH_LAB": str(fake)})
        return words.read_text()

    given = run_lab("\\n==> Running\\ndpu | one: two | x\\ndpu: exit status 0\\nhost: exit status 0\\n",
                    status=0, said=["dpu  | one: two | x", "comch-run: Running"])
    assert "--time 9 " in given and "--grace 5 " in given and "--may-die" not in given, given
    assert given.rstrip().endswith(f"run host {shlex.quote('a b')} {shlex.quote('./my dpu')}"), given
    run_lab("host | exit\\nhost: exit status 3\\ndpu: ended: host has failed\\n", status=3, lab_status=1,
            said=["host: ended with status 3", "host.log"])
    # It fails by itself: before, and after the programs.
    run_lab("", status=1, lab_status=2)
    run_lab("dpu: exit status 0\\nhost: exit status 0\\n", status=1, lab_status=1)
    given = run_lab("dpu: exit status 137\\nhost: exit status 0\\n", "--fault", "dpu:exit=2", status=0)
    assert "--may-die dpu" in given, given
    # Time runs out: one side is as it was two seconds before.
    empty = {kind: [] for kind in ("devices", "servers", "clients", "connections", "producers",
                                   "consumers")}
    state = {"pid": 7, **empty, "polls": [{"asleep": 0, "state": "x"}]}
    for turn in (1, 2):
        (out / f"dpu.{turn}.json").write_text(json.dumps([state]))
    late = "exit status 124: ended after 9 s"
    run_lab(f"dpu: {late}\\nhost: {late}\\n", status=STATUS_TIMEOUT, lab_status=1,
            said=["timeout after 9 s: dpu: hangs: it has not called its poll", "for 2 s"])
    for options, text in ((["--doca", "2.9"], "--doca: not with --lab"),
                          (["--gdb", "dpu"], "--gdb: not with --lab")):
        run_lab("", *options, status=2, said=[text])
    done = subprocess.run([RUN, "--lab", "--", "true", "---", "true"], capture_output=True, text=True,
                          check=False, cwd=here.name, timeout=LIMIT_S,
                          env={**os.environ, "COMCH_LAB": here.name})
    assert done.returncode == 2 and "cannot be executed" in done.stderr, done


def command_line():
    """Mistakes, each with what would be right."""
    help_text = subprocess.run([RUN, "--help"], capture_output=True, text=True, check=True).stdout
    assert help_text.startswith("Usage: comch-run "), help_text
    for words, text in (
            ([], "expected '-- DPU_COMMAND... --- HOST_COMMAND...'"),
            (["--", "true"], "expected '-- DPU_COMMAND"),
            (["--", "true", "---"], "expected '-- DPU_COMMAND"),
            (["true", "--", "true", "---", "true"], "unknown option or word before '--': true"),
            (["--bogus", "--", "true", "---", "true"], "--bogus"),
            (["--timeout", "x", "--", "true", "---", "true"], "--timeout"),
            (["--repeat", "0", "--", "true", "---", "true"], "--repeat"),
            (["--devices", "/nowhere", "--", "true", "---", "true"], "comch-info --default-devices"),
            (["--strace", "host2", "--", "true", "---", "true"], "there are dpu, host"),
            (["--fault", "again=1", "--", "true", "---", "true"], "expected dpu:again=1 or host:ag"),
            (["--fault", "again", "--", "true", "---", "true"], "such as host:again=3"),
            (["--limit", "host:x=1", "--", "true", "---", "true"], "expected x=1"),
            (["--", "/nowhere", "---", "true"], "dpu: program /nowhere does not exist"),
            (["--", "true", "---", "/etc/passwd"], "host: program /etc/passwd is not executable")):
        is_program = "program " in text
        done = subprocess.run([RUN, *words], capture_output=True, text=True, check=False,
                              cwd=here.name, timeout=LIMIT_S)
        assert done.returncode == (126 if is_program else 2) and text in done.stderr, (words, done)
        assert done.stderr.count("\n") == 1, done


command_line()
talks()
talks_to_many()
fails()
waits()
leaves_nothing()
odd_ends()
faults()
lab()
