# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
"""The measurements and the table of peers.sh, which describes them."""

import argparse
import collections
import ctypes
import json
import math
import os
import pathlib
import resource
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import time

DEVTOOLS = pathlib.Path(__file__).resolve().parent.parent
BUILD = DEVTOOLS.parent / "build"
PERF = BUILD / "app/comch-perf"
NET_COMCH = BUILD / "drivers/net/comch/librte_net_comch.so"
FLOOR_MS = "150"
# Like comch-perf: the floors before and after, and the time that other programs had the CPUs.
SAME_FLOORS = 1.15
OTHERS = 0.10
# Floors of the peer and of comch.
SAME_CPUS = 1.3
TIMEOUT = 60
MIB = 1 << 20

# name: program or header, Debian package, package whose version is printed
PEERS = {
    "memif": ("dpdk-testpmd", "dpdk-dev", "dpdk-dev"),
    "vhost": ("dpdk-testpmd", "dpdk-dev", "dpdk-dev"),
    "ucx": ("ucx_perftest", "ucx-utils", "libucx0"),
    "libfabric": ("fi_pingpong", "libfabric-bin", "libfabric1"),
    "ck": ("/usr/include/ck_ring.h", "libck-dev", "libck-dev"),
    "unix": (None, None, None),
}
# kind: less is better, key of comch-perf's JSON
KINDS = {
    "latency": (True, "p50_ns"),
    "wake-up": (True, "p50_ns"),
    "rate": (False, "msgs_per_s"),
    "bandwidth": (False, "bytes_per_s"),
}
NOTES = {
    "a": "one-sided: the receiver is not told, and always the same memory is written",
    "b": "mean of all round trips, on both sides: the peer prints no percentiles",
    "c": "the peer's best second of three, and its receiver does not read the packets",
    "d": "both under dpdk-testpmd, the best second of three",
    "e": "as d, and the sender writes into the mbufs: export_eal=1,trust_peer=1",
}

Row = collections.namedtuple("Row", "kind size floor peer what command comch note")


class PeerError(Exception):
    """A program that fails, in one line."""


def child_setup(cpu):
    """Return what a child does first: stop with this process, run on a CPU."""

    def setup():
        ctypes.CDLL(None).prctl(1, signal.SIGTERM)  # PR_SET_PDEATHSIG
        if cpu is not None:
            os.sched_setaffinity(0, {cpu})

    return setup


def start(arguments, cpu=None, **options):
    """Start a program."""
    return subprocess.Popen(
        [str(argument) for argument in arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=child_setup(cpu),
        **options,
    )


def end(process):
    """Stop a program unless it has ended."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def finish(process):
    """Wait for a program; what it printed."""
    try:
        out, err = process.communicate(timeout=TIMEOUT)
    except subprocess.TimeoutExpired as error:
        raise PeerError(f"{process.args[0]}: no result after {TIMEOUT} s") from error
    finally:
        end(process)
    if process.returncode != 0:
        said = (err.strip() or out.strip()).splitlines()[-1:]
        raise PeerError(" ".join([f"{process.args[0]}: status {process.returncode}", *said]))
    return out


def run(arguments, cpu=None):
    """Run a program; what it printed."""
    return finish(start(arguments, cpu))


def free_port():
    """Return a TCP port that nothing uses."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]


def wait_for_port(server, port):
    """Wait until the server listens, without a connection, which it would take for its client."""
    for _ in range(500):
        with open("/proc/net/tcp", encoding="ascii") as file:
            if any(f[1].endswith(f":{port:04X}") and f[3] == "0A" for f in map(str.split, file)):
                return
        if server.poll() is not None:
            finish(server)
        time.sleep(0.02)
    raise PeerError(f"{server.args[0]}: does not listen on port {port}")


def pair(cpus, port, server_arguments, client_arguments, **options):
    """Run a server on the second CPU and a client on the first one; what the client printed."""
    server = start(server_arguments, cpus[1], **options)
    try:
        wait_for_port(server, port)
        out = finish(start(client_arguments, cpus[0], **options))
        finish(server)
        return out
    finally:
        end(server)


def ucx(test, size, count, key, *more):
    """Return a measurement by ucx_perftest over shared memory."""

    def measure(cpus):
        port = free_port()
        client = ["-t", test, "-s", size, "-n", count, "-f", "-v", *more, "127.0.0.1"]
        out = pair(
            cpus,
            port,
            ["ucx_perftest", "-p", port],
            ["ucx_perftest", "-p", port, *client],
            env={**os.environ, "UCX_TLS": "sm", "UCX_LOG_LEVEL": "error"},
        )
        lines = out.splitlines()
        head = next(i for i, line in enumerate(lines) if line.startswith("iterations,"))
        values = dict(zip(lines[head].split(","), lines[head + 1].split(",")))
        value = float(values[key])
        if key == "50.0_percentile_lat":
            return value * 1e3
        return value * size if size >= MIB else value

    return measure


def pingpong(size, count):
    """Return a measurement by fi_pingpong over shared memory: half of the mean round trip."""

    def measure(cpus):
        port = free_port()
        common = ["fi_pingpong", "-p", "shm", "-e", "rdm", "-I", count, "-S", size]
        out = pair(cpus, port, [*common, "-B", port], [*common, "-P", port, "127.0.0.1"])
        head, line = [line.split() for line in out.splitlines() if line.strip()][:2]
        # Of usec/xfer it prints too few digits.
        return size * 1e3 / float(line[head.index("MB/sec")])

    return measure


def testpmd(port, flow="send"):
    """Return a measurement by two dpdk-testpmd."""

    def measure(cpus):
        command = [DEVTOOLS / "testpmd-rate.sh", "--seconds", 3]
        return 1e6 * float(run([*command, "--cpus", f"{cpus[1]},{cpus[0]}", port, flow]))

    return measure


def bare(test, size):
    """Return a measurement by perf_peers_bare."""

    def measure(cpus):
        program = os.path.join(os.environ["RUNTIME_DIRECTORY"], "perf_peers_bare")
        return float(run([program, test, *cpus, 500, size]))

    return measure


class NetComch:
    """net_comch under dpdk-testpmd, instead of comch-perf."""

    def __init__(self, port, flow):
        self.what = f"net_comch {flow}{' trust' if port == 'trust' else ''}"
        self.measure = testpmd(port, flow)


def rows():
    """All rows. Counts last about a second, where the CPUs are near each other."""
    lat, mean, rate = "50.0_percentile_lat", "b", "overall_mr"
    posix = ("-d", "memory", "-x", "posix")
    data_lat = ("data-lat", "--size", 64)
    long_lat = ("data-lat", "--size", MIB, "--memory", "heap")
    ctrl_lat = ("ctrl-lat", "--size", 64)
    desc = ("data-rate", "--size", 64, "--burst", 32, "--api", "desc")
    mbuf = ("data-rate", "--size", 64, "--burst", 32, "--api", "mbuf")
    ctrl_rate = ("ctrl-rate", "--size", 64)
    shared = ("data-bw", "--size", MIB, "--memory", "shared")
    heap = ("data-bw", "--size", MIB, "--memory", "heap")
    count = 1000000
    return [
        Row("latency", 32, "line", "ucx", "UCT am_lat posix",
            ucx("am_lat", 32, 2 * count, lat, *posix), ("data-lat", "--size", 0, "--imm", 32), ""),
        Row("latency", 64, "line", "ucx", "tag_lat", ucx("tag_lat", 64, count, lat), data_lat, ""),
        Row("latency", 64, "line", "libfabric", "fi_pingpong rdm",
            pingpong(64, count), data_lat, mean),
        Row("latency", 64, "line", "ck", "ck_ring", bare("ck-lat", 64), data_lat, ""),
        Row("latency", 64, "line", "ucx", "ucp_am_lat",
            ucx("ucp_am_lat", 64, count, lat), ctrl_lat, ""),
        Row("latency", 64, "line", "unix", "SEQPACKET, both spin",
            bare("unix-lat", 64), ctrl_lat, ""),
        Row("wake-up", 64, "wake", "unix", "SEQPACKET, both sleep",
            bare("unix-wake", 64), (*ctrl_lat, "--wait", "event"), ""),
        Row("latency", MIB, "memcpy", "ucx", "tag_lat", ucx("tag_lat", MIB, 5000, lat),
            long_lat, ""),
        Row("latency", MIB, "memcpy", "libfabric", "fi_pingpong rdm", pingpong(MIB, 5000),
            long_lat, mean),
        Row("rate", 64, "slot", "memif", "testpmd", testpmd("memif"), mbuf, "c"),
        *(Row("rate", 64, "slot", "memif", f"testpmd {flow}", testpmd("memif", flow),
              NetComch(port, flow), note)
          for flow in ("send", "forward") for port, note in (("comch", "d"), ("trust", "e"))),
        Row("rate", 64, "slot", "vhost", "testpmd", testpmd("vhost"), mbuf, "c"),
        Row("rate", 64, "slot", "ck", "ck_ring", bare("ck-rate", 64), desc, ""),
        Row("rate", 64, "slot", "ucx", "tag_bw", ucx("tag_bw", 64, 10 * count, rate), desc, ""),
        Row("rate", 64, "slot", "ucx", "ucp_put_bw",
            ucx("ucp_put_bw", 64, 20 * count, rate), desc, "a"),
        Row("rate", 64, "slot", "ucx", "ucp_am_bw",
            ucx("ucp_am_bw", 64, 10 * count, rate), ctrl_rate, ""),
        Row("rate", 64, "slot", "unix", "SEQPACKET, 32 a call",
            bare("unix-rate", 64), ctrl_rate, ""),
        Row("bandwidth", MIB, "memcpy", "ucx", "ucp_put_bw",
            ucx("ucp_put_bw", MIB, 20000, rate), shared, "a"),
        Row("bandwidth", MIB, "memcpy", "ucx", "tag_bw", ucx("tag_bw", MIB, 10000, rate),
            heap, ""),
        Row("bandwidth", MIB, "memcpy", "unix", "STREAM", bare("unix-stream", MIB), heap, ""),
    ]


def absent(row):
    """Why a row cannot be measured here; None: it can."""
    program, package, _ = PEERS[row.peer]
    if program is not None and not os.path.exists(program) and not shutil.which(program):
        return f"absent: apt-get install {package}"
    if isinstance(row.comch, NetComch) and not NET_COMCH.exists():
        return "absent: net_comch (devtools/build-pmd.sh)"
    return None


def busy_seconds(cpus):
    """Time that the CPUs have worked since the machine started, and that of our children."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    ticks = 0
    with open("/proc/stat", encoding="ascii") as file:
        for fields in map(str.split, file):
            if fields[0] in [f"cpu{cpu}" for cpu in cpus]:
                # user, nice, system; irq, softirq
                ticks += sum(int(fields[i]) for i in (1, 2, 3, 6, 7))
    return ticks / os.sysconf("SC_CLK_TCK") - used.ru_utime - used.ru_stime


def floor(row, cpus):
    """Measure the floor of a row."""
    return float(run([PERF / "comch-perf-floor", row.floor, *cpus, FLOOR_MS, row.size]).split()[0])


class Side:
    """A figure and its floors."""

    def __init__(self, row, cpus, is_comch):
        busy, begin = busy_seconds(cpus), time.monotonic()
        # comch-perf measures its floors itself; of long latencies, another one than this.
        is_perf = is_comch and not isinstance(row.comch, NetComch)
        own_floors = is_perf and not (row.kind == "latency" and row.floor == "memcpy")
        if not own_floors:
            before = floor(row, cpus)
        if is_perf:
            figures = self.comch(row, cpus)
            self.figure = figures["mean_ns" if row.note == "b" else KINDS[row.kind][1]]
        else:
            self.figure = row.comch.measure(cpus) if is_comch else row.command(cpus)
        if own_floors:
            self.floors = figures["floor_value"], figures["floor_after"]
        else:
            self.floors = before, floor(row, cpus)
        self.others = (busy_seconds(cpus) - busy) / (time.monotonic() - begin)
        mean = statistics.mean(self.floors)
        if row.floor == "memcpy" and KINDS[row.kind][0]:
            mean = row.size * 1e9 / mean
        self.ratio = self.figure / mean

    @staticmethod
    def comch(row, cpus):
        """Run comch-perf; its row."""
        command = [PERF / "comch-perf", "-l", f"{cpus[0]},{cpus[1]}", "--"]
        out = run([*command, "--attempts", 1, "--format", "json", *row.comch])
        figures = json.loads(out)
        figures["mean_ns"] = figures["seconds"] * 1e9 / figures["messages"] / 2
        return figures


def apart(values):
    """How far values are apart, as a logarithm."""
    return math.log(max(values) / min(values))


class Sample:
    """One measurement of a row: of the peer, and of comch."""

    def __init__(self, row, cpus, comch_first):
        sides = {is_comch: Side(row, cpus, is_comch) for is_comch in (comch_first, not comch_first)}
        self.peer, self.comch = sides[False], sides[True]
        both = list(sides.values())
        # 1 and above: do not count it.
        self.instability = max(
            *(apart(side.floors) / math.log(SAME_FLOORS) for side in both),
            *(side.others / OTHERS for side in both),
            apart([statistics.mean(side.floors) for side in both]) / math.log(SAME_CPUS),
        )

    @property
    def stable(self):
        """Whether the machine was the same for all of it."""
        return self.instability <= 1

    @property
    def quotient(self):
        """comch's ratio to the floor, in parts of the peer's."""
        return self.comch.ratio / self.peer.ratio


def measure(row, options, number):
    """Measure a row, again while the machine is unstable; the best sample."""
    best = None
    for _ in range(options.attempts):
        sample = Sample(row, options.cpus, number % 2 == 1)
        if best is None or sample.instability < best.instability:
            best = sample
        if best.stable:
            break
    return best


def short_size(size):
    """A size, for people."""
    return f"{size // MIB} MiB" if size >= MIB else f"{size} B"


def short(kind, value):
    """A figure, for people."""
    if KINDS[kind][0]:
        return f"{value / 1e3:.1f} us" if value >= 1e4 else f"{value:.0f} ns"
    if kind == "bandwidth":
        return f"{value / 1e9:.1f} GB/s"
    return f"{value / 1e6:.1f} M/s" if value >= 1e6 else f"{value / 1e3:.0f} k/s"


def name(row):
    """What a row measures of the peer."""
    return f"{row.peer} {row.what}"


def comch_name(row):
    """What a row measures of comch, short."""
    if isinstance(row.comch, NetComch):
        return row.comch.what
    skipped = ("--size", "--burst", "--api", "--memory")
    words, arguments = [], iter(row.comch)
    for word in arguments:
        if word in ("--size", "--burst"):
            next(arguments)
        elif word not in skipped:
            words.append(str(word))
    return " ".join(words).replace("--", "")


def comch_test(row):
    """What a row measures of comch, in full."""
    return comch_name(row) if isinstance(row.comch, NetComch) else " ".join(map(str, row.comch))


def result(row, samples, reason):
    """One row of the report."""
    less = KINDS[row.kind][0]
    out = {
        "kind": row.kind,
        "size": row.size,
        "unit": "ns" if less else "bytes/s" if row.kind == "bandwidth" else "messages/s",
        "better": "less" if less else "more",
        "floor": row.floor,
        "peer": row.peer,
        "peer_test": row.what,
        "comch_test": comch_test(row),
        "note": NOTES.get(row.note),
        "state": "absent" if reason and reason.startswith("absent") else "failed",
        "reason": reason,
    }
    if reason:
        return out
    stable = [sample for sample in samples if sample.stable]
    used = stable or samples
    out["state"] = "stable" if stable else "unstable"
    for side in ("peer", "comch"):
        sides = [getattr(sample, side) for sample in used]
        out[f"{side}_figure"] = statistics.median(side.figure for side in sides)
        out[f"{side}_floor"] = statistics.median(statistics.mean(side.floors) for side in sides)
        out[f"{side}_ratio"] = statistics.median(side.ratio for side in sides)
    quotients = [sample.quotient for sample in used]
    out["comch_per_peer"] = statistics.median(quotients)
    out["comch_per_peer_min"] = min(quotients)
    out["comch_per_peer_max"] = max(quotients)
    out["rounds"] = len(samples)
    out["stable_rounds"] = len(stable)
    return out


HEAD = (
    f"{'kind':9} {'size':>5}  {'peer':28} {'figure':>9} {'/floor':>7}  {'comch':22} {'figure':>9} "
    f"{'/floor':>7} {'comch/peer':>10} {'spread':>13}  stable"
)


def line(row, out):
    """A row of the table."""
    text = f"{row.kind:9} {short_size(row.size):>5}  {name(row):28} "
    if out["reason"]:
        return text + out["reason"]
    text += f"{short(row.kind, out['peer_figure']):>9} {out['peer_ratio']:7.2f}  "
    text += f"{comch_name(row):22} {short(row.kind, out['comch_figure']):>9} "
    spread = f"{out['comch_per_peer_min']:.2f}..{out['comch_per_peer_max']:.2f}"
    text += f"{out['comch_ratio']:7.2f} {out['comch_per_peer']:10.2f} {spread:>13}  "
    return text + f"{out['stable_rounds']}/{out['rounds']} {row.note}".rstrip()


def versions(measured):
    """The versions of the peers."""
    packages = sorted({PEERS[row.peer][2] for row in measured if PEERS[row.peer][2]})
    if not packages or not shutil.which("dpkg-query"):
        return ""
    show = ["dpkg-query", "-W", "-f", "${Package} ${Version}, ", *packages]
    return subprocess.run(show, stdout=subprocess.PIPE, text=True, check=False).stdout[:-2]


def legend(measured, printed):
    """What the table means."""
    print("\n/floor: the figure divided by the floor beside it: line (latency), wake, slot (rate),")
    print("memcpy (bandwidth, latency of 1 MiB). comch/peer: /floor of comch divided by that of")
    print("the peer; latency, wake-up: comch is faster below 1; rate, bandwidth: above 1.")
    for letter, note in NOTES.items():
        if any(row.note == letter for row in measured):
            print(f"{letter}  {note}")
    if any(out["state"] == "unstable" for out in printed):
        print("0/N stable: the floors differ, or other programs used the CPUs; figures are doubtful")


def parse(arguments):
    """The options, which peers.sh has checked."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--attempts", type=int)
    parser.add_argument("--cpus", type=lambda text: [int(cpu) for cpu in text.split(",")])
    parser.add_argument("--format")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("peers", nargs="*")
    return parser.parse_args(arguments)


def main():
    """Measure by turns, print a table."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    options = parse(sys.argv[1:])
    chosen = [row for row in rows() if not options.peers or row.peer in options.peers]
    if options.list:
        for row in chosen:
            print(f"{row.kind:9} {short_size(row.size):>5}  {name(row):28} {comch_name(row):22} "
                  f"{absent(row) or ''}".rstrip())
        return 0
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    samples = {row: [] for row in chosen}
    reasons = {row: absent(row) for row in chosen}
    begin = time.monotonic()
    for number in range(options.rounds):
        for row in chosen:
            if reasons[row]:
                continue
            try:
                samples[row].append(measure(row, options, number))
            except PeerError as error:
                reasons[row] = f"failed: {error}"
            state = reasons[row] or f"comch/peer {samples[row][-1].quotient:.2f}"
            print(f"round {number + 1} of {options.rounds}, {time.monotonic() - begin:.0f} s: "
                  f"{row.kind} {short_size(row.size)}, {name(row)}: {state}",
                  file=sys.stderr, flush=True)
    results = [result(row, samples[row], reasons[row]) for row in chosen]
    if options.format == "json":
        for out in results:
            print(json.dumps(out))
    else:
        print(f"\n{versions(row for row in chosen if not absent(row))}\n\n{HEAD}")
        for row, out in zip(chosen, results):
            print(line(row, out))
        legend(chosen, results)
    states = collections.Counter(out["state"] for out in results)
    print(f"\n{states['stable'] + states['unstable']} passed, {states['failed']} failed, "
          f"{states['absent']} skipped", file=sys.stderr if options.format == "json" else sys.stdout)
    return 1 if states["failed"] else 0


sys.exit(main())
