#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
"""Both ends of nic_to_dpu in one process: packets come back in the mbufs of the ethdev.

usage: nic.py NIC
"""

import re
import struct
import subprocess
import sys
import tempfile

NIC = sys.argv[1]
RING = ("--dev", "comch_ring0,role=host,func=pf0", "--dpu", "comch_ring1,role=dpu,rep=pf0")
SHM = ("--dev", "comch_shm0,role=host,func=pf0", "--dpu", "comch_shm1,role=dpu,rep=pf0")
NOTE = slice(16, 24)  # where nic notes the address of an mbuf


def run(*options):
    """Run nic. Return its status, and the packets in their mbuf and in others."""
    done = subprocess.run([NIC, "--same-mbuf", *options], capture_output=True, text=True,
                          timeout=60, check=False)
    found = re.search(r"(\d+) came back in their mbuf, (\d+) in another", done.stdout)
    assert found, (options, done)
    return done.returncode, int(found[1]), int(found[2])


def check_same(count, *options):
    status, same, others = run("--count", str(count), *options)
    assert status == 0 and same >= count and others == 0, (options, status, same, others)


def write_pcap(path, packets):
    with open(path, "wb") as file:
        file.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1))
        for data in packets:
            file.write(struct.pack("<IIII", 0, 0, len(data), len(data)) + data)


def read_pcap(path):
    with open(path, "rb") as file:
        data = file.read()
    packets, at = [], 24
    while at < len(data):
        length = struct.unpack_from("<I", data, at + 8)[0]
        packets.append(data[at + 16:at + 16 + length])
        at += 16 + length
    return packets


def swapped(packet):
    return packet[6:12] + packet[:6] + packet[12:]


def without_note(packet):
    return packet[:NOTE.start] + packet[NOTE.stop:]


def check_pcap(directory):
    """Packets of a file, through the channel and back, to another one."""
    source, sink = directory + "/in.pcap", directory + "/out.pcap"
    packets = [bytes((i + k) % 256 for k in range(60 + i)) for i in range(200)]
    write_pcap(source, packets)
    check_same(len(packets), *RING, "--inject", "0", "--port",
               f"net_pcap0,rx_pcap={source},tx_pcap={sink}")
    assert [without_note(p) for p in read_pcap(sink)] == [
        without_note(swapped(p)) for p in packets], "other packets come out"


check_same(100000, *RING)
check_same(100000, *RING, "--inject", "0", "--port", "net_null0")
with tempfile.TemporaryDirectory() as temporary:
    check_pcap(temporary)
# Over shared memory they are copied, which this must find.
STATUS, SAME, OTHERS = run("--count", "1000", *SHM)
assert STATUS != 0 and OTHERS > 0, (STATUS, SAME, OTHERS)
