# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
"""The same objects in asyncio."""

import asyncio

import comch.aio
import pytest


def run(main):
    """In an event loop, with a limit that is not reached."""
    return asyncio.run(asyncio.wait_for(main, 60))


async def echo(server):
    """Answer all messages of all clients."""
    async def serve(conn):
        async for message in conn:
            await conn.send(message)
    tasks = []
    try:
        async for conn in server:
            tasks.append(asyncio.create_task(serve(conn)))
    finally:
        for task in tasks:
            task.cancel()


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
            task.cancel()
    run(main())


def test_nothing_is_polled(comch_dir):
    """While nothing happens, no run takes place: the poll sleeps in the event loop."""
    async def main():
        async with comch.aio.dpu(directory=comch_dir) as dpu, dpu.server("echo") as server:
            async with comch.aio.host(directory=comch_dir) as host:
                client = await host.connect("echo")
                peer = await server.accept()
                await peer.consumer()
                client.producer()
                await client.peer_consumer()
                runs = []
                for poll in (dpu.poll, host.poll):
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
        async with comch.aio.dpu(directory=comch_dir) as dpu, dpu.server("echo") as server:
            async with comch.aio.host(directory=comch_dir) as host:
                client = await host.connect("echo")
                peer = await server.accept()
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


def test_with_instead_of_async_with(comch_dir):
    """An error that says so."""
    async def main():
        async with comch.aio.dpu(directory=comch_dir) as dpu:
            with pytest.raises(TypeError, match="async with"):
                with dpu.server("echo"):
                    pass
            await list(dpu.ends)[0].close()
    run(main())
