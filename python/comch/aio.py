# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
"""comch in asyncio: devices on a poll of this module, whose methods that wait are coroutines.

    async with comch.aio.dpu() as dpu, dpu.server("echo") as server:
        async for conn in server:
            asyncio.create_task(serve(conn))

A poll belongs to the event loop in which it is first waited in, and sleeps on its descriptor
there: nothing is polled, and there is no thread.
"""

import asyncio
import errno

from ._ctrl import dpu as _dpu, host as _host
from ._lib import Constants, check
from ._poll import Poll as _Poll, timed_out

# Until a device without a descriptor is looked at again, seconds.
LOOK_S = 0.001


class Poll(_Poll):
    """Advances its objects in an event loop."""

    is_async = True

    def __init__(self, name=None):
        super().__init__(name)
        self.loop = None
        self.descriptor = None
        self.turn_is_due = False
        # Futures of those that wait for something to happen.
        self.waiting = set()

    async def __aenter__(self):
        return self

    async def __aexit__(self, *_):
        self.close()

    def attach(self):
        """To the event loop that runs."""
        loop = asyncio.get_running_loop()
        if self.loop is loop:
            return
        if self.loop is not None:
            raise RuntimeError("a poll belongs to one event loop: make one for each")
        self.descriptor = check(self.lib.rte_comch_poll_fd(self.pointer, Constants.POLL_ANY),
                                "the poll's descriptor")
        self.loop = loop
        loop.add_reader(self.descriptor, self.woken)

    def changed(self):
        if self.loop is None:
            # Objects may also be made before there is one.
            try:
                self.attach()
            except RuntimeError:
                return
        if not self.turn_is_due:
            self.turn_is_due = True
            self.loop.call_soon(self.turn)

    def turn(self):
        """Run, and ask to be woken: from the event loop. Those that wait also look if there is
        something that a run does not report, such as buffers that the peer has posted."""
        self.turn_is_due = False
        if self.pointer is None:
            return
        is_busy = self.run()
        status = check(self.lib.rte_comch_poll_arm(self.pointer, Constants.POLL_ANY), "sleeping",
                       -errno.EAGAIN, -errno.ENOTSUP)
        if is_busy or status != 0:
            self.wake()
        if status == -errno.EAGAIN:
            self.changed()
        elif status == -errno.ENOTSUP:
            self.loop.call_later(LOOK_S, self.changed)

    def woken(self):
        """The descriptor is readable."""
        self.wake()
        self.turn()

    def wake(self):
        """Those that wait look again."""
        for future in self.waiting:
            if not future.done():
                future.set_result(None)
        self.waiting.clear()

    async def finish(self, steps, timeout, what):
        self.attach()
        deadline = None if timeout is None else self.loop.time() + timeout
        while True:
            try:
                next(steps)
            except StopIteration as end:
                # What it has done may be for others.
                self.wake()
                self.changed()
                return end.value
            future = self.loop.create_future()
            self.waiting.add(future)
            self.changed()
            left = None if deadline is None else max(0, deadline - self.loop.time())
            try:
                await asyncio.wait_for(future, left)
            except asyncio.TimeoutError:
                steps.close()
                raise timed_out(timeout, what) from None
            finally:
                self.waiting.discard(future)

    def close(self):
        if self.descriptor is not None:
            self.loop.remove_reader(self.descriptor)
            self.descriptor = None
        super().close()


def dpu(**more):
    """As comch.dpu(), on an aio.Poll."""
    return _dpu(make_poll=Poll, **more)


def host(*args, **more):
    """As comch.host(), on an aio.Poll."""
    return _host(*args, make_poll=Poll, **more)
