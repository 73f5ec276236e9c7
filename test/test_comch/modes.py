#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
"""Streams of test-comch between two programs: every mode, every memory, files, a port, and
a peer that is killed.

usage: modes.py TEST-COMCH
"""

import filecmp
import os
import signal
import sys

from session import Pipe

PROGRAM = sys.argv[1]
TMP = os.environ["TMPDIR"]
COUNT = 5000


def start(commands, options=(), eal=()):
    """A program that runs commands of a file and goes on with stdin."""
    path = f"{TMP}/commands-{len(os.listdir(TMP))}"
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(commands) + "\nprint begun\n")
    session = Pipe([PROGRAM, *eal, "--", "--interactive", "--commands", path, *options])
    session.expect("^begun$")
    return session


def dpu(*options, eal=()):
    return start(["dev open comch_shm0,role=dpu,rep=pf0", "server create comch_shm0 pf0 modes",
                  "server start server0"], options, eal)


def host(nb_clients=1, eal=()):
    commands = ["dev open comch_shm0,role=host,func=pf0"]
    for i in range(nb_clients):
        commands += ["client create comch_shm0 modes", f"client start client{i}",
                     f"wait client{i} running 20"]
    return start(commands, eal=eal)


def consumer(session, conn, number, memory="shared", size=2048):
    """Make a consumer and wait until it can receive."""
    for command in (f"consumer create conn{conn}", f"consumer set consumer{number} size {size}",
                    f"consumer set consumer{number} memory {memory}",
                    f"consumer start consumer{number}", f"wait consumer{number} running 10"):
        session.do(command)
    session.expect(f"consumer{number}: RUNNING")


def producer(session, conn, number):
    """Make a producer; the peer has a consumer."""
    for command in (f"wait conn{conn} consumer 10", f"producer create conn{conn}",
                    f"producer start producer{number}"):
        session.do(command)
    session.expect(f"producer{number}: RUNNING")


def stream(session, number, what, **settings):
    """Make a stream and start it."""
    session.do(f"stream create {what}", f"^stream{number}: created")
    for key, value in settings.items():
        session.do(f"stream set stream{number} {key} {value}")
    session.do(f"stream start stream{number}", f"^stream{number}: running")


def done(session, number, text, **values):
    """A stream has done its count; nothing was lost."""
    found = session.expect(f"^stream{number}: done: (.*)$").group(1)
    assert found == text.format(**values), (found, text.format(**values))


def source_to(mode, memory, size, source="heap", burst=32):
    """All messages of a source arrive, in order."""
    d, h = dpu(), host()
    d.do("wait conn0 up 10", "conn0: up")
    consumer(d, 0, 0, memory, size)
    stream(d, 0, f"{mode} consumer0", count=COUNT)
    producer(h, 0, 0)
    stream(h, 0, "source producer0", count=COUNT, size=size, memory=source, burst=burst)
    total = {"n": COUNT, "bytes": COUNT * size}
    done(h, 0, "sent {n} messages, {bytes} bytes", **total)
    done(d, 0, "received {n} messages, {bytes} bytes", **total)
    # The same stream again: its numbers begin anew.
    d.do("stream start stream0", "^stream0: running")
    h.do("stream start stream0", "^stream0: running")
    done(h, 0, "sent {n} messages, {bytes} bytes", **total)
    done(d, 0, "received {n} messages, {bytes} bytes", **total)
    row = d.do("show stats", r"^stream0 +stopped +(\d+) .* (\d+) +(\d+)$")
    assert row.groups() == (str(COUNT), "0", "0"), row.group(0)
    h.quit()
    d.do("wait conn0 gone 10", "stream0: destroyed with conn0")
    d.quit()


def echo(memory):
    """There and back on one connection, each way in another kind of memory."""
    d, h = dpu(), host()
    d.do("wait conn0 up 10", "conn0: up")
    consumer(d, 0, 0, memory)
    consumer(h, 0, 0, "heap")
    producer(d, 0, 0)
    producer(h, 0, 0)
    stream(d, 0, "echo consumer0 producer0", lcore=0)
    stream(h, 0, "sink consumer0", count=COUNT, lcore=2)
    stream(h, 1, "source producer0", count=COUNT, burst=7, size=100)
    done(h, 0, "received {n} messages, {bytes} bytes", n=COUNT, bytes=COUNT * 100)
    found = d.do("stream stop stream0", r"^stream0: stopped: (.*)$").group(1)
    assert found == f"received {COUNT} messages, {COUNT * 100} bytes, " \
                    f"sent {COUNT} messages, {COUNT * 100} bytes", found
    h.quit()
    d.quit()


def relay(memory):
    """From one client through the server to another."""
    d, h = dpu(), host(2)
    for i in (0, 1):
        d.do(f"wait conn{i} up 10", f"conn{i}: up")
    consumer(d, 0, 0, memory)
    consumer(h, 1, 0)
    producer(d, 1, 0)
    producer(h, 0, 0)
    d.do("stream create echo consumer0 producer0", "error: .*see relay")
    stream(d, 0, "relay consumer0 producer0", count=COUNT)
    stream(h, 0, "sink consumer0", count=COUNT)
    stream(h, 1, "source producer0", count=COUNT, lcore=2)
    total = f"{COUNT} messages, {COUNT * 64} bytes"
    done(d, 0, f"received {total}, sent {total}")
    done(h, 0, f"received {total}")
    # One of its connections ends: the producer on the other one stays.
    h.do("stream destroy stream1")
    h.do("producer destroy producer0", "producer0: destroyed")
    h.do("wait producer0 gone 10")
    h.do("client stop client0", "conn0: ended")
    d.do("wait conn0 gone 10", "stream0: destroyed with conn0")
    d.do("show producers", "^producer0 +conn1 +1 +RUNNING .* - +5000 ")
    h.quit()
    assert "error:" not in d.quit(status=1).split("see relay")[1]


def io():
    """Through a port that loops: what the source sends comes back."""
    d, h = dpu(eal=["--vdev", "net_ring0"]), host()
    d.do("wait conn0 up 10", "conn0: up")
    consumer(d, 0, 0, "mbuf")
    consumer(h, 0, 0)
    producer(d, 0, 0)
    producer(h, 0, 0)
    d.do("show ports", "^ *0 +net_ring0 +stopped")
    d.do("stream create io 0 consumer0 producer0", "^stream0: created")
    d.do("stream start stream0", 'error: port 0: is stopped; "port start 0"')
    d.do("port start 0", "^port 0: started")
    d.do("stream start stream0", "^stream0: running")
    stream(h, 0, "sink consumer0", count=COUNT)
    stream(h, 1, "source producer0", count=COUNT, lcore=2, memory="mbuf")
    done(h, 0, "received {n} messages, {bytes} bytes", n=COUNT, bytes=COUNT * 64)
    d.do("port stop 0", "error: port 0: stream0 runs on it")
    d.do("stream stop stream0", f"received {COUNT} messages, .* sent {COUNT} messages")
    d.do("port stop 0", "^port 0: stopped")
    h.quit()
    d.quit(status=1)


def kept():
    """A ring keeps mbufs of a consumer that ends: the next one gets a pool of its own."""
    d = dpu(eal=["--vdev", "net_ring0"])
    for _ in range(2):
        h = host()
        d.do("wait conn0 up 10", "conn0: up")
        consumer(d, 0, 0, "mbuf")
        h.do("consumer create conn0")
        h.do("consumer set consumer0 queue 8")
        h.do("consumer start consumer0")
        h.do("wait consumer0 running 10", "consumer0: RUNNING")
        producer(d, 0, 0)
        producer(h, 0, 0)
        d.do("port start 0", "^port 0: started")
        stream(d, 0, "io 0 consumer0 producer0")
        # What does not fit into the 8 buffers stays in the ring.
        stream(h, 0, "source producer0", count=100)
        done(h, 0, "sent 100 messages, 6400 bytes")
        d.do("sleep 0.2")
        # A stream that runs would send them to the peer that is gone, and free them so.
        d.do("stream stop stream0", "received 100 messages")
        h.kill()
        d.do("wait conn0 gone 10")
        d.expect("^consumer0: [0-9]+ mbufs of its pool are still in use, so the pool is freed later$")
        d.do("port stop 0", "^port 0: stopped")
    d.quit()


def files():
    """A file each way, an empty one too, and one that cannot be read."""
    d, h = dpu(), host()
    names = [f"{TMP}/{name}" for name in ("big", "empty", "copy")]
    with open(names[0], "wb") as file:
        file.write(os.urandom(3 * 1024 * 1024 + 17))
    with open(names[1], "wb"):
        pass
    d.do("wait conn0 up 10", "conn0: up")
    consumer(d, 0, 0, size=65536)
    producer(h, 0, 0)
    h.do("set piece 64k")
    for name in names[:2]:
        d.do(f"file receive consumer0 {names[2]}", "^stream0: running, receive")
        h.do(f"file send producer0 {name}", "^stream0: running, send")
        h.expect("^stream0: done: sent")
        d.expect("^stream0: done: received")
        assert filecmp.cmp(name, names[2], shallow=False), name
    h.do(f"file send producer0 {TMP}/nothing", "nothing: No such file or directory")
    d.do(f"file receive consumer0 {TMP}/no/where", "No such file or directory")
    # Longer than the consumer's buffers.
    h.do("set piece 65537")
    h.do(f"file send producer0 {names[0]}", r"^stream0: failed: .*Message too long")
    # Half a file.
    h.do("set piece 64k")
    d.do(f"file receive consumer0 {names[2]}", "^stream0: running, receive")
    h.kill()
    d.do("wait conn0 gone 10", "stream0: destroyed with conn0")
    d.quit(status=1)


def rest():
    """What was sent before the peer died is received, even if its end is seen first."""
    d, h = dpu(), host()
    d.do("wait conn0 up 10", "conn0: up")
    consumer(d, 0, 0)
    producer(h, 0, 0)
    stream(d, 0, "sink consumer0", lcore=0, burst=1)
    d.process.send_signal(signal.SIGSTOP)
    stream(h, 0, "source producer0", count=200)
    done(h, 0, "sent 200 messages, 12800 bytes")
    h.kill()
    d.process.send_signal(signal.SIGCONT)
    d.expect("^stream0: destroyed with conn0: received 200 messages")
    d.quit()


def killed(mode, other):
    """The peer is killed in the middle; everything ends, and the next one is served."""
    d = dpu(eal=["--vdev", "net_null0,size=64"])
    d.do("set messages off")
    for _ in range(2):
        h = host(2)
        for i in (0, 1):
            d.do(f"wait conn{i} up 10", f"conn{i}: up")
        consumer(d, 0, 0, "mbuf" if mode == "io" else "shared")
        consumer(h, 1 if mode == "relay" else 0, 0)
        producer(h, 0, 0)
        producer(d, 1 if mode == "relay" else 0, 0)
        if mode == "io":
            d.do("port start 0")
        stream(d, 0, other)
        if mode in ("echo", "relay", "source", "io"):
            stream(h, 0, "drop consumer0")
        if mode != "source":
            stream(h, 1 if mode in ("echo", "relay", "io") else 0, "source producer0", lcore=2)
        d.do("sleep 0.1")
        h.kill()
        for i in (0, 1):
            d.do(f"wait conn{i} gone 10")
        d.expect("^stream0: destroyed with conn[01]: ")
        for what in ("consumers", "producers", "streams", "conns"):
            d.do(f"show {what}")
        d.do("show servers", "^server0 +modes +comch_shm0 +pf0 +RUNNING +0 ")
        if mode == "io":
            d.do("port stop 0", "^port 0: stopped")
    text = d.quit()
    assert "lost" not in text.replace("lost errors", ""), text


def period():
    """Rates, printed periodically."""
    d, h = dpu("--stats-period", "0.2"), host()
    d.do("wait conn0 up 10", "conn0: up")
    consumer(d, 0, 0)
    producer(h, 0, 0)
    stream(d, 0, "sink consumer0")
    stream(h, 0, "source producer0")
    # Where the CPUs are busy, nothing may move within a period.
    nb_moving = 0
    for _ in range(50):
        rate = d.expect(r"^stream0 +running +\d+ +([0-9.]+)( [kM])? ").group(1)
        nb_moving += float(rate) > 0
        if nb_moving == 3:
            break
    assert nb_moving == 3, nb_moving
    h.quit()
    # The end of the input does not end it; a signal does.
    d.process.stdin.close()
    d.expect("stream0: destroyed")
    d.process.terminate()
    d.end()


def main():
    source_to("sink", "shared", 64)
    source_to("drop", "heap", 2048, burst=256)
    source_to("sink", "mbuf", 1500, "mbuf")
    echo("shared")
    echo("mbuf")
    relay("shared")
    relay("mbuf")
    io()
    kept()
    files()
    rest()
    killed("sink", "sink consumer0")
    killed("source", "source producer0")
    killed("echo", "echo consumer0 producer0")
    killed("relay", "relay consumer0 producer0")
    killed("io", "io 0 consumer0 producer0")
    period()


main()
