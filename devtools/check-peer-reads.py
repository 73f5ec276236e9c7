#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
"""Check that peer-writable memory is read through comch_peer.h only.

Pointers to such memory have names that end in "_shared". Code may prefetch what they
point to, take its address, and pass it to the peer_load_*() and peer_copy*() helpers;
nothing else. The same applies to local pointers derived from them, such as rec in

    const struct comch_rec *rec = &c->rec_shared->rec[idx];

A value read in this way is named peer_* until it is checked. It must not be an index, be
added to an address, or be the length of a copy.

Only comch_foreign*.c reads sockets that a peer can write to, because dropping the
descriptors in their queues can block.

Memory that a device writes (the slots of mlx5_qp.c) is read only behind a completion:
no file but mlx5_qp.[ch] and mlx5_qp_make.c names a slab or registers one, mlx5_qp.c
alone fetches completions, and mlx5_qp_slot() takes the completion that makes a slot
readable. Memory that a peer may write is registered by mlx5_mem.c only.

A statement that breaks a rule for a good reason has a comment that begins with
"peer-read:".

usage: check-peer-reads.py [DIRECTORY]
"""

import pathlib
import re
import sys

TOP = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else __file__ + "/../..").resolve()
WHERE = ("lib/comch/**/*.[ch]", "drivers/comch/**/*.[ch]")
HELPERS = {"comch_peer.h"}
RECEIVERS = {"comch_foreign.c", "comch_foreign_threads.c"}
RECEIVES = re.compile(r"(?<!->)(?<!\.)\b(?:recv|recvfrom|recvmsg|recvmmsg)\s*\(")
ALLOW = "peer-read:"
# What only these files of the driver for RDMA may name, and why.
RDMA = "drivers/comch/mlx5/"
RDMA_ONLY = (
    (re.compile(r"\b\w*slab\w*\b"), {"mlx5_qp.c", "mlx5_qp.h", "mlx5_qp_make.c"},
     "slots are read by mlx5_qp_slot(), behind a completion"),
    (re.compile(r"->poll_cq\b"), {"mlx5_qp.c"},
     "completions are fetched by mlx5_qp_next()"),
    (re.compile(r"\bIBV_ACCESS_REMOTE_\w+"), {"mlx5_mem.c", "mlx5_qp_make.c"},
     "memory is shown to a peer by mlx5_mem.c"),
)

# Calls that may have peer memory in their arguments.
HARMLESS = re.compile(r"\b(?:peer_load_\w+|peer_copy\w*|rte_prefetch\w*|sizeof|RTE_DIM)\s*\(")
# Calls that read memory through their arguments.
READERS = re.compile(r"\b(?:rte_)?(?:mem(?:cpy|move|cmp|chr)|str\w+)\s*\("
                     r"|\b(?:comch_load_\w+|__atomic_load_n|__atomic_exchange_n"
                     r"|rte_atomic\w+)\s*\(")
COPIES = re.compile(r"\b(?:rte_memcpy|memcpy|memmove|memset|peer_copy)\s*\(")
CHAIN = r"(?:\w+(?:->|\.))*"
ALIAS = re.compile(r"\*\s*(?:const\s+)?(\w+)\s*=\s*(?:\([^()]*\*\)\s*)?"
                   r"(?:&" + CHAIN + r"\w*_shared->.*|" + CHAIN + r"\w*_shared)$", re.S)
INDEX = re.compile(r"\[[^\[\]]*(?<![\w>.])peer_\w+[^\[\]]*\]")
OFFSET = re.compile(r"\baddr\s*\+\s*peer_\w+|\bpeer_\w+\s*\+\s*" + CHAIN + r"addr\b")


def arguments(text, start):
    """Return the end of the argument list whose "(" is at start - 1."""
    depth = 1
    for pos in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[pos], 0)
        if depth == 0:
            return pos
    return len(text)


def without(pattern, text):
    """Remove matching calls from a statement."""
    match = pattern.search(text)
    while match:
        end = arguments(text, match.end())
        text = text[:match.start()] + "0" + text[end + 1:]
        match = pattern.search(text)
    return text


def statements(text):
    """Yield (line, text, allowed) for each statement, without comments. A comment
    that begins with ALLOW excuses its statement, or the next one."""
    out, line, begin, allow = [], 1, 1, False
    for token in re.finditer(r"/\*.*?\*/|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])'|.", text, re.S):
        piece = token.group()
        if piece.startswith("/*"):
            allow = allow or piece[2:].lstrip().startswith(ALLOW)
        elif piece in ";{}":
            yield begin, "".join(out).strip() + (piece if piece != ";" else ""), allow
            out, allow = [], False
        elif piece[0] in "\"'":
            out.append("0")
        else:
            if not "".join(out).strip():
                begin = line
            out.append(piece)
        line += piece.count("\n")


def reads(statement, names):
    """Return why a statement reads peer memory directly, or None."""
    rest = without(HARMLESS, statement)
    peer = r"(?:" + CHAIN + r"\w*_shared" + "".join(rf"|\b{name}" for name in names) + ")"
    for match in READERS.finditer(rest):
        if re.search(rf"(?<![\w>.]){peer}\b", rest[match.end():arguments(rest, match.end())]):
            return "read it with peer_load_*() or peer_copy()"
    for match in re.finditer(rf"(&?)\s*(?<![\w>.]){peer}(?:->|\[)", rest):
        if match.group(1) != "&":
            return "read it with peer_load_*() or peer_copy()"
    if re.search(rf"(?:^|[=(,!&|?:+-]|\breturn)\s*\*\s*{peer}\b(?!\s*=[^=])", rest):
        return "read it with peer_load_*() or peer_copy()"
    return None


def uses(statement):
    """Return why a statement uses an unchecked value, or None."""
    if INDEX.search(statement):
        return "an unchecked peer_ value is an index"
    if OFFSET.search(statement):
        return "an unchecked peer_ value is added to an address"
    for match in COPIES.finditer(statement):
        args = statement[match.end():arguments(statement, match.end())]
        length = without(HARMLESS, args).rsplit(",", 1)[-1]
        if re.search(r"(?<![\w>.])peer_\w+", length):
            return "an unchecked peer_ value is the length of a copy"
    return None


def rdma(path, statement):
    """Return why a statement of the driver for RDMA may not be in this file, or None."""
    if not path.relative_to(TOP).as_posix().startswith(RDMA):
        return None
    for pattern, files, why in RDMA_ONLY:
        if path.name not in files and pattern.search(statement):
            return why
    return None


def check(path):
    """Check one file; return the number of errors."""
    errors, names, depth = 0, set(), 0
    for line, statement, allow in statements(path.read_text()):
        why = rdma(path, statement)
        if why:
            print(f"{path.relative_to(TOP)}:{line}: {why}: {' '.join(statement.split())[:70]}")
            errors += 1
        depth += {"{": 1, "}": -1}.get(statement[-1:], 0)
        if depth <= 0:
            names, depth = set(), 0
            continue
        alias = ALIAS.search(statement)
        if alias:
            names.add(alias.group(1))
            continue
        why = None if allow else reads(statement, names) or uses(statement)
        if not allow and path.name not in RECEIVERS and RECEIVES.search(statement):
            why = "may receive descriptors: use comch_foreign_next(), then comch_foreign_recv()"
        if why:
            print(f"{path.relative_to(TOP)}:{line}: {why}: {' '.join(statement.split())[:70]}")
            errors += 1
    return errors


def main():
    files = [path for pattern in WHERE for path in sorted(TOP.glob(pattern))
             if path.name not in HELPERS]
    return 1 if sum(check(path) for path in files) else 0


if __name__ == "__main__":
    sys.exit(main())
