# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
"""What a pair waits for, in one sentence."""

import time

# A side that has not called its poll for as long does not do so any more.
SILENT_S = 1


def quoted(names):
    """'a' and 'b'"""
    return " and ".join(f"'{name}'" for name in sorted(set(names)))


def before_server(dpu):
    """Why there is no server."""
    if not dpu.states:
        return ("dpu: shows nothing of itself: it has not opened a device yet, or it runs EAL with "
                "--no-telemetry")
    servers = dpu.all("servers")
    if not servers:
        devices = ", ".join(f"{d['name']} ({d['role']})" for d in dpu.all("devices"))
        return f"dpu: has no server; its devices: {devices or 'none'}"
    server = servers[0]
    return (f"dpu: its server '{server['name']}' on {server['function']} is {server['state']}, not "
            "RUNNING")


def of_client(host, client, dpu):
    """Why a client is not connected."""
    me = f"{host.name}: its client '{client['name']}' on {client['function']}"
    servers = [s for s in dpu.all("servers") if s["state"] == "RUNNING"]
    same_name = [s for s in servers if s["name"] == client["name"]]
    if any(s["function"] == client["function"] for s in same_name):
        reason = client.get("reason")
        return f"{me} is not connected, though that server is there" + (
            f": {reason}" if reason else "")
    if same_name:
        places = " and ".join(sorted({s["function"] for s in same_name}))
        return (f"{me} finds no server there: the dpu listens for that name on {places}, of "
                "another representor")
    if not servers:
        return f"{me} finds no server: {before_server(dpu)}"
    there = quoted(s["name"] for s in servers if s["function"] == client["function"])
    return f"{me} finds no server of that name there" + (f", but {there}" if there else "; the dpu "
        f"has {quoted(s['name'] for s in servers)} on " +
        " and ".join(sorted({s["function"] for s in servers})))


def before_client(host):
    """Why there is no client."""
    if not host.states:
        return (f"{host.name}: shows nothing of itself: it has not opened a device yet, or it runs "
                "EAL with --no-telemetry")
    devices = ", ".join(f"{d['name']} ({d['role']})" for d in host.all("devices"))
    return f"{host.name}: has no client; its devices: {devices or 'none'}"


def is_stopped(side):
    """Whether one of its processes has been stopped by a signal."""
    for state in side.states:
        try:
            with open(f"/proc/{state['pid']}/stat", encoding="utf-8", errors="replace") as file:
                if file.read().rpartition(")")[2].split()[0] in "Tt":
                    return True
        except OSError:  # It has ended.
            pass
    return False


def hangs(side):
    """Whether it does not run its polls, without sleeping on them."""
    polls = side.all("polls")
    return (side.is_running() and polls and not any(p["asleep"] for p in polls) and
            time.monotonic() - side.changed_at > SILENT_S)


def of_connection(side, peer):
    """What holds a connection up."""
    for conn in side.all("connections"):
        stats = conn["stats"]
        if conn["state"] == "up" and 0 < conn.get("send_credits", 0) <= stats["in_flight"]:
            return (f"{side.name}: has no credit on '{conn['name']}': {peer.name} has not taken "
                    f"{stats['in_flight']} of its {stats['tx_msgs']} messages")
    for consumer in peer.all("consumers"):
        stats = consumer["stats"]
        if consumer["state"] == "RUNNING" and stats["posted"] == stats["msgs"] and \
                side.all("producers"):
            return f"{peer.name}: has no buffer posted in consumer {consumer['id']}: " + (
                f"all {stats['posted']} have been filled" if stats["posted"] else "it had none yet")
    for producer in side.all("producers"):
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
    """One sentence: what the pair waits for, or waited for when a side ended."""
    if not any(s["state"] == "RUNNING" for s in dpu.all("servers")) and not any(
            host.all("connections") for host in hosts):
        return before_server(dpu)
    for side in (dpu, *hosts):
        if is_stopped(side):
            return f"{side.name}: is stopped by a signal, or by a debugger"
        if hangs(side):
            silent = time.monotonic() - side.changed_at
            return (f"{side.name}: hangs: it has not called its poll, or doca_pe_progress(), for "
                    f"{silent:.0f} s")
    for host in hosts:
        clients = host.all("clients")
        for client in clients:
            if client["state"] != "RUNNING":
                return of_client(host, client, dpu)
        if not clients and not host.all("connections") and host.is_running():
            return before_client(host)
    for host in hosts:
        found = of_connection(host, dpu) or of_connection(dpu, host)
        if found:
            return found
    silent = time.monotonic() - max(side.changed_at for side in (dpu, *hosts))
    told = "; ".join(traffic(side) for side in (dpu, *hosts))
    return f"connected, and silent for {silent:.0f} s: {told} messages"
