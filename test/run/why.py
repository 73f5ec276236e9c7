#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
"""Each sentence of comch-run, from what comch-info may say.

usage: why.py MODULES
"""

import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
from run_why import before_server, why  # noqa: E402 # pylint: disable=wrong-import-position,import-error


# None is a process.
PIDS = {"dpu": 5000001, "host": 5000002, "host1": 5000003, "host2": 5000004}


class Known:
    """A side, as run_why.py sees it."""

    def __init__(self, name, ago=0, running=True, **kinds):
        self.name = name
        self.running = running
        empty = {kind: [] for kind in ("devices", "servers", "clients", "connections", "producers",
                                       "consumers", "polls")}
        self.states = [{"pid": PIDS[name], **empty, **kinds}] if kinds else []
        self.looked_at = time.monotonic()
        self.changed_at = self.spoke_at = self.looked_at - ago

    def is_running(self):
        """As told."""
        return self.running

    def is_stopped(self):
        """Never."""
        return False

    def all(self, kind):
        """As Side has it."""
        return [o for state in self.states for o in state[kind]]


def device(role):
    """An open device."""
    return {"name": "comch_shm0", "role": role}


def server(name="s", function="pf0", state="RUNNING"):
    """A server."""
    return {"name": name, "function": function, "state": state}


def client(name="s", function="pf0", state="STARTING", **more):
    """A client."""
    return {"name": name, "function": function, "state": state, **more}


def conn(peer="dpu", number=1, in_flight=0, tx_msgs=0, rx_msgs=0):
    """A connection that is up."""
    return {"id": number, "name": "s", "state": "up", "send_credits": 64, "peer_pid": PIDS[peer],
            "stats": {"in_flight": in_flight, "tx_msgs": tx_msgs, "rx_msgs": rx_msgs}}


def poll(asleep=1):
    """A poll."""
    return {"asleep": asleep}


def says(dpu, host, *words):
    """The sentence has all of these. host: or a list of hosts"""
    said = why(dpu, host if isinstance(host, list) else [host])
    assert "\n" not in said and all(word in said for word in words), (said, words)


serving = {"devices": [device("dpu")], "servers": [server()], "polls": [poll()]}
up = {"clients": [client(state="RUNNING")], "polls": [poll()]}
connecting = [{**conn(), "state": "connecting"}]

says(Known("dpu", **serving), Known("host"), "host: no telemetry")
says(Known("dpu", **serving), Known("host", devices=[device("host")]), "host: has no client",
     "comch_shm0 (host)")
# One that has ended, of which nothing is known.
assert why(Known("dpu", **serving), [Known("host", running=False)]) is None
says(Known("dpu", **serving), Known("host", clients=[client(name="t")], connections=connecting),
     "its client 't' on pf0 finds no server of that name there, but 's'")
says(Known("dpu", **serving), Known("host", clients=[client("t", "pf1")], connections=connecting),
     "no server of that name there; the dpu has 's' on pf0")
says(Known("dpu", **serving), Known("host", clients=[client(function="pf0vf1")]),
     "the dpu's server of that name is on pf0, another representor")
says(Known("dpu", **serving), Known("host", clients=[client(state="IDLE", reason="rejected")]),
     "is not connected, though that server is running: rejected")
says(Known("dpu", running=False, **serving), Known("host", clients=[client()]),
     "host: its client 's' on pf0 is not connected: the dpu has ended")
for dpu, reason in ((Known("dpu"), "dpu: no telemetry"),
                    (Known("dpu", devices=[device("dpu")]), "dpu: has no server; its devices: "
                     "comch_shm0 (dpu)"),
                    (Known("dpu", servers=[server(state="IDLE")]),
                     "its server 's' on pf0 is IDLE, not RUNNING")):
    says(dpu, Known("host", clients=[client()], connections=connecting), "finds no server: ", reason)
    assert reason in before_server(dpu)

full = conn(in_flight=64, tx_msgs=70)
says(Known("dpu", connections=[conn("host")], **serving), Known("host", connections=[full], **up),
     "host: has no credit on 's': dpu has not taken 64 of its 70 messages")
consumer = {"id": 1, "conn": 1, "state": "RUNNING", "stats": {"posted": 8, "msgs": 8}}
unused = {**consumer, "stats": {"posted": 0, "msgs": 0}}
producer = {"id": 1, "conn": 1, "state": "RUNNING", "stats": {"msgs": 8}}
says(Known("dpu", connections=[conn("host")], consumers=[consumer], **serving),
     Known("host", connections=[conn()], producers=[producer], **up),
     "dpu: has no buffer posted in consumer 1: all 8 have been filled")
says(Known("dpu", connections=[conn("host")], consumers=[unused], **serving),
     Known("host", connections=[conn()], producers=[producer], **up),
     "dpu: has no buffer posted in consumer 1: it had none yet")
says(Known("dpu", connections=[conn("host")], **serving),
     Known("host", connections=[conn()], producers=[{**producer, "state": "STARTING"}], **up),
     "host: its producer 1 waits for a consumer of dpu with that number")
# Of two hosts, the one that it is.
says(Known("dpu", connections=[conn("host1"), {**full, "id": 2, "peer_pid": PIDS["host2"]}],
           **serving),
     [Known("host1", connections=[conn()], **up), Known("host2", connections=[conn()], **up)],
     "dpu: has no credit on 's': host2 has not taken 64 of its 70")
says(Known("dpu", ago=5, connections=[conn("host")], servers=[server()], polls=[poll(asleep=0)]),
     Known("host", connections=[conn()], **up), "dpu: hangs", "doca_pe_progress()", "for 5 s")
says(Known("dpu", ago=5, connections=[conn("host", rx_msgs=3)], **serving),
     Known("host", ago=3, connections=[conn(tx_msgs=3)], **up),
     "connected, and silent for 3 s: dpu has sent 0 and received 3; host has sent 3 and received 0")
says(Known("dpu", connections=[conn("host", rx_msgs=3)], **serving),
     Known("host", connections=[conn(tx_msgs=3)], **up), "connected, and at work: dpu has sent 0")
# Killed by its fault: the client has not noticed, or has and shows its state.
says(Known("dpu", running=False, **serving), Known("host", **up),
     "host: still running, though the dpu has ended")
# On two machines no side knows the process of the other one.
far = {**conn(), "peer_pid": -1}
says(Known("dpu", connections=[far], **serving),
     Known("host", connections=[{**far, "stats": full["stats"]}], **up),
     "host: has no credit on 's': dpu has not taken 64 of its 70 messages")
