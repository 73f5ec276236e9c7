#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
"""Ask two live programs with comch-info, and make mistakes at its command line.

usage: info.py COMCH-INFO HOLD VERSION
"""

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time

INFO, HOLD, VERSION = sys.argv[1:]
OPTIONS = ("--file-prefix", "--explain", "--watch", "--json", "--dev", "--scan", "--default-devices",
           "--check-devices", "--version", "--help")
SECTIONS = ("drivers", "devices", "servers", "clients", "connections", "producers",
            "consumers", "memory", "polls")
BAD = (["--bogus"], ["-x"], ["more"], ["--explain"], ["--file-prefix"], ["--json=1"],
       ["--watch", "x"], ["--check-devices"])
BAD_VALUES = (
    (["--explain", "x"], "expected a connection id"),
    (["--explain", "-1"], "expected a connection id"),
    (["--explain", "4294967296"], "expected a connection id"),
    (["--watch=0"], "expected seconds"), (["--watch=x"], "expected seconds"),
    (["--watch", "1e9"], "expected seconds"),
    (["--file-prefix", ""], "expected a prefix"), (["--file-prefix", "../x"], "expected a prefix"),
    (["--dev", "comch_shm0,role=dpu,rep=pf0", "--explain", "1"], "query no other program"),
    (["--scan", "--watch"], "query no other program"),
    (["--scan", "--dev", "comch_shm0,role=dpu,rep=pf0"], "query no other program"),
    (["--check-devices", "/nowhere"], "/nowhere: read failed"))


def ask(*args, status=0):
    """Run comch-info; return (stdout, stderr)."""
    done = subprocess.run([INFO, *args], capture_output=True, text=True, timeout=30, check=False)
    assert done.returncode == status, (args, done)
    return done.stdout, done.stderr


def ask_json(*args):
    """Return what comch-info says, of which there is one line."""
    out, err = ask("--json", *args)
    assert not err, err
    assert out.count("\n") == 1, out
    return json.loads(out)


def command_line():
    """What needs no program to look at."""
    out, _ = ask("--help")
    assert all(option in out for option in OPTIONS), out
    out, err = ask("--default-devices")
    assert "[device dpu0]\npci = 0000:03:00.0\n" in out and not err, (out, err)
    assert ask("--version") == (f"comch-info {VERSION}\n", "")
    for args in BAD:
        out, err = ask(*args, status=2)
        assert not out, out
        assert "valid options: " in err and all(option in err for option in OPTIONS), (args, err)
    for args, text in BAD_VALUES:
        out, err = ask(*args, status=2)
        assert not out and text in err and err.count("\n") == 1, (args, err)
    with tempfile.NamedTemporaryFile("w") as table:
        table.write("[device dpu0]\npci = 03:00.0\nfault.fire = 1\n")
        table.flush()
        out, err = ask("--check-devices", table.name, status=2)
        assert f"{table.name}:3: unknown fault 'fire'" in err, err
        table.seek(0)
        table.truncate()
        table.write(ask("--default-devices")[0])
        table.flush()
        assert ask("--check-devices", table.name) == ("", "")


def devices():
    """A device that comch-info opens itself."""
    device = ask_json("--dev", "comch_shm0,role=host,func=pf0vf3")
    assert device["driver"] == "comch_shm" and device["role"] == "host", device
    assert device["functions"] == ["pf0vf3"] and device["can_client"] is True, device
    assert device["can_server"] is False and device["max_imm_len"] >= 32, device
    out, _ = ask("--dev", "comch_shm0,role=dpu,rep=pf0,max_clients=7")
    rows = [line.split() for line in out.splitlines()]
    assert ["max_clients", "7"] in rows, out
    assert ["can_order", "yes"] in rows, out
    assert ["can_export_eal", "no"] in rows, out
    _, err = ask("--dev", "comch_shm0,roll=dpu", status=1)
    assert "'roll'" in err and "role, func, rep" in err, err
    _, err = ask("--dev", "nothing0", status=1)
    assert "comch_shm" in err, err


def scan():
    """The hardware of this machine, which may have none."""
    _, err = ask("--scan", "comch_shm", status=1)
    assert "comch_shm uses no hardware" in err, err
    _, err = ask("--scan", "nothing", status=1)
    assert "unknown driver" in err, err
    done = subprocess.run([INFO, "--scan", "--json"], capture_output=True, text=True, timeout=30,
                          check=False)
    if "unknown driver" in done.stderr or "cannot be loaded" in done.stderr:
        return  # built without it
    units = json.loads(done.stdout)
    assert "memlock" in units[""], units
    usable = [value for unit in units.values() for value in unit.get("usable", [])]
    assert usable and all(value.startswith(("yes: dev=", "no: ")) for value in usable), units
    assert done.returncode == (0 if any(value[0] == "y" for value in usable) else 1), done


def nobody():
    """There is no program to ask."""
    for args in ([], ["--json"], ["--explain", "1"], ["--file-prefix", "a"], ["--watch"]):
        out, err = ask(*args, status=1)
        assert not out and "no program with comch and telemetry" in err, (args, out, err)


def objects():
    """All objects of both programs, and of one."""
    both = ask_json()
    assert sorted(process["prefix"] for process in both) == ["a", "b"], both
    process, = ask_json("--file-prefix", "a")
    sizes = {section: len(process[section]) for section in SECTIONS}
    assert sizes == {"drivers": 2, "devices": 2, "servers": 1, "clients": 1, "connections": 2,
                     "producers": 2, "consumers": 2, "memory": 4, "polls": 2}, sizes
    assert "role" in process["drivers"][0]["keys"], process["drivers"]
    assert {device["role"] for device in process["devices"]} == {"dpu", "host"}
    assert all(conn["state"] == "up" for conn in process["connections"])
    client, = (conn for conn in process["connections"] if conn["side"] == "client")
    assert client["stats"]["tx_msgs"] > 0 and client["peer_pid"] == process["pid"], client
    assert {cons["stats"]["staged"] > 0 for cons in process["consumers"]} == {True, False}
    text, err = ask("-p", "a")
    assert not err, err
    for section in SECTIONS:
        assert f"\n{section}\n" in text, (section, text)
    assert "file prefix a," in text and "file prefix b," not in text, text
    assert all(line == line.rstrip() for line in text.splitlines()), text
    _, err = ask("--file-prefix", "c", status=1)
    assert "/c/" in err, err


def explain():
    """Both ends of the connection, and both ways to copy."""
    process, = ask_json("-p", "a")
    paths = {}
    for conn in process["connections"]:
        one, = ask_json("-p", "a", "--explain", str(conn["id"]))
        assert one["id"] == conn["id"] and one["pid"] == process["pid"], one
        for consumer in one["consumers"].values():
            for memory in consumer["memory"].values():
                paths[memory["kind"]] = memory["path"]
        text, _ = ask("-p", "a", "-e", str(conn["id"]))
        assert f"connection {conn['id']} of " in text and f"{conn['side']} side" in text, text
        assert "the peer writes into it" in text or "heap memory" in text, text
    assert paths == {"sealed": "direct", "heap": "staged"}, paths
    # Numbers are each program's own: without a prefix there are two such connections.
    assert len(ask_json("--explain", str(process["connections"][0]["id"]))) == 2
    _, err = ask("--explain", "4000000000", status=1)
    assert "no connection 4000000000 in 2 programs" in err, err


def handover():
    """The driver for one EAL: which mbufs it hands over, which it copies, and why."""
    holder = start("r", "ring")
    try:
        process, = ask_json("-p", "r")
        texts = {}
        chains = {}
        for conn in process["connections"]:
            one, = ask_json("-p", "r", "--explain", str(conn["id"]))
            consumer, = one["consumers"].values()
            producer, = one["producers"].values()
            assert {m["path"] for m in consumer["memory"].values()} == {"handover"}, one
            assert consumer["mbufs"]["not_eal_memory"] == "handed over", one
            assert consumer["mbufs"]["room"] == 2048, one
            chains[conn["side"]] = consumer["mbufs"]["chains"]
            # The side that sends to a consumer without chains copied two of five.
            copies = 2 if conn["side"] == "client" else 0
            assert producer == {"msgs": 5, "copies": copies, "staged_msgs": 0, "errors": 0}, one
            texts[conn["side"]], _ = ask("-p", "r", "--explain", str(conn["id"]))
        assert chains == {"server": "copied", "client": "handed over"}, chains
        for text in texts.values():
            assert "    mbufs of one segment: handed over, with up to 2 KiB\n" in text, text
            assert "    data outside EAL memory: handed over: the peer is the same" in text, text
        assert ": 5 messages, 2 payload copies, 0 staged, 0 errors\n" in texts["client"], texts
        assert "    chains: copied: the consumer was created without RTE_" in texts["server"], texts
        assert "    chains: handed over: the consumer was created with RTE_" in texts["client"], texts
        stop(holder)
    finally:
        if holder.poll() is None:
            holder.kill()


def watch(holders):
    """Rates appear with the second round; the end comes with the programs' end."""
    with subprocess.Popen([INFO, "--json", "--watch", "0.2"], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True) as info:
        rounds = [json.loads(info.stdout.readline()) for _ in range(3)]
        for holder in holders:
            stop(holder)
        rounds += [json.loads(line) for line in info.stdout]
        assert info.wait(timeout=30) == 1
        assert "no program with comch and telemetry" in info.stderr.read()
    assert not any("rates" in conn for process in rounds[0] for conn in process["connections"])
    for process in rounds[2]:
        client, = (conn for conn in process["connections"] if conn["side"] == "client")
        assert client["rates"]["tx_msgs"] > 0, client
        assert all(cons["rates"]["bytes"] > 0 for cons in process["consumers"])


def frozen(holder):
    """A program that does not answer delays others only briefly."""
    holder.send_signal(signal.SIGSTOP)
    done = subprocess.run([INFO, "--json"], capture_output=True, text=True, timeout=30,
                          check=True)
    holder.send_signal(signal.SIGCONT)
    assert [process["prefix"] for process in json.loads(done.stdout)] == ["b"], done
    assert "/a/" in done.stderr and "no answer" in done.stderr, done.stderr


def full():
    """A program that has as many telemetry clients as EAL allows."""
    clients = []
    try:
        for _ in range(10):
            client = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            client.connect(f"{os.environ['RUNTIME_DIRECTORY']}/dpdk/a/dpdk_telemetry.v2")
            assert client.recv(1024), "no greeting"
            clients.append(client)
        _, err = ask("--file-prefix", "a", status=1)
        assert "10 telemetry clients" in err and "no program" not in err, err
    finally:
        for client in clients:
            client.close()
    # EAL notices that by and by; meson limits this wait.
    while subprocess.run([INFO, "--file-prefix", "a"], capture_output=True, check=False).returncode:
        time.sleep(0.05)


def start(*args):
    """Start a program and wait until its objects are there."""
    holder = subprocess.Popen([HOLD, *args], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              text=True)
    assert holder.stdout.readline() == "ready\n"
    return holder


def stop(holder):
    """End it by the end of its input."""
    holder.communicate()
    assert holder.returncode == 0, holder.returncode


def main():
    command_line()
    devices()
    scan()
    nobody()
    handover()
    holders = [start("a"), start("b")]
    try:
        objects()
        explain()
        frozen(holders[0])
        full()
        watch(holders)
    finally:
        for holder in holders:
            if holder.poll() is None:
                holder.kill()


main()
