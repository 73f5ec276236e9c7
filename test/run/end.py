#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
"""comch-run is asked to end just while it starts a side.

usage: end.py MODULES
"""

import os
import queue
import signal
import sys
import types

sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
# pylint: disable=wrong-import-position,import-error
from run_end import ENDING, requests  # noqa: E402
from run_pair import Pair  # noqa: E402


class Asked:
    """A side, of which each request finds one half started."""

    name = "dpu"
    command = ["true"]

    def __init__(self, number):
        self.number = number
        self.is_whole = False

    def start(self, *_):
        """As run_side.py has it: a process, then the threads that join() waits for."""
        os.kill(os.getpid(), self.number)
        self.is_whole = True


requests.take()
pair = object.__new__(Pair)
pair.options = types.SimpleNamespace(terminal=None)
pair.ended = queue.Queue()
for signal_number in ENDING:
    side = Asked(signal_number)
    try:
        pair.start(side)
        sys.exit(f"{signal_number}: not heard")
    except KeyboardInterrupt:
        assert side.is_whole, signal_number
    # And at once where nothing is begun.
    try:
        os.kill(os.getpid(), signal_number)
        signal.pause()
    except KeyboardInterrupt:
        pass
