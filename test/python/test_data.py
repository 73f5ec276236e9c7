# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
"""Producers and consumers, both ends in this process."""

import errno

import comch
import pytest


@pytest.mark.parametrize("memory", ["shared", "heap"])
def test_messages_arrive(pair, memory):
    """More than there are buffers, with immediate data and without."""
    client, peer = pair
    with peer.consumer(buffers=4, size=100, memory=memory) as consumer, \
            client.producer() as producer:
        for i in range(20):
            producer.send(b"x" * i, imm=b"%d" % i)
            assert consumer.recv() == comch.Message(b"x" * i, b"%d" % i, producer.id)
        assert client.peer_consumer() == (consumer.id, 32, 4)


def test_long_message_through_the_staging_ring(pair):
    """3 MiB into memory that is not shared: longer than the ring, so that it goes in pieces."""
    client, peer = pair
    data = bytes(range(256)) * (3 << 12)
    with peer.consumer(buffers=1, size=len(data), memory="heap") as consumer:
        with client.producer() as producer:
            producer.send(data)
            assert consumer.recv().data == data


def test_empty_buffers(pair):
    """For immediate data alone."""
    client, peer = pair
    with peer.consumer(buffers=2, size=0) as consumer, client.producer() as producer:
        producer.send(b"", imm=b"now")
        assert consumer.recv() == (b"", b"now", producer.id)
        with pytest.raises(OSError) as caught:
            producer.send(b"x")
        assert caught.value.errno == errno.EMSGSIZE


def test_no_buffer_is_posted(pair):
    """The producer waits, and says for what."""
    client, peer = pair
    with peer.consumer(buffers=2, auto_post=False) as consumer, client.producer() as producer:
        with pytest.raises(TimeoutError, match="posted no buffer"):
            producer.send(b"early", timeout=0.05)
        assert consumer.post(5) == 2
        producer.send(b"one")
        producer.send(b"two")
        with pytest.raises(TimeoutError):
            producer.send(b"three", timeout=0.05)
        assert [consumer.recv().data for _ in range(2)] == [b"one", b"two"]
        assert consumer.post() == 1
        producer.send(b"three")


def test_no_consumer(pair):
    """Neither any, nor one of that id."""
    client, _ = pair
    with client.producer() as producer:
        with pytest.raises(TimeoutError, match="no consumer"):
            producer.send(b"x", timeout=0)
        with pytest.raises(FileNotFoundError):
            producer.send(b"x", to=7)
        with pytest.raises(TimeoutError, match="has made no consumer"):
            client.peer_consumer(timeout=0)


def test_consumer_of_the_client(pair):
    """The other way; and it is announced when it goes."""
    client, peer = pair
    consumer = client.consumer(snapshot=True)
    with peer.producer() as producer:
        producer.send(b"down")
        assert consumer.recv().data == b"down"
        consumer.close()
        with pytest.raises(TimeoutError):
            producer.send(b"x", timeout=0.05)
    assert not peer.consumers


def test_connection_ends_with_queues(pair):
    """Both sides' queues close, and say that the connection has ended."""
    client, peer = pair
    consumer, producer = peer.consumer(), client.producer()
    producer.send(b"last")
    peer.abort()
    assert consumer.recv().data == b"last"
    for end in (consumer, client):
        with pytest.raises(comch.Disconnected):
            end.recv()
    with pytest.raises(comch.Disconnected):
        producer.send(b"x")
    client.close()
    peer.close()
    assert not client.queues and not peer.queues


def test_no_fast_path(comch_dpu, comch_host):
    """ctrl_only of one side holds for both."""
    with comch_dpu.server("ctrl", ctrl_only=True) as server:
        client = comch_host.connect("ctrl")
        with pytest.raises(OSError) as caught:
            client.producer()
        assert caught.value.errno == errno.ENOTSUP
        assert server.accept().info()["ctrl_only"] is True


def test_wrong_options(pair):
    """Named in the error."""
    with pytest.raises(ValueError, match="shared, heap"):
        pair[0].consumer(memory="stack")
    with pytest.raises(ValueError, match="0 buffers"):
        pair[0].consumer(buffers=0)


def test_peer_leaves_after_many(pair):
    """All that was sent arrives, and then the end is reported as such."""
    client, peer = pair
    consumer, producer = peer.consumer(buffers=100), client.producer()
    for i in range(60):
        producer.send(b"%d" % i)
    client.close()
    assert [message.data for message in consumer] == [b"%d" % i for i in range(60)]
    with pytest.raises(comch.Disconnected):
        consumer.recv()


def test_nothing_is_left_of_wrong_arguments(pair):
    """Memory that was registered for them is freed."""
    client, peer = pair
    with peer.consumer(), client.producer() as producer:
        for _ in range(5000):
            with pytest.raises(OverflowError):
                producer.send(b"x", to=-1)
        for wrong in ({"data": "text"}, {"data": b"x", "imm": "text"}):
            with pytest.raises(TypeError):
                producer.send(**wrong)
        producer.send(b"right")
    with pytest.raises(OverflowError):
        peer.consumer(imm_size=-1)
