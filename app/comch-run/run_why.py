# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
"""What a pair waits for, in one sentence."""

import time

# A side that has not called its poll for as long does not do so any more.
SILENT_S = 1


def quoted(names):
    """'a' and 'b'"""
    return " and ".join(f"'{name}'" for name in sorted(set(names)))


def lacks(side, what):
    """Why a side has no server or client."""
    if not side.states:
        return (f"{side.name}: no telemetry: it has not opened a device yet, or it runs "
                "EAL with --no-telemetry")
    devices = ", ".join(f"{d['name']} ({d['role']})" for d in side.all("devices"))
    return f"{side.name}: has no {what}; its devices: {devices or 'none'}"


def before_server(dpu):
    """Why no server can be reached."""
    servers = dpu.all("servers")
    if not servers:
        return lacks(dpu, "server")
    server = servers[0]
    return (f"dpu: its server '{server['name']}' on {server['function']} is {server['state']}, not "
            "RUNNING")


def of_client(host, client, dpu):
    """Why a client is not connected."""
    me = f"{host.name}: its client '{client['name']}' on {client['function']}"
    if not dpu.is_running():
        return f"{me} is not connected: the dpu has ended"
    servers = [s for s in dpu.all("servers") if s["state"] == "RUNNING"]
    same_name = [s for s in servers if s["name"] == client["name"]]
    if any(s["function"] == client["function"] for s in same_name):
        reason = client.get("reason")
        return f"{me} is not connected, though that server is running" + (
            f": {reason}" if reason else "")
    if same_name:
        places = " and ".join(sorted({s["function"] for s in same_name}))
        return (f"{me} finds no server there: the dpu's server of that name is on {places}, "
                "another representor")
    if not servers:
        return f"{me} finds no server: {before_server(dpu)}"
    there = quoted(s["name"] for s in servers if s["function"] == client["function"])
    return f"{me} finds no server of that name there" + (f", but {there}" if there else "; the dpu "
        f"has {quoted(s['name'] for s in servers)} on " +
        " and ".join(sorted({s["function"] for s in servers})))


def hangs(side):
    """Whether it does not run its polls, without sleeping on them."""
    polls = side.all("polls")
    return (side.is_running() and polls and not any(p["asleep"] for p in polls) and
            side.looked_at - side.changed_at > SILENT_S)


def pids(side):
    """Its processes."""
    return {state["pid"] for state in side.states}


def is_peer(conn, peer):
    """Whether a connection leads to that side. Of another machine no process is known: such a pair
    has one host."""
    return conn["peer_pid"] < 0 or conn["peer_pid"] in pids(peer)


def shared(side, peer, kind):
    """What a side has of a kind towards another side: (its connection, it)."""
    for state in side.states:
        conns = {c["id"]: c for c in state["connections"]
                 if c["state"] == "up" and is_peer(c, peer)}
        for thing in state[kind]:
            conn = conns.get(thing["id"] if kind == "connections" else thing["conn"])
            if conn is not None:
                yield conn, thing


def of_connection(side, peer):
    """What holds a connection up, seen from the side that sends."""
    for conn, _ in shared(side, peer, "connections"):
        stats = conn["stats"]
        if 0 < conn["send_credits"] <= stats["in_flight"]:
            return (f"{side.name}: has no credit on '{conn['name']}': {peer.name} has not taken "
                    f"{stats['in_flight']} of its {stats['tx_msgs']} messages")
    producers = [producer for _, producer in shared(side, peer, "producers")]
    for _, consumer in shared(peer, side, "consumers"):
        stats = consumer["stats"]
        if producers and consumer["state"] == "RUNNING" and stats["posted"] == stats["msgs"]:
            return f"{peer.name}: has no buffer posted in consumer {consumer['id']}: " + (
                f"all {stats['posted']} have been filled" if stats["posted"] else "it had none yet")
    for producer in producers:
        if producer["state"] == "STARTING":
            return (f"{side.name}: its producer {producer['id']} waits for a consumer of "
                    f"{peer.name} with that number")
    return None


def traffic(side):
    """What a side has sent and received."""
    def total(kind, counter):
        return sum(o["stats"][counter] for o in side.all(kind))

    sent = total("connections", "tx_msgs") + total("producers", "msgs")
    received = total("connections", "rx_msgs") + total("consumers", "msgs")
    return f"{side.name} has sent {sent} and received {received}"


def why(dpu, hosts):
    """One sentence: what the DPU side and these hosts wait for, or waited for when one ended; None:
    it is not known."""
    sides = (dpu, *hosts)
    for side in sides:
        if side.is_stopped():
            return f"{side.name}: is stopped by a signal, or by a debugger"
    for side in sides:
        if hangs(side):
            return (f"{side.name}: hangs: it has not called its poll, or doca_pe_progress(), for "
                    f"{side.looked_at - side.changed_at:.0f} s")
    for host in hosts:
        for client in host.all("clients"):
            if client["state"] != "RUNNING":
                return of_client(host, client, dpu)
        if not host.all("clients") and not host.all("connections") and (
                host.states or host.is_running()):
            return lacks(host, "client")
    for host in hosts:
        found = of_connection(host, dpu) or of_connection(dpu, host)
        if found:
            return found
    left = [host.name for host in hosts if host.is_running()]
    if left and not dpu.is_running():
        return " and ".join(left) + ": still running, though the dpu has ended"
    if not any(conn["state"] == "up" for host in hosts for conn in host.all("connections")):
        return None
    silent = time.monotonic() - max(side.spoke_at for side in sides)
    doing = f"silent for {silent:.0f} s" if silent >= SILENT_S else "at work"
    told = "; ".join(traffic(side) for side in sides)
    return f"connected, and {doing}: {told} messages"
