#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
"""Run the data path example with EAL's --trace and look at what was traced.

The programs' bursts are compiled with their trace points, and the library's
messages may be. The events are decoded as their metadata describes them (CTF):
the names alone are there even if nothing was ever traced.

usage: trace.py CONSUMER PRODUCER messages|no-messages
"""

import os
import pathlib
import re
import struct
import subprocess
import sys

SIZES = {"uint8_t": "B", "uint16_t": "H", "uint32_t": "I", "uint64_t": "Q", "int32_t": "i",
         "uintptr_t": "Q", "size_t": "Q"}
# Magic number and uuid; number and name of the thread.
PACKET_HEADER = 4 + 16 + 4 + 32
MESSAGES, LENGTH = 16, 1 << 20


def formats(metadata):
    """Return {id: (name, field names, struct format)} of the events."""
    events = {}
    for number, name, fields in re.findall(
            r'event \{\s*id = (\d+);\s*name = "([^"]+)";\s*fields := struct \{(.*?)\};',
            metadata, re.S):
        if not name.startswith("lib.comch."):
            continue
        names, fmt = [], "<"
        for kind, field, size in re.findall(r"(\w+) (\w+)(?:\[(\d+)\])?;", fields):
            names.append(field)
            fmt += f"{size}s" if size else SIZES[kind]
        events[int(number)] = (name, names, fmt)
    return events


def decode(channel, events):
    """Yield (time, name, {field: value}) of one thread."""
    data, pos = channel.read_bytes(), PACKET_HEADER
    while pos + 8 <= len(data):
        word, = struct.unpack_from("<Q", data, pos)
        name, fields, fmt = events[word >> 48]
        pos += 8
        values = struct.unpack_from(fmt, data, pos)
        pos += -(-struct.calcsize(fmt) // 8) * 8
        yield word & (1 << 48) - 1, name, {
            field: value.split(b"\0")[0].decode() if isinstance(value, bytes) else value
            for field, value in zip(fields, values)}


def events_of(directory):
    """Return the events of a process, in order: [(name without lib.comch., fields)]."""
    metadata, = directory.glob("*/metadata")
    known = formats(metadata.read_text())
    events = []
    for channel in metadata.parent.glob("channel*"):
        events += decode(channel, known)
    return [(name.removeprefix("lib.comch."), fields)
            for _, name, fields in sorted(events, key=lambda event: event[0])]


def run(programs):
    """Run both ends, each with a directory for its traces; return their events."""
    dirs, running = [], []
    for side, (program, args) in programs.items():
        dirs.append(pathlib.Path(os.environ["TMPDIR"]) / side)
        dirs[-1].mkdir()
        running.append(subprocess.Popen(
            [program, "--no-huge", "-m", "64", "--no-pci", "--no-telemetry", "--no-shconf",
             "--file-prefix", side, "--trace=lib.comch.*", "--trace-mode=discard",
             "--trace-bufsz=64M", f"--trace-dir={dirs[-1]}", "--", *args]))
    for process in running:
        assert process.wait(timeout=50) == 0, process.args
    return [events_of(directory) for directory in dirs]


def only(events, name):
    """Return the fields of the one event of a name."""
    found = [fields for event, fields in events if event == name]
    assert len(found) == 1, f"{len(found)} events {name}"
    return found[0]


def in_order(events, *names):
    """Check that events of these names follow each other, with others between."""
    seen = [name for name, _ in events]
    at = 0
    for name in names:
        assert name in seen[at:], f"no {name} where it should be: {seen[:at]}"
        at = seen.index(name, at) + 1


def taken(events, name):
    """Return how many messages the bursts of a name took."""
    assert all(fields["taken"] <= fields["n"] for event, fields in events if event == name)
    return sum(fields["taken"] for event, fields in events if event == name)


def check_dpu(events):
    """The consumer's process, with the server."""
    in_order(events, "server.start", "conn.up", "consumer.start", "post", "recv",
             "consumer.stop", "conn.end", "server.stop")
    in_order(events, "mem.register", "consumer.start")
    assert only(events, "server.start") == {"name": "data_path", "rep": 0}
    assert only(events, "consumer.start")["depth"] == 64
    assert only(events, "mem.register")["len"] > 0
    # Those that no message came for come back when the consumer stops.
    assert taken(events, "recv") == taken(events, "post") >= MESSAGES


def check_host(events):
    """The producer's process, with the client."""
    in_order(events, "client.start", "conn.up", "producer.start", "send", "done",
             "producer.stop", "client.stop", "conn.end")
    conn = only(events, "client.start")["conn_id"]
    assert only(events, "conn.up")["conn_id"] == conn
    assert only(events, "conn.up")["max_msg_size"] > 0
    assert only(events, "producer.stop")["ret"] == 0
    assert only(events, "conn.end") == {
        "conn_id": conn, "name": "data_path", "status": 0, "reason": "client stopped"}
    assert taken(events, "send") == MESSAGES
    assert taken(events, "done") == MESSAGES


def main():
    consumer, producer, messages = sys.argv[1:]
    dpu, host = run({"dpu": (consumer, []), "host": (producer, ["--length", str(LENGTH)])})
    check_dpu(dpu)
    check_host(host)
    for events in dpu, host:
        traced = {name for name, _ in events if name.startswith("msg.")}
        assert traced == ({"msg.tx", "msg.rx"} if messages == "messages" else set()), traced
    print(f"{len(dpu)} events of the consumer's process, {len(host)} of the producer's")


main()
