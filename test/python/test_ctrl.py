# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
"""Servers, connections and messages, both ends in this process."""

import array
import errno
import os

import comch
import pytest


def test_messages_arrive_in_order(pair):
    """Also empty ones, and the longest."""
    client, peer = pair
    longest = bytes(range(256)) * 15 + b"x" * (client.info()["max_msg_size"] - 256 * 15)
    texts = [b"", b"one", bytearray(b"two"), longest]
    for text in texts:
        client.send(text)
    assert [peer.recv() for _ in texts] == [bytes(text) for text in texts]
    client.delivered()
    with pytest.raises(OSError, match="takes up to 4080") as caught:
        client.send(longest + b"x")
    assert caught.value.errno == errno.EMSGSIZE


def test_more_messages_than_there_is_room(pair):
    """send() waits for room, while the other end is on the same poll."""
    client, peer = pair
    received = []
    for i in range(1000):
        while True:
            try:
                client.send(b"%d" % i, silent=i % 2 == 0, timeout=0)
                break
            except TimeoutError:
                received.append(peer.recv())
    received += [peer.recv() for _ in range(1000 - len(received))]
    assert received == [b"%d" % i for i in range(1000)]
    client.delivered()


def test_who_the_peer_is(pair):
    """From the kernel."""
    client, peer = pair
    info = peer.info()
    assert (info["peer_pid"], info["peer_uid"]) == (os.getpid(), os.getuid())
    assert info["name"] == client.info()["name"] == "pair"
    assert info["established"] is True


def test_client_leaves(pair):
    """What it has sent comes first."""
    client, peer = pair
    client.send(b"last")
    client.close()
    assert list(peer) == [b"last"]
    with pytest.raises(comch.Disconnected):
        peer.recv()
    with pytest.raises(comch.Disconnected):
        peer.send(b"more")
    client.close()
    peer.close()


def test_server_says_why(pair):
    """The client gets the reason."""
    client, peer = pair
    peer.close("we close at six")
    with pytest.raises(comch.Disconnected, match="we close at six") as caught:
        client.recv()
    assert "six" in caught.value.reason


def test_link_fails(pair):
    """Both ends are told."""
    client, peer = pair
    client.abort()
    for end in pair:
        with pytest.raises(comch.Disconnected) as caught:
            end.recv()
        assert caught.value.status == -errno.ECONNRESET
    assert isinstance(caught.value, ConnectionError)
    assert peer.messages is not None


def test_no_server(comch_host):
    """An error that says which."""
    with pytest.raises(FileNotFoundError, match="nobody"):
        comch_host.connect("nobody", timeout=0)
    assert not comch_host.ends


def test_name_in_use(comch_dpu):
    """One server of a name."""
    with comch_dpu.server("one"):
        with pytest.raises(OSError, match='server "one"') as caught:
            comch_dpu.server("one")
        assert caught.value.errno == errno.EADDRINUSE
    with comch_dpu.server("one"):
        pass


def test_unknown_representor(comch_dpu):
    """Named in the error."""
    with pytest.raises(FileNotFoundError, match="pf7"):
        comch_dpu.server("one", rep="pf7")


def test_other_function(comch_dir, comch_poll, comch_dpu):
    """Clients of another function do not see the server."""
    with comch.host("pf0vf0", directory=comch_dir, poll=comch_poll) as host:
        with comch_dpu.server("one"), pytest.raises(FileNotFoundError):
            host.connect("one", timeout=0)
        with comch_dpu.server("one", rep="pf0vf0") as server:
            with host.connect("one") as client:
                client.send(b"here")
                assert server.accept().recv() == b"here"


def test_nothing_comes(pair):
    """TimeoutError says what was expected."""
    with pytest.raises(TimeoutError, match='nothing was received on the connection of "pair"'):
        pair[0].recv(timeout=0)
    with pytest.raises(TimeoutError, match='no client of server "pair"'):
        pair[1].end.accept(timeout=0)


def test_peer_does_not_receive(comch_dpu, comch_host):
    """With manual_credit, the peer waits until done()."""
    with comch_dpu.server("slow", manual_credit=True, recv_queue=4) as server:
        client = comch_host.connect("slow")
        peer = server.accept()
        for i in range(4):
            client.send(b"%d" % i)
        with pytest.raises(TimeoutError, match="no room"):
            client.send(b"4", timeout=0)
        with pytest.raises(TimeoutError, match="has not received"):
            client.delivered(timeout=0)
        peer.done(4)
        client.send(b"4")
        assert [peer.recv() for _ in range(5)] == [b"0", b"1", b"2", b"3", b"4"]
        peer.done()
        client.delivered()


def test_device_with_a_wrong_key():
    """As the native call says it."""
    with pytest.raises(OSError, match="comch_shm99,color=red") as caught:
        comch.Device("comch_shm99,color=red")
    assert caught.value.errno == errno.EINVAL


def test_init_is_too_late(comch_poll):
    """EAL runs already."""
    with pytest.raises(OSError, match="init"):
        comch.init("--no-huge")
    assert comch_poll.run() is False
    assert comch.version().count(".") == 2


def test_a_fork_is_refused(comch_poll):
    """What the child would use is the parent's."""
    assert comch_poll.pointer is not None
    pid = os.fork()
    if pid == 0:
        try:
            comch.Poll()
        except OSError as error:
            os._exit(0 if "fork" in str(error) else 1)
        os._exit(2)
    assert os.waitpid(pid, 0)[1] == 0


def test_unread_messages_hold_the_peer(comch_dpu, comch_host):
    """A message counts as received when recv() returns it."""
    with comch_dpu.server("slow", recv_queue=4) as server:
        client = comch_host.connect("slow")
        peer = server.accept()
        for i in range(4):
            client.send(b"%d" % i, silent=True)
        with pytest.raises(TimeoutError, match="no room"):
            client.send(b"4", timeout=0)
        assert peer.recv() == b"0"
        client.send(b"4")
        with pytest.raises(TimeoutError, match="has not received"):
            client.delivered(timeout=0)
        assert [peer.recv() for _ in range(4)] == [b"1", b"2", b"3", b"4"]
        client.delivered()


def test_clients_that_come_and_go(comch_dpu, comch_host):
    """Those that said nothing are forgotten, others are not."""
    with comch_dpu.server("one") as server:
        for i in range(100):
            with comch_host.connect("one") as client:
                if i == 50:
                    client.send(b"here", silent=True)
        while len(server.arrived) != 1:
            comch_dpu.poll.run()
        assert list(server.accept()) == [b"here"]
        assert not server.connections


def test_closed_at_once(comch_dir):
    """Each kind of object twice, and devices that others have replaced."""
    with comch.dpu(directory=comch_dir) as dpu:
        server = dpu.server("one")
        server.close()
        server.close()
        with pytest.raises(ConnectionAbortedError, match='server "one" was closed'):
            server.accept()
        assert not list(server)
        dpu.close()
    poll = comch.Poll()
    first = comch.host(directory=comch_dir, poll=poll)
    first.close()
    with comch.host(directory=comch_dir, poll=poll) as second:
        first.close()
        with pytest.raises(FileNotFoundError):
            second.connect("nobody", timeout=0)
    poll.close()
    with pytest.raises(OSError, match="poll was closed"):
        poll.run()


def test_stuck_clients(comch_dpu, comch_dir):
    """Those that do not run their poll are waited for together."""
    hosts = [comch.host(directory=comch_dir) for _ in range(12)]
    with comch_dpu.server("one") as server:
        for host in hosts:
            run_alone = host.poll.run
            host.poll.run = lambda run=run_alone: comch_dpu.poll.run() | run()
            host.connect("one")
            server.accept().send(b"hello")
            host.poll.run = run_alone
        # Each takes a second by itself.
        server.close(timeout=8)
    for host in hosts:
        host.close()


def test_what_has_bytes(pair):
    """Bytes are counted, not elements; and a str has none."""
    client, peer = pair
    client.send(array.array("I", [1, 2, 3]))
    assert len(peer.recv()) == 12
    for data in ("text", 7, None):
        with pytest.raises(TypeError):
            client.send(data)


def test_failed_messages(comch_dpu, comch_host):
    """A silent one that fails does not count as another one's delivery."""
    with comch_dpu.server("one") as server:
        client = comch_host.connect("one")
        client.send(b"quiet", silent=True)
        client.send(b"loud")
        assert client.nb_undelivered == 1
        conn = server.accept()
        assert [conn.recv(), conn.recv()] == [b"quiet", b"loud"]
        client.delivered()
        assert client.nb_undelivered == 0
