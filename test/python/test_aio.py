# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
"""The same objects in asyncio."""

import asyncio
import contextlib

import comch.aio
import pytest


def run(main):
    """In an event loop, with a limit that is not reached."""
    return asyncio.run(asyncio.wait_for(main, 60))


@contextlib.asynccontextmanager
async def ends(directory, **options):
    """Both ends of a connection, the client's and the server's, on two polls."""
    async with comch.aio.dpu(directory=directory) as dpu, dpu.server("echo", **options) as server:
        async with comch.aio.host(directory=directory) as host:
            client = await host.connect("echo")
            yield client, await server.accept()


async def echo(server):
    """Answer all messages of all clients, until the server is closed."""
    async def serve(conn):
        async for message in conn:
            await conn.send(message)
    tasks = []
    async for conn in server:
        tasks.append(asyncio.create_task(serve(conn)))
    await asyncio.gather(*tasks)


def test_clients_at_a_time(comch_dir):
    """Each gets its own answers."""
    async def talk(host, number):
        async with await host.connect("echo") as conn:
            for i in range(20):
                await conn.send(b"%d %d" % (number, i))
                assert await conn.recv() == b"%d %d" % (number, i)
            await conn.delivered()

    async def main():
        async with comch.aio.dpu(directory=comch_dir) as dpu, dpu.server("echo") as server:
            task = asyncio.create_task(echo(server))
            async with comch.aio.host(directory=comch_dir) as host:
                await asyncio.gather(*(talk(host, number) for number in range(8)))
            await server.close()
            await task
    run(main())


def test_nothing_is_polled(comch_dir):
    """While nothing happens, no run takes place: the poll sleeps in the event loop."""
    async def main():
        async with ends(comch_dir) as (client, peer):
            await peer.consumer()
            client.producer()
            await client.peer_consumer()
            runs = []
            for poll in (client.poll, peer.poll):
                poll.run = lambda run_once=poll.run: runs.append(None) or run_once()
            with pytest.raises(TimeoutError, match="nothing was received"):
                await peer.recv(timeout=0.3)
            assert len(runs) < 20
            await client.send(b"now")
            assert await peer.recv() == b"now"
    run(main())


def test_fast_path(comch_dir):
    """Producers and consumers, on two polls."""
    async def main():
        async with ends(comch_dir) as (client, peer):
            async with await peer.consumer(buffers=2) as consumer:
                async with client.producer() as producer:
                    async def send():
                        for i in range(50):
                            await producer.send(b"%d" % i)
                    task = asyncio.create_task(send())
                    for i in range(50):
                        assert (await consumer.recv()).data == b"%d" % i
                    await task
    run(main())


def test_a_task_is_cancelled(comch_dir):
    """While it connects, or waits: the rest goes on, and all is closed."""
    async def main():
        async with comch.aio.dpu(directory=comch_dir) as dpu, dpu.server("echo") as server:
            async with comch.aio.host(directory=comch_dir) as host:
                for waiting in (host.connect("nobody", timeout=60), server.accept(timeout=None)):
                    task = asyncio.create_task(waiting)
                    await asyncio.sleep(0.01)
                    task.cancel()
                    with pytest.raises(asyncio.CancelledError):
                        await task
                client = await host.connect("echo")
                await client.send(b"still here")
                assert await (await server.accept()).recv() == b"still here"
    run(main())


def test_cancelled_as_it_is_woken(comch_dir):
    """A task that is cancelled in the turn in which something happened."""
    async def main():
        async with ends(comch_dir) as (client, peer):
            task = asyncio.create_task(peer.end.accept(timeout=60))
            await asyncio.sleep(0)
            await peer.send(b"wakes all of this poll", silent=True)
            task.cancel()
            done, _ = await asyncio.wait([task], timeout=5)
            assert done and task.cancelled()
            assert await client.recv()
    run(main())


def test_closed_while_others_wait(comch_dir):
    """They are told, or their loops end."""
    async def main():
        async with ends(comch_dir) as (client, peer):
            server, consumer = peer.end, await peer.consumer()
            tasks = [asyncio.create_task(waiting) for waiting in (
                server.accept(timeout=None), client.recv(timeout=None),
                consumer.recv(timeout=None), client.device.connect("nobody", timeout=60))]
            await asyncio.sleep(0.01)
            # Two at a time, of what belongs together.
            await asyncio.gather(peer.close(), server.close(), consumer.close())
            await client.device.close()
            for task in tasks:
                with pytest.raises(ConnectionError):
                    await asyncio.wait_for(task, 5)
    run(main())


def test_closed_while_it_comes(comch_dir):
    """A client that waits to be let in, and one that was let in this very moment."""
    async def main():
        async with comch.aio.dpu(directory=comch_dir) as dpu:
            async with comch.aio.host(directory=comch_dir) as host:
                for is_accepted in (False, True):
                    async with dpu.server("door", manual_accept=True) as server:
                        task = asyncio.create_task(host.connect("door"))
                        conn = await server.accept()
                        if is_accepted:
                            conn.accept()
                        await conn.close("closed")
                        if is_accepted:
                            with pytest.raises(comch.Disconnected):
                                await (await task).recv()
                        else:
                            with pytest.raises(ConnectionRefusedError, match="closed"):
                                await task
    run(main())


def test_consumer_that_nobody_waits_for(comch_dir):
    """It is stopped: the peer does not send to it later."""
    async def main():
        async with ends(comch_dir) as (client, peer):
            task = asyncio.create_task(peer.consumer())
            await asyncio.sleep(0)
            task.cancel()
            async with await peer.consumer() as consumer, client.producer() as producer:
                while len(client.consumers) != 1 or consumer.id not in client.consumers:
                    await asyncio.sleep(0.01)
                await producer.send(b"to the second one")
                assert (await consumer.recv()).data == b"to the second one"
    run(main())


def test_room_without_an_event(comch_dir):
    """Room for more that a run finds, of which no event tells."""
    async def main():
        async with ends(comch_dir, recv_queue=2) as (client, peer):
            async def send():
                for _ in range(200):
                    await client.send(b"x", silent=True)
            task = asyncio.create_task(send())
            for _ in range(200):
                await peer.recv()
            await task
    run(main())


def test_with_instead_of_async_with(comch_dir):
    """An error that says so."""
    async def main():
        async with comch.aio.dpu(directory=comch_dir) as dpu:
            with pytest.raises(TypeError, match="async with"):
                with dpu.server("echo"):
                    pass
            await list(dpu.ends)[0].close()
    run(main())
