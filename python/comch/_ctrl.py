# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
"""Devices, servers and connections."""

import collections
import errno
import itertools
import os

from ._data import Consumer, PeerConsumer, Producer, as_bytes
from ._lib import Constants, check, eal, ffi, made, text_of
from ._poll import (TIMEOUT_S, Closes, Disconnected, Iterates, Poll, State, closed, failed,
                    together, waits)

# Functions of the host that the built-in device table of programs for DOCA has.
FUNCTIONS = ("pf0", "pf1", "pf0vf0", "pf0vf1", "pf0sf0")

# Connections that have ended before accept(), which a server keeps for their messages.
MAX_ENDED = 64
# The library says by itself that there is no server in time; this, that it does not answer.
GRACE_S = 0.5
COUNTED = 1

EVENTS = {ffi.typeof("enum rte_comch_event_type").relements[f"RTE_COMCH_EVENT_{name}"]: name
          for name in ("STATE", "CONNECT_REQUEST", "CONNECTED", "DISCONNECTED", "MSG", "SENT",
                       "CONSUMER_NEW", "CONSUMER_GONE")}


def flags_of(prefix, **chosen):
    """Those of RTE_COMCH_* that are chosen."""
    return sum(getattr(Constants, f"{prefix}_{name.upper()}") for name, is_on in chosen.items()
               if is_on)


class Device(Closes):
    """A device, of which the device string is that of rte_comch_dev_probe(), such as
    "comch_shm0,role=dpu,rep=pf0". Without a poll it has its own."""

    def __init__(self, devargs, poll=None, make_poll=Poll):
        self.name = devargs.split(",")[0]
        lib = eal.get()
        dev_id = ffi.new("int16_t *")
        check(lib.rte_comch_dev_probe(devargs.encode(), dev_id), f"device {devargs}")
        self.dev_id = dev_id[0]
        self.has_own_poll = poll is None
        self.poll = poll or make_poll()
        self.lib = lib
        # Servers, and the clients of connections.
        self.ends = set()

    def __str__(self):
        return f"device {self.name}"

    def server(self, name, rep="pf0", **options):
        """Listen to clients of a function of the host: see Server."""
        return Server(self, name, rep, **options)

    def connect(self, name, *, timeout=TIMEOUT_S, max_msg_size=0, recv_queue=0, send_queue=0,
                ctrl_only=False, manual_credit=False):
        """Connect to the server of this name, and wait for it, while there is none; the
        connection. Raises FileNotFoundError (no server), ConnectionRefusedError (the server said
        no), TimeoutError (it has not answered), and other OSError."""
        flags = flags_of("CLIENT_F", ctrl_only=ctrl_only, manual_credit=True)
        steps = Client.connecting(self, name, timeout, max_msg_size, recv_queue, send_queue, flags,
                                  manual_credit)
        return self.poll.finish(steps, None if timeout is None else timeout + GRACE_S,
                                f'server "{name}" has not answered')

    def closing(self):
        """The steps of close()."""
        yield from together([end.closing() for end in list(self.ends)])
        while self.dev_id is not None:
            # A connection that has ended is freed by a run.
            self.poll.run()
            if check(self.lib.rte_comch_dev_close(self.dev_id), f"closing {self}",
                     -errno.EBUSY) == 0:
                self.dev_id = None
            else:
                yield
        if self.has_own_poll:
            self.poll.close()

    @waits("{0} still has servers or connections")
    def close(self):
        """Close its servers and connections, and then the device."""
        return self.closing()


def free_name(lib, driver):
    """Of a device of this process: the driver's, and the first number that is free."""
    for number in itertools.count():
        name = f"{driver}{number}"
        if lib.rte_comch_dev_by_name(name.encode()) < 0:
            return name


def local(role, functions, directory, poll, make_poll):
    """A device of shared memory."""
    name = free_name(eal.get(), "comch_shm")
    directory = directory or os.environ.get("COMCH_DIR")
    where = f",dir={directory}" if directory else ""
    return Device(f"{name},role={role},{functions}{where}", poll, make_poll)


def dpu(reps=FUNCTIONS, directory=None, poll=None, make_poll=Poll):
    """The DPU's device on this machine, in whose place programs for the host find a DPU.
    *directory* is where both sides meet, by default $COMCH_DIR or that of all programs."""
    return local("dpu", f"rep=[{','.join(reps)}]", directory, poll, make_poll)


def host(func="pf0", directory=None, poll=None, make_poll=Poll):
    """A function of the host on this machine, whose clients reach servers of its
    representor."""
    return local("host", f"func={func}", directory, poll, make_poll)


class Server(Closes, Iterates):
    """A server that runs. Connections come from accept(), or one by one from "for" or
    "async for". Sizes and depths of 0 are the library's defaults.

    A message counts as received when recv() returns it. manual_credit: when the connection's done()
    is called. manual_accept: accept() returns connections that wait for their accept() or reject().
    """

    def __init__(self, device, name, rep="pf0", *, max_msg_size=0, recv_queue=0, send_queue=0,
                 max_clients=0, manual_accept=False, manual_credit=False, ctrl_only=False,
                 exact=False):
        self.device, self.poll, self.lib, self.name = device, device.poll, device.lib, name
        self.manual_credit = manual_credit
        self.arrived = collections.deque()
        self.connections = set()
        # Why it stopped by itself.
        self.ended = None
        number = check(self.lib.rte_comch_dev_rep_by_name(device.dev_id, rep.encode()),
                       f"representor {rep} of {device}")
        label = ffi.new("char[]", name.encode())
        conf = ffi.new("struct rte_comch_server_conf *", {
            "conf_size": ffi.sizeof("struct rte_comch_server_conf"), "poll": self.poll.live(),
            "name": label, "rep": number, "max_msg_size": max_msg_size, "recv_queue": recv_queue,
            "send_queue": send_queue, "max_clients": max_clients,
            "flags": flags_of("SERVER_F", manual_accept=manual_accept, ctrl_only=ctrl_only,
                              manual_credit=True, exact=exact)})
        self.pointer = made(self.lib.rte_comch_server_create(device.dev_id, conf), str(self))
        try:
            check(self.lib.rte_comch_server_start(self.pointer), str(self))
        except OSError:
            self.lib.rte_comch_server_destroy(self.pointer)
            raise
        self.poll.add(self.pointer, self)
        device.ends.add(self)
        self.poll.changed()

    def __str__(self):
        return f'server "{self.name}"'

    def on_event(self, event):
        """Called by the poll."""
        name = EVENTS.get(event.type)
        if name in ("CONNECT_REQUEST", "CONNECTED"):
            connection = Connection(self.device, event.conn, self, self.manual_credit)
            connection.is_established = connection.is_accepted = name == "CONNECTED"
            self.connections.add(connection)
            self.arrived.append(connection)
        elif name == "STATE" and event.status != 0:
            self.ended = event.status, text_of(event.text)

    def has_ended(self, connection):
        """A connection has ended, with nothing left to close. If it was not accepted, it is kept
        for what it has said; of those, not too many."""
        self.connections.discard(connection)
        ended = [other for other in self.arrived if other.ended is not None]
        for other in ended:
            if not other.messages or len(ended) > MAX_ENDED:
                self.arrived.remove(other)
                break

    @waits("no client of {0} has come")
    def accept(self):
        """Wait for the next connection."""
        while not self.arrived:
            if self.ended is not None:
                raise failed(*self.ended, str(self))
            if self.pointer is None:
                raise closed(str(self))
            yield
        return self.arrived.popleft()

    next_one = accept

    def closing(self):
        """The steps of close(). Others may close it meanwhile."""
        yield from together([connection.closing() for connection in list(self.connections)])
        while self.pointer is not None:
            state = self.lib.rte_comch_server_state(self.pointer)
            if state == State.RUNNING:
                check(self.lib.rte_comch_server_stop(self.pointer), f"closing {self}",
                      -errno.EINPROGRESS)
            elif state == State.IDLE:
                check(self.lib.rte_comch_server_destroy(self.pointer), f"closing {self}")
                self.poll.remove(self.pointer)
                self.pointer = None
                self.device.ends.discard(self)
            else:
                yield True

    @waits("{0} still has connections")
    def close(self):
        """Disconnect all clients, and stop."""
        return self.closing()


class Client:
    """What a connection of the host belongs to; closed with it."""

    def __init__(self, device, name, timeout, max_msg_size, recv_queue, send_queue, flags):
        self.device, self.poll, self.lib, self.name = device, device.poll, device.lib, name
        # The library has given up, or has disconnected: why.
        self.is_over, self.status, self.reason = False, 0, ""
        self.connection = None
        label = ffi.new("char[]", name.encode())
        forever = timeout is None or timeout * 1000 >= 1 << 32
        conf = ffi.new("struct rte_comch_client_conf *", {
            "conf_size": ffi.sizeof("struct rte_comch_client_conf"), "poll": self.poll.live(),
            "name": label, "max_msg_size": max_msg_size, "recv_queue": recv_queue,
            "send_queue": send_queue, "flags": flags,
            "connect_timeout_ms": (1 << 32) - 1 if forever else int(timeout * 1000)})
        self.pointer = made(self.lib.rte_comch_client_create(device.dev_id, conf), str(self))
        self.poll.add(self.pointer, self)
        device.ends.add(self)

    def __str__(self):
        return f'client of "{self.name}"'

    def on_event(self, event):
        """Called by the poll."""
        if EVENTS.get(event.type) == "STATE" and event.state.next == State.IDLE:
            self.status, self.reason = event.status, text_of(event.text)
            self.is_over = True

    def state(self):
        """As the library has it."""
        return self.lib.rte_comch_client_state(self.pointer)

    @classmethod
    def connecting(cls, device, name, timeout, max_msg_size, recv_queue, send_queue, flags,
                   manual_credit):
        """The steps of connect(); the connection."""
        client = cls(device, name, timeout, max_msg_size, recv_queue, send_queue, flags)
        try:
            check(client.lib.rte_comch_client_start(client.pointer), str(client),
                  -errno.EINPROGRESS)
            # Known from now on, so that its events find it.
            connection = client.connection = Connection(
                device, client.lib.rte_comch_client_conn(client.pointer), client, manual_credit)
            while not connection.is_established:
                if client.pointer is None:
                    raise closed(str(client))
                if client.is_over:
                    raise failed(client.status or -errno.ECONNABORTED, client.reason,
                                 f'connecting to "{name}"')
                yield
        except BaseException:
            # It failed, or its caller has given up: the rest is done with the device.
            client.stop()
            raise
        return connection

    def stop(self):
        """Ask it to stop; destroy it if it has."""
        if self.pointer is None:
            return
        if self.state() in (State.STARTING, State.RUNNING):
            check(self.lib.rte_comch_client_stop(self.pointer), f"closing {self}",
                  -errno.EINPROGRESS)
            self.poll.changed()
        if self.state() == State.IDLE:
            if self.connection is not None:
                self.connection.forget()
            check(self.lib.rte_comch_client_destroy(self.pointer), f"closing {self}")
            self.poll.remove(self.pointer)
            self.pointer = None
            self.device.ends.discard(self)

    def closing(self):
        """The steps of its connection's close(). Others may close it meanwhile."""
        if self.connection is not None:
            yield from self.connection.closing_queues()
        while self.pointer is not None:
            self.stop()
            if self.pointer is not None:
                yield True


class Connection(Closes, Iterates):
    """A connection: from a server's accept(), or a host's connect(). It ends with Disconnected
    from the method that waits for it; "for" and "async for" over its messages end as well."""

    def __init__(self, device, pointer, end, manual_credit):
        self.device, self.poll, self.lib = device, device.poll, device.lib
        self.pointer = pointer
        # Its server or client.
        self.end = end
        # A message counts as received when recv() has returned it: the peer can send no more
        # than a queue of those that nobody asks for.
        self.manual_credit = manual_credit
        self.messages = collections.deque()
        self.is_accepted = self.is_established = self.is_closing = False
        # (status, reason) when it has ended.
        self.ended = None
        self.nb_undelivered = 0
        self.failures = []
        # Of the peer, by their id: where producers send to.
        self.consumers = {}
        # Of this side, until they are closed.
        self.queues = set()
        self.poll.add(pointer, self)

    def __str__(self):
        return f'connection of "{self.end.name}"'

    def on_event(self, event):
        """Called by the poll."""
        name = EVENTS.get(event.type)
        if name == "MSG":
            self.messages.append(ffi.buffer(event.msg.data, event.msg.len)[:]
                                 if event.msg.len > 0 else b"")
        elif name == "SENT" and event.sent.cookie == COUNTED:
            self.nb_undelivered -= 1
            if event.status != 0:
                self.failures.append(event.status)
        elif name == "CONNECTED":
            self.is_established = self.is_accepted = True
        elif name == "CONSUMER_NEW":
            peer = event.consumer
            self.consumers[peer.id] = PeerConsumer(peer.id, peer.imm_size, peer.depth)
        elif name == "CONSUMER_GONE":
            self.consumers.pop(event.consumer.id, None)
        elif name == "DISCONNECTED":
            self.ended = event.status, text_of(event.text)
            self.consumers.clear()
            self.forget()

    def forget(self):
        """The library is about to free it."""
        if self.pointer is not None:
            self.poll.remove(self.pointer)
            self.pointer = None
        if self.ended is None:
            self.ended = 0, ""
        self.drop_if_done()

    def drop_if_done(self):
        """A server need not keep what has nothing left to close."""
        if self.ended is not None and not self.queues and isinstance(self.end, Server):
            self.end.has_ended(self)

    def live(self):
        """Its pointer; Disconnected if it has ended."""
        if self.pointer is None:
            raise Disconnected(*self.ended)
        return self.pointer

    def info(self):
        """What rte_comch_conn_info_get() knows, such as max_msg_size and peer_pid: a dict."""
        info = ffi.new("struct rte_comch_conn_info *")
        check(self.lib.rte_comch_conn_info_get(self.live(), info), str(self))
        members = {key: getattr(info, key) for key, _ in ffi.typeof(info[0]).fields}
        return {key: text_of(value) if isinstance(value, ffi.CData) else value
                for key, value in members.items()}

    @waits("nothing was received on the {0}")
    def recv(self):
        """Wait for the next message; its bytes."""
        while not self.messages:
            if self.ended is not None:
                raise Disconnected(*self.ended)
            yield
        if not self.manual_credit and self.pointer is not None:
            self.done()
        return self.messages.popleft()

    next_one = recv

    @waits("no room for a message on the {0}: the peer has not received those before")
    def send(self, data, *, silent=False):
        """Send a message, once there is room for it. *silent*: delivered() does not wait for
        it."""
        data = as_bytes(data)
        limit = self.info()["max_msg_size"]
        if self.is_established and len(data) > limit:
            raise OSError(errno.EMSGSIZE, f"message of {len(data)} bytes: the {self} takes up to "
                                          f"{limit}")
        held = ffi.from_buffer(data)
        message = ffi.new("struct rte_comch_msg *", {
            "data": held, "len": len(data), "cookie": 0 if silent else COUNTED,
            "flags": Constants.MSG_F_SILENT if silent else 0})
        while self.lib.rte_comch_conn_send_burst(self.live(), message, 1) == 0:
            yield
        self.nb_undelivered += not silent

    @waits("the peer has not received all that was sent on the {0}")
    def delivered(self):
        """Wait until the peer has received all that was sent."""
        while self.nb_undelivered > 0:
            if self.ended is not None:
                raise Disconnected(*self.ended)
            yield
        if self.failures:
            failures, self.failures = self.failures, []
            raise failed(failures[0], "", f"{len(failures)} messages on the {self}")

    def done(self, n=1):
        """The oldest messages are received: to call with manual_credit."""
        check(self.lib.rte_comch_conn_msgs_done(self.live(), n), str(self))
        self.poll.changed()

    def accept(self):
        """Let a client in, of a server with manual_accept."""
        check(self.lib.rte_comch_conn_accept(self.live()), f"accepting the {self}")
        self.is_accepted = True
        self.poll.changed()

    def reject(self, reason=""):
        """Refuse a client, of a server with manual_accept. The reason is sent to it."""
        check(self.lib.rte_comch_conn_reject(self.live(), reason.encode()),
              f"rejecting the {self}")
        self.forget()

    def abort(self):
        """End it at once, as if its link had failed: messages under way may be lost."""
        check(self.lib.rte_comch_conn_abort(self.live()), f"aborting the {self}")
        self.poll.changed()

    @waits("a consumer of the {0} has not started")
    def consumer(self, **options):
        """Make a consumer and wait until it runs: see Consumer for the options."""
        consumer = Consumer(self, **options)
        yield from consumer.starting()
        return consumer

    def producer(self, **options):
        """Make a producer: see Producer."""
        return Producer(self, **options)

    @waits("the peer of the {0} has made no consumer")
    def peer_consumer(self):
        """Wait until the peer has a consumer; its id, imm_size and depth."""
        while not self.consumers:
            self.live()
            yield
        return next(iter(self.consumers.values()))

    def closing_queues(self):
        """Its producers and consumers."""
        return together([queue.closing() for queue in list(self.queues)])

    def end_it(self, reason):
        """Reject or disconnect it, as soon as that can be."""
        if not self.is_accepted:
            status = self.lib.rte_comch_conn_reject(self.pointer, reason.encode())
            if status == 0:
                self.forget()
                return
        elif not self.is_closing:
            status = self.lib.rte_comch_conn_disconnect(self.pointer, reason.encode())
            self.is_closing = status == -errno.EINPROGRESS
        else:
            return
        # EBADFD: it ends already, or what accept() has begun is to come first.
        check(status, f"closing the {self}", -errno.EINPROGRESS, -errno.EBADFD)

    def closing(self, reason=""):
        """The steps of close(). Others may close it meanwhile."""
        if isinstance(self.end, Client):
            yield from self.end.closing()
            return
        yield from self.closing_queues()
        while self.ended is None:
            self.end_it(reason)
            if self.ended is None:
                yield True
        self.drop_if_done()

    @waits("the {0} has not ended")
    def close(self, reason=""):
        """Close it: what was sent arrives before. *reason* is told to a client."""
        return self.closing(reason)
