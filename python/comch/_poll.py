# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
"""Polls: what advances all objects, and what a program waits in."""

import enum
import errno
import functools
import os
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
    what it returns is the result. It yields True if it has done something that a run is to see.
    The method gets *timeout* as a keyword, seconds or None (for ever), and raises TimeoutError,
    which says that it waited for *what*. With an aio.Poll the method is a coroutine."""

    def wrap(steps):
        @functools.wraps(steps)
        def method(self, *args, timeout=TIMEOUT_S, **more):
            text = what.format(self)
            return self.poll.finish(steps(self, *args, **more), timeout, text)
        return method
    return wrap


def together(all_steps):
    """The steps of several generators, side by side."""
    while all_steps:
        left, has_acted = [], False
        for steps in all_steps:
            try:
                has_acted |= bool(next(steps))
                left.append(steps)
            except StopIteration:
                pass
        all_steps = left
        if left:
            yield has_acted


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


class Iterates:
    """What "for" and "async for" take one by one from next_one(), until its object ends."""

    def __iter__(self):
        return self

    def __next__(self):
        try:
            return self.next_one(timeout=None)
        except (Disconnected, ConnectionAbortedError):
            raise StopIteration from None

    def __aiter__(self):
        return self

    async def __anext__(self):
        try:
            return await self.next_one(timeout=None)
        except (Disconnected, ConnectionAbortedError):
            raise StopAsyncIteration from None


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
        self.pid = os.getpid()
        # Of the last run; those from *at* on are still to be handed out.
        self.events = ffi.new("struct rte_comch_event[]", BURST)
        self.nb = self.at = 0
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
        """Stop to advance it."""
        self.objects.pop(key_of(pointer), None)

    def live(self):
        """Its pointer; an error if it cannot be used."""
        if self.pointer is None:
            raise OSError(errno.EBADF, "the poll was closed")
        if self.pid != os.getpid():
            raise OSError(errno.ENOTSUP, f"a fork of process {self.pid} cannot use its poll")
        return self.pointer

    def run(self):
        """Advance everything once; whether anything happened."""
        pointer = self.live()
        # An exception, such as by Ctrl-C, may have come between two events.
        if self.at == self.nb:
            self.at, self.nb = 0, self.lib.rte_comch_poll_run(pointer, self.events, BURST)
        is_busy = self.at < self.nb
        while self.at < self.nb:
            self.at += 1
            self.dispatch(self.events[self.at - 1])
        # Not "any": each is looked at.
        return sum([queue.drain() for queue in list(self.queues)]) > 0 or is_busy

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
        status = self.lib.rte_comch_poll_wait(self.live(), Constants.POLL_ANY,
                                              max(1, int(seconds * 1000)))
        if status == -errno.ENOTSUP:
            # A driver that nothing wakes.
            time.sleep(0.0002)
        else:
            check(status, "waiting", -errno.EINTR)

    def finish(self, steps, timeout, what):
        """Run until *steps* ends; its result. It looks after each run, and before the sleep, which
        returns at once if something has come since that run."""
        deadline = None if timeout is None else time.monotonic() + timeout
        try:
            while True:
                # What has been closed needs no poll to say so.
                is_busy = self.pointer is not None and self.run()
                try:
                    is_busy |= bool(next(steps))
                except StopIteration as end:
                    return end.value
                self.live()
                left = SLEEP_S if deadline is None else deadline - time.monotonic()
                if left <= 0:
                    raise timed_out(timeout, what)
                if not is_busy:
                    self.sleep(min(left, SLEEP_S))
        finally:
            steps.close()

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
        super().__init__(-status or errno.ENOTCONN, reason or "the connection was closed")
        self.status = status
        self.reason = reason


def closed(what):
    """The exception of those that wait for something of an object that is closed meanwhile."""
    return ConnectionAbortedError(errno.ECONNABORTED, f"{what} was closed")


def failed(status, reason, what):
    """The exception of an object that did not start, with the library's reason."""
    if not reason:
        return error_of(status, what)
    return OSError(-status, f"{what}: {reason}")
