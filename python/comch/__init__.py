# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
"""comch for Python: the other side of the program under test, in a few lines.

    with comch.dpu() as dpu, dpu.server("echo") as server:
        conn = server.accept()
        for message in conn:
            conn.send(message)

What waits takes timeout=, in seconds (default 10; None: for ever), and raises TimeoutError, which
says what it waited for. In comch.aio the same methods are coroutines. The first device starts EAL,
with the arguments in $COMCH_EAL_ARGS or those of init().

A poll, and the objects on it, belong to one thread at a time. Objects are made for tests and
scripts, not for speed: a call takes microseconds.
"""

from ._ctrl import FUNCTIONS, Connection, Device, Server, dpu, host
from ._data import Consumer, Message, PeerConsumer, Producer
from ._lib import eal as _eal, ffi as _ffi
from ._poll import Disconnected, Poll

__all__ = ["FUNCTIONS", "Connection", "Consumer", "Device", "Disconnected", "Message",
           "PeerConsumer", "Poll", "Producer", "Server", "dpu", "host", "init", "version"]


def init(*arguments):
    """Start EAL with these arguments, before the first poll or device."""
    _eal.init(list(arguments))


def version():
    """Of librte_comch."""
    return _ffi.string(_eal.get().rte_comch_version()).decode()
