#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
"""Replay the sessions of the guide of test-comch: each command is typed where the guide has
it, and the terminals show what the guide shows, and nothing else.

Events are printed when they happen, so the lines behind a prompt may be in another order.
Numbers may differ in tables of "show", where they depend on the machine.

usage: guide.py TEST-COMCH GUIDE
"""

import re
import sys

from session import PROMPT, Terminal

PROGRAM, GUIDE = sys.argv[1:]
BLOCK = re.compile(r"^```(dpu|host)\n(.*?)^```$", re.M | re.S)
ERASED = re.compile(r"[^\n]*\r\x1b\[K")
NUMBER = re.compile(r"\b\d+(\.\d+)?( [kMGT]\b)?")


def blocks():
    """Yield (side, lines) of each block."""
    with open(GUIDE, encoding="utf-8") as file:
        for side, text in BLOCK.findall(file.read()):
            yield side, text.splitlines()


def like(line):
    """A line of a table without what depends on the machine."""
    return " ".join(NUMBER.sub("#", line).split())


def is_row(line):
    """Is this a line of a table? Two spaces separate columns."""
    return "  " in line.strip()


def key(line):
    return like(line) if is_row(line) else line.strip()


def screen(terminal):
    """The lines that are left on the screen."""
    raw, terminal.raw = terminal.raw, ERASED.sub("", terminal.raw)
    text = terminal.text()
    terminal.raw = raw
    return [line.rstrip() for line in text.splitlines()]


def heard(terminal, line):
    """Wait until the terminal shows an output line of the guide."""
    if not is_row(line):
        terminal.expect("~" + re.escape(line.strip()) + "$")
        return
    words = [re.escape(word).replace(r"\#", r"[0-9.]+( [kMGT])?") for word in like(line).split()]
    terminal.expect("~^ *" + " +".join(words) + " *$")


def type_line(terminal, line):
    """Type the command behind a prompt, and wait for the next prompt."""
    command = line[len(PROMPT):]
    terminal.do(command)


def main():
    terminals, shown = {}, {"dpu": [], "host": []}
    try:
        for side, lines in blocks():
            for line in lines:
                if line.startswith("$ "):
                    terminals[side] = Terminal([PROGRAM], columns=100)
                    terminals[side].prompt()
                    continue
                shown[side].append(line)
                if line.startswith(PROMPT):
                    type_line(terminals[side], line)
                else:
                    heard(terminals[side], line)
        assert set(terminals) == {"dpu", "host"}, terminals
        for side, terminal in terminals.items():
            terminal.end()
            expected = sorted(key(line) for line in shown[side])
            found = sorted(key(line) for line in screen(terminal) if line.strip() not in
                           ("", PROMPT.strip()))
            assert found == expected, (side, [line for line in found if line not in expected],
                                       [line for line in expected if line not in found],
                                       terminal.text())
    finally:
        for terminal in terminals.values():
            terminal.kill()


main()
