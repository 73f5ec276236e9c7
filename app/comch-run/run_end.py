# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
"""Requests to end a run, by a signal: they raise KeyboardInterrupt, but not at any instant."""

import contextlib
import signal

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Requests:
    """In the main thread."""

    def __init__(self):
        self.is_held = self.is_pending = False

    def take(self):
        """From now on, these signals are such requests."""
        for number in ENDING:
            signal.signal(number, self.on_signal)

    def on_signal(self, *_):
        """One has come."""
        if not self.is_held:
            raise KeyboardInterrupt
        self.is_pending = True

    @contextlib.contextmanager
    def held(self):
        """What is begun in the block is whole when a request is heard: one that comes waits for
        its end."""
        self.is_held = True
        try:
            yield
        finally:
            self.is_held = False
        if self.is_pending:
            self.is_pending = False
            raise KeyboardInterrupt


requests = Requests()
