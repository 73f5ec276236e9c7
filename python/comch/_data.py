# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
"""Producers and consumers."""

import collections
import errno

from ._lib import SOCKET_ID_ANY, Constants, check, eal, error_of, ffi, made, text_of
from ._poll import Closes, Disconnected, Iterates, State, closed, failed, waits

PeerConsumer = collections.namedtuple("PeerConsumer", "id imm_size depth")
# What a consumer receives; *producer* is the id of the sender's producer.
Message = collections.namedtuple("Message", "data imm producer")
# Completions that are taken at a time.
BURST = 32
# Of a consumer's memory: the bytes of a message are written straight into it, or copied.
MEMORY = ("shared", "heap")
PAGE = 4096


class Memory:
    """Registered memory."""

    def __init__(self, lib, size, kind="shared"):
        self.lib, self.size = lib, size
        self.is_shared = kind == "shared"
        if self.is_shared:
            self.address = made(lib.rte_comch_mem_alloc(size, SOCKET_ID_ANY), "shared memory")
        else:
            self.held = ffi.new("char[]", size)
            self.address = ffi.cast("void *", self.held)
        self.bytes = ffi.cast("char *", self.address)
        self.mr = lib.rte_comch_mem_register(self.address, size, 0)
        if self.mr == ffi.NULL:
            error = error_of(-eal.rte_errno(), "registering memory")
            self.free()
            raise error

    def free(self):
        """Nothing uses it any more."""
        if self.mr != ffi.NULL:
            check(self.lib.rte_comch_mem_unregister(self.mr), "freeing memory")
        if self.is_shared:
            check(self.lib.rte_comch_mem_free(self.address), "freeing memory")


def as_bytes(data):
    """Of anything that has bytes: arrays as well. TypeError for what has none, such as a str."""
    return memoryview(data).cast("B")


class Queue(Closes):
    """What producers and consumers have in common. *kind* names the functions of the library."""

    kind = None

    def __init__(self, connection):
        self.connection = connection
        self.poll, self.lib = connection.poll, connection.lib
        self.pointer = None
        # It was asked to stop by this side.
        self.is_closing = False
        self.status, self.reason = 0, ""
        self.cpls = ffi.new("struct rte_comch_cpl[]", BURST)

    def call(self, verb, *args):
        """A function of its kind."""
        return getattr(self.lib, f"rte_comch_{self.kind}_{verb}")(self.pointer, *args)

    def made_as(self, pointer):
        """The library has made it."""
        self.pointer = made(pointer, str(self))
        self.poll.add(pointer, self)
        self.poll.queues.add(self)
        self.connection.queues.add(self)

    def __str__(self):
        return f"{self.kind} on the {self.connection}"

    @property
    def id(self):
        """As the peer knows it."""
        return self.call("id")

    def state(self):
        """As the library has it."""
        return self.call("state")

    def on_event(self, event):
        """Called by the poll: its state."""
        self.status, self.reason = event.status, text_of(event.text)

    def drain(self):
        """Called by the poll, and before it is said that there is nothing: keep what the library
        has for us; how many."""
        total, n = 0, BURST
        while n == BURST and self.pointer is not None:
            n = self.take()
            total += n
        return total

    def stop(self):
        """Ask it to stop, if it runs."""
        self.is_closing = True
        if self.state() in (State.STARTING, State.RUNNING):
            check(self.call("stop"), f"closing the {self}", -errno.EINPROGRESS, -errno.EBADFD)

    def closing(self):
        """The steps of close(). Others may close it meanwhile."""
        while self.pointer is not None and self.state() != State.IDLE:
            self.stop()
            # Completions are to be taken before it is IDLE.
            self.drain()
            if self.state() != State.IDLE:
                yield True
        if self.pointer is not None:
            self.drain()
            self.forget()

    def forget(self):
        """It is IDLE."""
        check(self.call("destroy"), f"closing the {self}")
        self.poll.remove(self.pointer)
        self.poll.queues.discard(self)
        self.pointer = None
        self.free_memory()
        self.connection.queues.discard(self)
        self.connection.drop_if_done()

    def live(self):
        """Raise if nothing can come any more. It may have stopped with its connection, whose end
        is about to be reported: then, there is something to wait for."""
        if self.connection.ended is not None:
            raise Disconnected(*self.connection.ended)
        if self.pointer is None or self.is_closing:
            raise closed(f"the {self}")


class Consumer(Queue, Iterates):
    """Receives what the peer's producers send, into *buffers* buffers of *size* bytes.

    auto_post=False: buffers are posted by post() alone; else all are at first, and one more with
    each recv(). snapshot: the peer cannot change what was received. memory: "shared", or "heap",
    from which messages are copied once more.
    """

    kind = "consumer"

    def __init__(self, connection, *, buffers=64, size=4096, imm_size=0, memory="shared",
                 auto_post=True, snapshot=False):
        super().__init__(connection)
        if memory not in MEMORY:
            raise ValueError(f"memory {memory!r}: expected one of {', '.join(MEMORY)}")
        if buffers < 1 or size < 0:
            raise ValueError(f"{buffers} buffers of {size} bytes: expected 1 or more, and 0 or more")
        self.buffers, self.size, self.auto_post = buffers, size, auto_post
        self.received = collections.deque()
        self.free = collections.deque(range(buffers))
        self.memory = Memory(self.lib, max(buffers * size, PAGE), memory)
        try:
            mrs = ffi.new("struct rte_comch_mr *[]", [self.memory.mr])
            conf = ffi.new("struct rte_comch_consumer_conf *", {
                "conf_size": ffi.sizeof("struct rte_comch_consumer_conf"), "poll": ffi.NULL,
                "queue_size": buffers, "imm_size": imm_size, "mrs": mrs, "nb_mrs": 1,
                "flags": Constants.CONSUMER_F_SNAPSHOT if snapshot else 0})
            self.made_as(self.lib.rte_comch_consumer_create(connection.live(), conf))
        except BaseException:
            self.memory.free()
            raise

    def free_memory(self):
        """The library has destroyed it."""
        self.memory.free()

    def starting(self):
        """The steps until it runs. If nobody waits for them any more, it is not to run later: the
        peer would send to it."""
        check(self.call("start"), str(self), -errno.EINPROGRESS)
        try:
            while self.pointer is not None and self.state() != State.RUNNING:
                self.live()
                if self.state() == State.IDLE:
                    status, reason = self.status, self.reason
                    self.forget()
                    raise failed(status or -errno.ECONNRESET, reason, str(self))
                yield
            self.live()
        except BaseException:
            if self.pointer is not None:
                self.stop()
            raise
        if self.auto_post:
            self.post(self.buffers)

    def post(self, n=1):
        """Post as many buffers more; how many were posted: fewer, if all are."""
        n = min(n, len(self.free))
        if n == 0 or self.pointer is None:
            return 0
        bufs = ffi.new("struct rte_comch_buf[]", n)
        for buf, number in zip(bufs, self.free):
            buf.addr = self.memory.bytes + number * self.size if self.size > 0 else ffi.NULL
            buf.mr = self.memory.mr if self.size > 0 else ffi.NULL
            buf.cookie, buf.len = number, self.size
        taken = self.call("post", bufs, n)
        for _ in range(taken):
            self.free.popleft()
        self.poll.changed()
        return taken

    def take(self):
        """Keep up to a burst of what has come; how many."""
        n = self.call("recv", self.cpls, BURST)
        for cpl in self.cpls[0:n]:
            if cpl.status == 0:
                start = self.memory.bytes + cpl.cookie * self.size
                data = ffi.buffer(start, cpl.len)[:] if cpl.len > 0 else b""
                self.received.append(Message(data, bytes(cpl.imm[0:cpl.imm_len]), cpl.peer_id))
            self.free.append(cpl.cookie)
        return n

    @waits("no message came to the {0}")
    def recv(self):
        """Wait for the next message: its data, immediate data, and the sender's producer."""
        while not self.received:
            if self.pointer is None or self.drain() == 0:
                self.live()
                yield
        if self.auto_post and self.pointer is not None and self.state() == State.RUNNING:
            self.post()
        return self.received.popleft()

    next_one = recv

    @waits("the {0} still has buffers posted")
    def close(self):
        """Stop it; the peer's sends to it fail from then on."""
        return self.closing()


class Producer(Queue):
    """Sends to consumers of the peer."""

    kind = "producer"

    def __init__(self, connection):
        super().__init__(connection)
        # By cookie: the memory of messages until they are done, and, for those that wait, their
        # status then.
        self.under_way = {}
        self.statuses = {}
        self.nb_sent = 0
        conf = ffi.new("struct rte_comch_producer_conf *", {
            "conf_size": ffi.sizeof("struct rte_comch_producer_conf"), "poll": ffi.NULL})
        self.made_as(self.lib.rte_comch_producer_create(connection.live(), conf))
        check(self.call("start"), str(self))

    def free_memory(self):
        """The library has destroyed it: whatever was not done will not be."""
        while self.under_way:
            self.under_way.popitem()[1].free()

    def take(self):
        """Keep the status of up to a burst of those that are done; how many."""
        n = self.call("done", self.cpls, BURST)
        for cpl in self.cpls[0:n]:
            self.under_way.pop(cpl.cookie).free()
            if cpl.cookie in self.statuses:
                self.statuses[cpl.cookie] = cpl.status
        return n

    @waits("the {0} has not sent: the peer has no consumer, or has posted no buffer")
    def send(self, data, *, to=None, imm=b""):
        """Send a message to the peer's consumer of this id (None: its first, for which this
        waits), once a buffer is posted, and wait until it is in that buffer."""
        data, imm = as_bytes(data), as_bytes(imm)
        while to is None and not self.connection.consumers:
            self.live()
            yield
        to = next(iter(self.connection.consumers)) if to is None else to
        self.nb_sent += 1
        cookie = self.nb_sent
        self.statuses[cookie] = None
        try:
            yield from self.offering(data, to, imm, cookie)
            while self.statuses[cookie] is None:
                if self.pointer is None or self.drain() == 0:
                    self.live()
                    yield
            status = self.statuses[cookie]
            while status in (-errno.EBADFD, -errno.ECONNRESET):
                # The end of the connection is about to be reported.
                self.live()
                yield
            if status != 0:
                raise error_of(status, f"{len(data)} bytes by the {self}")
        finally:
            del self.statuses[cookie]

    def offering(self, data, to, imm, cookie):
        """The steps until the library has taken the message."""
        memory = Memory(self.lib, max(len(data), 1), "heap")
        try:
            ffi.memmove(memory.address, data, len(data))
            has_data = len(data) > 0
            held = ffi.from_buffer(imm)
            op = ffi.new("struct rte_comch_op *", {
                "addr": memory.address if has_data else ffi.NULL,
                "mr": memory.mr if has_data else ffi.NULL, "cookie": cookie, "len": len(data),
                "consumer_id": to, "imm": held, "imm_len": len(imm)})
            self.live()
            while self.call("send", op, 1) == 0:
                yield
                self.live()
        except BaseException:
            memory.free()
            raise
        self.under_way[cookie] = memory

    @waits("the {0} has messages that are not done")
    def close(self):
        """Stop it."""
        return self.closing()
