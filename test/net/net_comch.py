#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
"""Run DPDK's programs over net_comch: pairs of dpdk-testpmd, and l2fwd between two.

usage: net_comch.py LIBRTE_NET_COMCH L2FWD [CASE...]

The programs are driven by their prompts, on pseudo terminals. The test waits for
conditions; TIMEOUT only limits how long a program may hang before the test fails.

Environment: T_NET_PACKETS, the number of packets each way of the case "counting". A long
run prints its progress. T_NET_VDEV, more arguments for the ports: export_eal=1,trust_peer=1
"""

import os
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import time

TIMEOUT = 60
PROGRESS = 10  # seconds
DEPTH = 1024
QUEUES = 4
PROMPT = "testpmd> "
MORE = os.environ.get("T_NET_VDEV", "")
PLUGIN = L2FWD = ""
# Of testpmd, when the other end comes or goes.
NOTICE = re.compile(r"\nPort \d+: link state change event\n")


class Failed(Exception):
    pass


class Program:
    """A program on a pseudo terminal."""

    running = []

    def __init__(self, name, command):
        self.name = name
        self.text = ""
        self.seen = 0
        self.terminal, end = pty.openpty()
        self.process = subprocess.Popen(command, stdin=end, stdout=end, stderr=end,
                                        close_fds=True, start_new_session=True)
        os.close(end)
        Program.running.append(self)

    def read(self, seconds):
        """Read what there is, for at most so long. False: the program has ended."""
        if not select.select([self.terminal], [], [], seconds)[0]:
            return True
        try:
            data = os.read(self.terminal, 65536)
        except OSError:
            return False
        self.text += data.decode(errors="replace").replace("\r", "")
        return bool(data)

    def wait_for(self, text):
        """Wait for a text after what was found before. Return what is before it."""
        deadline = time.monotonic() + TIMEOUT
        while text not in self.text[self.seen:]:
            if time.monotonic() > deadline or not self.read(0.2):
                raise Failed(f"{self.name}: no {text!r} in: {self.text[self.seen:][-2000:]}")
        at = self.text.index(text, self.seen)
        before = self.text[self.seen:at]
        self.seen = at + len(text)
        return before

    def signal(self, number):
        self.process.send_signal(number)

    def wait(self):
        """Wait for its end. Return its exit status."""
        deadline = time.monotonic() + TIMEOUT
        while self.process.poll() is None:
            if time.monotonic() > deadline:
                raise Failed(f"{self.name} does not end: {self.text[-2000:]}")
            self.read(0.1)
        Program.running.remove(self)
        os.close(self.terminal)
        return self.process.returncode

    def kill(self):
        self.process.kill()
        self.wait()


def eal(name, cpu, *vdevs):
    """Return the arguments for EAL: one lcore for the prompt, one to forward."""
    args = ["--lcores", f"0@{cpu},1@{cpu}", "--no-huge", "-m", "192", "--no-pci",
            "--no-telemetry", "--no-shconf", "--file-prefix", f"comch-net-{name}-{os.getpid()}",
            "-d", PLUGIN]
    for i, vdev in enumerate(vdevs):
        args += ["--vdev", ",".join(filter(None, (f"net_comch{i}", vdev, MORE)))]
    return args


class Testpmd(Program):
    """dpdk-testpmd with one port, at its prompt."""

    def __init__(self, name, cpu, vdev, queues=QUEUES, mode="io", options=()):
        super().__init__(name, ["dpdk-testpmd"] + eal(name, cpu, vdev) +
                         ["--", "-i", "--total-num-mbufs=12288", f"--rxq={queues}",
                          f"--txq={queues}", f"--rxd={DEPTH}", f"--txd={DEPTH}",
                          f"--forward-mode={mode}", *options])
        self.wait_for(PROMPT)

    def read(self, seconds):
        """The same, without what testpmd prints at any time, also amid the echo of a command."""
        goes_on = super().read(seconds)
        self.text = self.text[:self.seen] + NOTICE.sub("", self.text[self.seen:])
        return goes_on

    def do(self, command):
        """Type a command. Return what it prints."""
        os.write(self.terminal, (command + "\n").encode())
        self.wait_for(command)
        return self.wait_for(PROMPT)

    def is_up(self):
        return "Link status: up" in self.do("show port info 0")

    def counts(self):
        """Return all counters of the port."""
        return {name: int(value) for name, value in
                re.findall(r"^(\w+): (\d+)$", self.do("show port xstats 0"), re.M)}

    def quit(self):
        os.write(self.terminal, b"quit\n")
        if self.wait() != 0:
            raise Failed(f"{self.name}: exit status {self.process.returncode}")


def wait_until(what, condition):
    deadline = time.monotonic() + TIMEOUT
    while not condition():
        if time.monotonic() > deadline:
            raise Failed(f"timed out: {what}")
        time.sleep(0.05)


def wait_for_packets(what, count, number):
    """Wait until a counter has reached a number. It must move, however slowly."""
    begin = shown = moved = time.monotonic()
    first = last = count()
    while last < number:
        time.sleep(0.05)
        now, before, last = time.monotonic(), last, count()
        if last > before:
            moved = now
        if now > moved + TIMEOUT:
            raise Failed(f"{what}: {last} of {number} packets, and no more come")
        if now > shown + PROGRESS:
            shown = now
            print(f"   {what}: {last} of {number} packets, "
                  f"{(last - first) / (now - begin) / 1e6:.2f} M/s", flush=True)


def check(what, left, relation, right):
    """Check one relation of two numbers."""
    good = {"==": left == right, ">": left > right, "<=": left <= right}[relation]
    if not good:
        raise Failed(f"{what}: {left} {relation} {right} does not hold")


def dpu(name="dpu", cpu=0, link="lan0", **options):
    queues = options.get("queues", QUEUES)
    return Testpmd(name, cpu, f"role=dpu,rep=pf0,name={link},queues={queues}", **options)


def host(name="host", cpu=1, link="lan0", **options):
    queues = options.get("queues", QUEUES)
    return Testpmd(name, cpu, f"role=host,func=pf0,name={link},queues={queues}", **options)


def both_up(*ends):
    for end in ends:
        wait_until(f"{end.name}: the link is up", end.is_up)


def stopped(end):
    """Stop an end in order, and return its counters: nothing is on its way any more."""
    end.do("stop")
    end.do("port stop 0")
    return end.counts()


def total(counts, pattern):
    return sum(value for name, value in counts.items() if re.fullmatch(pattern, name))


def show(title, *pairs):
    print(f"   {title}: " + ", ".join(f"{name} {value}" for name, value in pairs))


def case_counting():
    """Packets both ways by four queues. The end that echoes is restarted in between."""
    packets = int(os.environ.get("T_NET_PACKETS", "1000000"))
    a, lives = host(mode="flowgen"), []
    for life in range(2):
        b = dpu(f"dpu{life}")
        both_up(a, b)
        b.do("start")
        if life == 0:
            a.do("start")
        wait_for_packets(f"echo, life {life + 1}",
                         lambda: b.counts()["tx_good_packets"], packets // 2)
        if life == 1:
            a.do("stop")
        # In the first life the other end sends meanwhile.
        lives.append(stopped(b))
        b.quit()
    counts = stopped(a)
    a.quit()
    received = sum(c["rx_good_packets"] for c in lives)
    discarded = sum(c["rx_missed_errors"] for c in lives)
    sent = sum(c["tx_good_packets"] for c in lives)
    show("flowgen", ("sent", counts["tx_good_packets"]), ("lost", counts["tx_errors"]),
         ("received", counts["rx_good_packets"]), ("discarded", counts["rx_missed_errors"]))
    show("echo, both lives", ("received", received), ("discarded", discarded), ("sent", sent))
    # Each packet that a burst accepted is received or counted.
    check("to the echo", counts["tx_good_packets"], "==", received + discarded)
    check("from the echo", sent, "==", counts["rx_good_packets"] + counts["rx_missed_errors"])
    check("unconfirmed", total(counts, r"tx_q\d_unconfirmed_packets"), "==", 0)
    # The restart, and the end, in which the flow was stopped before the port.
    check("discarded by the restart", lives[0]["rx_missed_errors"], "<=", QUEUES * DEPTH)
    check("lost by the restart", counts["tx_errors"], "<=", QUEUES * DEPTH)
    check("discarded", total(lives[0], r"rx_q\d_discarded_packets"), "==",
          lives[0]["rx_missed_errors"])
    check("links", counts["link_ups"], "==", 2)
    for queue in range(QUEUES):
        check(f"queue {queue}", lives[1][f"rx_q{queue}_packets"], ">", 0)


def case_kill():
    """The peer is killed with its queues full, then while packets flow both ways."""
    a, b = dpu(mode="flowgen"), host("victim")
    both_up(a, b)
    # The victim does not receive: what it holds is known.
    a.do("start")
    full = QUEUES * DEPTH
    wait_until("full queues", lambda: a.counts()["tx_good_packets"] == full)
    b.kill()
    wait_until("the link is down", lambda: not a.is_up())
    counts = a.counts()
    check("unconfirmed", total(counts, r"tx_q\d_unconfirmed_packets"), "==", full)
    check("sent", counts["tx_good_packets"], "==", full)
    for life in range(2):
        b = host(f"next{life}")
        both_up(a, b)
        before = a.counts()["rx_good_packets"]
        b.do("start")
        wait_until("packets in both directions",
                   lambda: a.counts()["rx_good_packets"] > before + 10000)
        if life == 0:
            b.kill()
            wait_until("the link is down", lambda: not a.is_up())
    check("unconfirmed", total(a.counts(), r"tx_q\d_unconfirmed_packets"), "<=", 2 * full)
    b.quit()
    a.quit()


def case_server_restart():
    """The end with the server is restarted, and killed: the client finds the next one."""
    a = host(mode="flowgen", queues=1)
    for life in range(3):
        b = dpu(f"dpu{life}", queues=1)
        both_up(a, b)
        b.do("start")
        if life == 0:
            a.do("start")
        before = a.counts()["rx_good_packets"]
        wait_until("packets in both directions",
                   lambda: a.counts()["rx_good_packets"] > before + 10000)
        if life == 1:
            b.kill()
        else:
            b.quit()
        wait_until("the link is down", lambda: not a.is_up())
    check("links", a.counts()["link_downs"], "==", 3)
    a.quit()


def case_jumbo():
    """Frames of several segments, longer than the receive buffers, both ways."""
    options = ("--max-pkt-len=9018", "--enable-scatter", "--tx-offloads=0x8000")
    a = host(mode="txonly", options=options)
    b = dpu(mode="rxonly", options=options)
    both_up(a, b)
    a.do("set txpkts 2000,2000,2000,2000")
    b.do("start")
    a.do("start")
    wait_until("frames", lambda: b.counts()["rx_good_packets"] > 10000)
    a.do("stop")
    wait_until("all frames",
               lambda: b.counts()["rx_good_packets"] == a.counts()["tx_good_packets"])
    counts = b.counts()
    check("bytes", counts["rx_good_bytes"], "==", 8000 * counts["rx_good_packets"])
    check("errors", counts["rx_errors"] + a.counts()["tx_errors"], "==", 0)
    b.quit()
    a.quit()


def case_queues_differ():
    """Four queues here, one there: its queue receives from all of them."""
    a, b = host(mode="txonly"), dpu(mode="rxonly", queues=1)
    both_up(a, b)
    b.do("start")
    a.do("start")
    wait_until("packets", lambda: b.counts()["rx_good_packets"] > 10000)
    for queue in range(QUEUES):
        wait_until(f"packets of queue {queue}",
                   lambda queue=queue: a.counts()[f"tx_q{queue}_packets"] > 0)
    a.do("stop")
    wait_until("all packets",
               lambda: b.counts()["rx_good_packets"] == a.counts()["tx_good_packets"])
    b.quit()
    a.quit()


def case_l2fwd():
    """l2fwd between two ports, each with a testpmd at its other end."""
    forwarder = Program("l2fwd", [L2FWD] + eal(
        "l2fwd", 0, "role=dpu,name=left", "role=dpu,name=right") +
        ["--", "-p", "3", "-q", "2", "-T", "1", "-P", "--no-mac-updating"])
    a = host("left", link="left", queues=1, mode="flowgen")
    b = host("right", link="right", queues=1)
    both_up(a, b)
    b.do("start")
    a.do("start")
    wait_until("packets through l2fwd and back",
               lambda: a.counts()["rx_good_packets"] > 10000)
    check("packets forwarded", b.counts()["rx_good_packets"], ">", 0)
    a.quit()
    b.quit()
    forwarder.signal(signal.SIGINT)
    check("l2fwd's exit status", forwarder.wait(), "==", 0)


def main():
    global PLUGIN, L2FWD
    PLUGIN, L2FWD, *names = sys.argv[1:]
    if shutil.which("dpdk-testpmd") is None:
        print("skipped: dpdk-testpmd is not installed (package dpdk-dev)")
        return 77
    failed = 0
    for function, case in [(key, value) for key, value in globals().items()
                           if key.startswith("case_")]:
        name = function.removeprefix("case_")
        if names and name not in names:
            continue
        print(f"== {name}", flush=True)
        begin = time.monotonic()
        try:
            case()
            print(f"   passed in {time.monotonic() - begin:.1f} s", flush=True)
        except Failed as error:
            print(f"   FAILED: {name}: {error}", flush=True)
            failed += 1
        finally:
            for program in list(Program.running):
                program.kill()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
