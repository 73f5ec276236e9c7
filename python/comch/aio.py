# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
"""comch in asyncio: devices on a poll of this module, whose methods that wait are coroutines.

    async with comch.aio.dpu() as dpu, dpu.server("echo") as server:
        async for conn in server:
            await serve(conn)

A poll belongs to the event loop in which it is first used, and sleeps on its descriptor there:
nothing is polled, and there is no thread.
"""

import asyncio
import errno

from ._ctrl import dpu as _dpu, host as _host
from ._lib import Constants, check
from ._poll import Poll as _Poll, timed_out

# Until a device without a descriptor is looked at again, seconds.
LOOK_S = 0.001


class Waiter:
    """A coroutine that waits for something to happen, once or several times."""

    def __init__(self):
        self.future = None
        self.is_late = False

    def look(self):
        """It is to look again."""
        if self.future is not None and not self.future.done():
            self.future.set_result(None)

    def expire(self):
        """Its time is over: it looks for the last time."""
        self.is_late = True
        self.look()


class Poll(_Poll):
    """Advances its objects in an event loop: a turn runs it, all that wait look, and then it is
    armed. Whatever comes after the run makes it readable, so that no event is missed."""

    is_async = True

    def __init__(self, name=None):
        super().__init__(name)
        self.loop = None
        self.descriptor = None
        self.turn_is_due = False
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
        self.descriptor = check(self.lib.rte_comch_poll_fd(self.live(), Constants.POLL_ANY),
                                "the poll's descriptor")
        self.loop = loop
        loop.add_reader(self.descriptor, self.turn)

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
        """From the event loop: run, and have all look."""
        self.turn_is_due = False
        if self.pointer is None:
            return
        is_busy = self.run()
        self.wake()
        # After those that look now.
        self.loop.call_soon(self.changed if is_busy else self.rest)

    def rest(self):
        """Ask to be woken, unless there is something to do."""
        if self.pointer is None or self.turn_is_due:
            return
        status = self.lib.rte_comch_poll_arm(self.pointer, Constants.POLL_ANY)
        if status == -errno.ENOTSUP:
            self.loop.call_later(LOOK_S, self.changed)
        elif check(status, "sleeping", -errno.EAGAIN) != 0:
            self.changed()

    def wake(self):
        """All that wait look."""
        for waiter in self.waiting:
            waiter.look()

    async def finish(self, steps, timeout, what):
        if self.pointer is not None:
            self.attach()
        waiter = Waiter()
        loop = asyncio.get_running_loop()
        alarm = None if timeout is None else loop.call_later(timeout, waiter.expire)
        self.waiting.add(waiter)
        try:
            has_acted = True
            while True:
                try:
                    has_acted |= bool(next(steps))
                except StopIteration as end:
                    return end.value
                self.live()
                if waiter.is_late:
                    raise timed_out(timeout, what)
                if has_acted:
                    self.changed()
                has_acted = False
                waiter.future = loop.create_future()
                await waiter.future
        finally:
            self.waiting.discard(waiter)
            if alarm is not None:
                alarm.cancel()
            steps.close()
            # What it has done may be for others.
            self.wake()
            if self.pointer is not None:
                self.changed()

    def close(self):
        if self.descriptor is not None:
            self.loop.remove_reader(self.descriptor)
            self.descriptor = None
        super().close()
        self.wake()


def dpu(*args, **more):
    """As comch.dpu(), on an aio.Poll."""
    return _dpu(*args, make_poll=Poll, **more)


def host(*args, **more):
    """As comch.host(), on an aio.Poll."""
    return _host(*args, make_poll=Poll, **more)
