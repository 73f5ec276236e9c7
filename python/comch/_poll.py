# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
"""Polls: what advances all objects, and what a program waits in."""

import enum
import errno
import functools
import time

from ._lib import SOCKET_ID_ANY, Constants, check, eal, error_of, ffi, key_of, made

# Events of a run.
BURST = 32
# Longest sleep: so that Ctrl-C and signals are seen.
SLEEP_S = 0.2
# How long a call waits unless it is told otherwise.
TIMEOUT_S = 10.0


class State(enum.IntEnum):
    """enum rte_comch_state."""

    IDLE = 0
    STARTING = 1
    RUNNING = 2
    STOPPING = 3


def waits(what):
    """A method that waits, written as a generator: each yield waits for something to happen, and
    what it returns is the result. It gets *timeout* as a keyword, seconds or None (for ever), and
    raises TimeoutError, which says that it waited for *what*. With an aio.Poll the method is a
    coroutine."""

    def wrap(steps):
        @functools.wraps(steps)
        def method(self, *args, timeout=TIMEOUT_S, **more):
            text = what.format(self)
            return self.poll.finish(steps(self, *args, **more), timeout, text)
        return method
    return wrap


class Closes:
    """What is closed at the end of a "with", or of an "async with" if its poll is of aio."""

    def __enter__(self):
        if self.poll.is_async:
            raise TypeError("its poll is of comch.aio: use 'async with'")
        return self

    def __exit__(self, *_):
        self.close()

    async def __aenter__(self):
        return self

    async def __aexit__(self, *_):
        await self.close()


class Poll:
    """Advances its objects, in one thread at a time. Methods of the objects that wait run it."""

    # Whether methods that wait are coroutines.
    is_async = False

    def __init__(self, name=None):
        self.lib = eal.get()
        text = ffi.NULL if name is None else ffi.new("char[]", name.encode())
        conf = ffi.new("struct rte_comch_poll_conf *", {
            "conf_size": ffi.sizeof("struct rte_comch_poll_conf"), "name": text,
            "socket_id": SOCKET_ID_ANY})
        self.pointer = made(self.lib.rte_comch_poll_create(conf), "poll")
        self.events = ffi.new("struct rte_comch_event[]", BURST)
        # By their pointers: {key_of(pointer): object}; each has on_event().
        self.objects = {}
        # Producers and consumers, whose queues are emptied in each run.
        self.queues = set()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def add(self, pointer, obj):
        """Its events go to this object from now on."""
        self.objects[key_of(pointer)] = obj

    def remove(self, pointer):
        """No more."""
        self.objects.pop(key_of(pointer), None)

    def run(self):
        """Advance everything once; whether anything happened."""
        n = self.lib.rte_comch_poll_run(self.pointer, self.events, BURST)
        for i in range(n):
            self.dispatch(self.events[i])
        # Not "any": each is looked at.
        return sum([queue.drain() for queue in list(self.queues)], n) > 0

    def dispatch(self, event):
        """To the object that it belongs to; one of a new connection to its server."""
        obj = self.objects.get(key_of(event.obj.ptr))
        if obj is None and event.conn != ffi.NULL:
            obj = self.objects.get(key_of(self.lib.rte_comch_conn_server(event.conn)))
        if obj is not None:
            obj.on_event(event)

    def changed(self):
        """An object was made, or asked to do something, outside of a run."""

    def sleep(self, seconds):
        """Until something happens, or so long."""
        status = self.lib.rte_comch_poll_wait(self.pointer, Constants.POLL_ANY,
                                              max(1, int(seconds * 1000)))
        if status == -errno.ENOTSUP:
            # A driver that nothing wakes.
            time.sleep(0.0002)
        else:
            check(status, "waiting", -errno.EINTR)

    def finish(self, steps, timeout, what):
        """Run until *steps* ends; its result."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while True:
            try:
                next(steps)
            except StopIteration as end:
                return end.value
            if self.run():
                continue
            left = SLEEP_S if deadline is None else deadline - time.monotonic()
            if left <= 0:
                steps.close()
                raise timed_out(timeout, what)
            self.sleep(min(left, SLEEP_S))

    def close(self):
        """Its devices are closed before."""
        if self.pointer is not None:
            # What has ended is freed by a run.
            self.run()
            check(self.lib.rte_comch_poll_destroy(self.pointer), "closing a poll")
            self.pointer = None


def timed_out(timeout, what):
    """TimeoutError, with what did not happen."""
    return TimeoutError(errno.ETIMEDOUT, f"after {timeout:g} s: {what}")


class Disconnected(ConnectionError):
    """The connection has ended; *reason* is the peer's, or the library's, if there is one."""

    def __init__(self, status, reason):
        super().__init__(-status or errno.ENOTCONN, reason or "the peer has closed the connection")
        self.status = status
        self.reason = reason


def failed(status, reason, what):
    """The exception of an object that did not start, with the library's reason."""
    if not reason:
        return error_of(status, what)
    return OSError(-status, f"{what}: {reason}")
