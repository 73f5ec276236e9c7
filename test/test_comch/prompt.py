#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
"""test-comch at a terminal: editing, completion, help, errors, tables, and its options.

usage: prompt.py TEST-COMCH VERSION
"""

import os
import subprocess
import sys
import time

from session import Pipe, Terminal

PROGRAM, VERSION = sys.argv[1:]
UP, CTRL_C, CTRL_D, TAB = "\x1b[A", "\x03", "\x04", "\t"
DPU = "dev open comch_shm0,role=dpu,rep=pf0"
HOST = "dev open comch_shm1,role=host,func=pf0"
TOPICS = ("session", "dev", "server", "client", "conn", "producer", "consumer", "stream",
          "file", "port", "show")


def run(*args, status=0, text=""):
    """Run to the end; return (stdout, stderr)."""
    done = subprocess.run([PROGRAM, *args], capture_output=True, text=True, timeout=30,
                          input=text, check=False)
    assert done.returncode == status, (args, done)
    return done.stdout, done.stderr


def command_line():
    """What is wrong, and what needs no prompt."""
    out, _ = run("--help")
    assert all(option in out for option in ("--commands", "--stats-period", "--plain")), out
    assert run("--version") == (f"test-comch {VERSION}\n", "")
    for args in (["--bogus"], ["--stats-period", "x"], ["--stats-period", "0"], ["--commands"]):
        out, err = run(*args, status=2)
        assert not out and "valid options: --commands FILE" in err, (args, out, err)
    # Commands as arguments, from a file and from stdin; the first that fails ends the first two.
    out, err = run("print one", "print two")
    assert (out, err) == ("one\ntwo\n", ""), (out, err)
    out, err = run("print one", "bogus", "print two", status=1)
    assert out == "one\n" and err == 'error: bogus: unknown command; "help" lists them\n', err
    out, err = run(text="# comment\n\nprint one\nbogus\nprint two", status=1)
    assert out == "one\ntwo\n" and err.startswith("error: bogus: unknown"), (out, err)
    path = os.environ["TMPDIR"] + "/commands"
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"print one # text\nserver start\nprint two\n")
    out, err = run("--commands", path, status=1)
    assert out == "one # text\n", out
    assert f"error: {path}:2: stopped at this line" in err, err
    assert "server start|stop|destroy SERVER" in err, err
    out, err = run("load " + path, status=1)
    assert f"{path}:2: stopped" in err and out == "one # text\n", (out, err)
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"load {path}\n")
    _, err = run("--commands", path, status=1)
    assert "more than 8 files within each other" in err, err
    _, err = run("--commands", path + "0", status=1)
    assert "No such file or directory" in err, err
    out, _ = run("--commands", "/dev/null", "--interactive", text="print from stdin\n")
    assert out == "from stdin\n", out


def errors(t):
    """Bad input is answered with what was expected."""
    for command, answer in {
        "bogus": 'bogus: unknown command; "help" lists them',
        "server": "server: does not parse; expected:\n  server create DEVICE REP NAME",
        "server start": "expected:\n  server start|stop|destroy SERVER",
        "server start server0": "server0: unknown server; none exists yet",
        "show everything": r"expected:\n  show all\|devices",
        "dev close comch_shm0": 'unknown device; none is open: "dev open DEVARGS"',
        "dev open comch_shm0,roll=dpu": "comch_shm0,roll=dpu: Invalid argument",
        "dev open nothing0": "nothing0: No such device",
        "wait conn0 up x": "wait: expected seconds from 0 to 86400, found 'x'",
        "wait conn0 up 0": "conn0: not up after 0 seconds",
        "set stats-period -1": "expected seconds from 0 to 86400, found '-1'",
        "set piece 0": "piece: expected a number from 1 to 1073741824, found '0'",
        "port start 0": "port 0: no such port",
        "load /nowhere": "/nowhere: No such file or directory",
    }.items():
        t.do(command, answer.replace("|stop|", r"\|stop\|"))


def objects(t):
    """Both ends in one program: names, states, and what is refused."""
    for command, answer in {
        DPU: "comch_shm0: open",
        DPU + " ": "comch_shm0,role=dpu,rep=pf0: File exists",
        HOST: "comch_shm1: open",
        "dev close comch_shm7": "expected one of: comch_shm0 comch_shm1",
        "server create comch_shm0 pf7 x": "comch_shm0: no representor 'pf7'",
        "server create comch_shm1 pf0 x": "server create: ",
        "server create comch_shm0 pf0 loop": "server0: created",
        "server set server0 recv_queue 1x": "server0: recv_queue: expected a number from 0",
        "server set server0 exact maybe": "exact: expected on or off, found 'maybe'",
        "server set server0 manual_accept on": "",
        "server start server0": "server0: RUNNING",
        "server start server0 ": "server0: is RUNNING, expected IDLE",
        "server set server0 recv_queue 1": "server0: is RUNNING; stop it before you change it",
        "server destroy server0": "server0: is RUNNING, expected IDLE",
        "dev close comch_shm0": "in use by servers or clients",
        "client create comch_shm0 loop": "client create: ",
        "client create comch_shm1 loop": "client0: created",
        "client set client0 timeout_ms 1k": "",
        "client start client0": "client0: STARTING",
        "wait conn0 pending 10": '~conn0: request to server0 from pid .*"conn accept conn0"',
        "conn send conn0 hi": 'conn0: waits for "conn accept"',
        "conn reject conn0 not today": "conn0: rejected",
        "wait client0 idle 10": "",
        "client start client0 ": "client0: STARTING",
        "wait conn0 pending 10 ": "~conn0: request to server0",
        "conn accept conn0": "",
        "wait conn1 up 10": "~conn1: up with client0",
        "wait conn0 up 10": "",
        "conn send conn1 one # two": "",
        "wait conn0 message 10": r"~conn0: received 9 bytes: one # two",
        "conn send conn7 hi": "conn7: unknown conn; expected one of: conn0 conn1",
    }.items():
        t.do(command, answer)
    assert "client0: IDLE: not today\n" in t.text(), t.text()


def queues(t):
    """Producers, consumers and a stream each, from one lcore to another."""
    for command, answer in {
        "consumer create conn0": "consumer0: created",
        "consumer set consumer0 size 0": "consumer0: size: expected a number from 1 to",
        "consumer set consumer0 memory rubber": "expected:\n  consumer set CONSUMER memory",
        "consumer set consumer0 queue 64": "",
        "producer create conn1": "producer0: created",
        "stream create source producer0": "stream0: created, source on lcore 1",
        "stream create source producer0 ": "producer0: stream0 uses it; destroy that first",
        "stream start stream0": "producer0 is IDLE, expected RUNNING",
        "producer start producer0": "producer0: RUNNING",
        "producer start producer0 ": "producer0: is RUNNING already",
        "stream start stream0 ": 'the peer of conn1 has no consumer yet; "wait conn1 consumer',
        "consumer start consumer0": "consumer0: STARTING",
        "wait consumer0 running 10": "~consumer0: RUNNING, consumer 1 of conn0",
        "stream create sink consumer0": "stream1: created",
        "stream set stream1 lcore 2": "",
        "stream set stream1 lcore 77": "stream1: lcore 77: not one of EAL's",
        "stream set stream1 burst 257": "burst: expected a number from 1 to 256, found '257'",
        "stream set stream0 target 9": "",
        "stream start stream0  ": "conn1 has no consumer 9",
        "stream set stream0 target 1": "",
        "stream create io 0 consumer0 producer0": "port 0: no such port",
        "stream create echo consumer0 producer0": "echo sends back to the same connection",
        "stream start stream1": "stream1: running",
        "stream start stream0   ": "stream0: running",
        "stream start stream0    ": "stream0: is running",
        "producer stop producer0": 'producer0: stream0 runs on it; "stream stop stream0" first',
        "server stop server0": "server0: has producers or consumers; destroy consumer0 first",
        "conn close conn0": "conn0: has producers or consumers; destroy consumer0 first",
        "stream stop stream0": r"stream0: stopped: sent \d+ messages",
        "stream stop stream1": r"stream1: stopped: received \d+ messages",
        "consumer destroy consumer0": "consumer0: destroyed",
        "wait consumer0 gone 10": "~stream1: destroyed with consumer0",
    }.items():
        t.do(command, answer)


def editing(t):
    """Keys."""
    t.keys("serv" + TAB + "start s" + TAB + "\n")
    t.expect("server start server0 \n")
    t.expect("is RUNNING, expected IDLE")
    t.prompt()
    t.keys("client start c" + TAB)
    t.expect("client start client0 ")
    t.keys(CTRL_C)
    t.prompt()
    # Several: they are listed.
    t.keys("wait con" + TAB + TAB)
    t.expect("conn0")
    t.expect("conn1")
    t.keys(CTRL_C + "server create comch_shm0 p" + TAB)
    t.expect("server create comch_shm0 pf0 ")
    t.keys(CTRL_C)
    t.prompt()
    t.keys("producer c?")
    t.expect("create.*create a producer")
    t.keys(CTRL_C)
    t.prompt()
    t.do("print once", "^once$")
    t.keys(UP + "\n")
    t.expect("^once$")
    t.prompt()
    # Ctrl-C ends what waits; what was typed before it is run afterwards.
    t.keys("wait conn9 up 1000\nprint later\n")
    t.expect("wait conn9 up 1000\n")
    time.sleep(0.3)
    t.keys(CTRL_C)
    t.expect("error: interrupted\n")
    t.expect("^later$")
    t.prompt()
    # An event does not disturb the line.
    t.keys("conn send conn1 x\nprint abc")
    t.expect("print abc")
    t.keys("def\n")
    t.expect("^abcdef$")
    t.prompt()


def period(t):
    """Statistics do not disturb the line either."""
    t.do("set stats-period 0.2")
    t.keys("print xy")
    t.expect("print xy")
    for _ in range(2):
        t.expect("^stream0 +stopped ")
        t.expect("^test-comch> print xy")
    t.keys(CTRL_C)
    t.do("set stats-period 0")


def notice(t):
    """What happens is printed above the line being typed."""
    t.keys("print ab")
    t.expect("print ab")
    other = Pipe([PROGRAM, "--", "dev open comch_shm0,role=host,func=pf0",
                  "client create comch_shm0 loop", "client start client0",
                  "wait client0 running 20", "conn send conn0 hello"])
    t.expect("conn2: request to server0")
    t.expect("test-comch> print ab")
    t.keys(CTRL_C)
    t.prompt()
    t.do("conn accept conn2")
    other.end()
    t.expect("conn2: received 5 bytes: hello")
    t.expect("conn2: ended")


def looks():
    """Colours and widths of a terminal, and none without."""
    wide = Terminal([PROGRAM, "--", "-i", DPU, "show devices"], columns=200)
    wide.prompt()
    assert "\x1b[1mcomch_shm0\x1b[0m" in wide.raw, wide.raw
    header, row = wide.text().split("devices\n")[1].splitlines()[:2]
    assert len(header) > 60 and "1 GiB" in row, (header, row)
    wide.keys(CTRL_D)
    wide.end()
    narrow = Terminal([PROGRAM, "--", "-i", DPU, "show all"], columns=60, NO_COLOR="1")
    narrow.prompt()
    assert "\x1b[1m" not in narrow.raw, narrow.raw
    lines = narrow.text().splitlines()
    assert all(len(line) <= 60 for line in lines), lines
    assert sum(line.startswith("comch_shm0  ") for line in lines) == 2, lines
    narrow.keys(CTRL_D)
    narrow.end()
    plain = Terminal([PROGRAM, "--", "--plain", DPU, "show all"], columns=60)
    assert "\x1b" not in plain.end() and "\x1b" not in plain.raw, plain.raw
    out, _ = run(DPU, "show all")
    assert "\x1b" not in out and all(line == line.rstrip() for line in out.splitlines()), out
    assert any(len(line) > 60 for line in out.splitlines()), out


def main():
    command_line()
    looks()
    t = Terminal([PROGRAM])
    try:
        t.prompt()
        t.do("help", "help session +help, files of commands")
        for topic in TOPICS:
            t.do("help " + topic, "\n    [a-z]")
        errors(t)
        objects(t)
        queues(t)
        editing(t)
        period(t)
        notice(t)
        t.do("show all", "servers\n")
        t.quit(status=1)
    finally:
        t.kill()


main()
