#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
"""The DPU side in asyncio: a server that answers each message of each client with a text.

    echo_server.py --name doca_ctrl_path --text "Hello from Python" &
    doca_ctrl_path_host -p b1:00.0 -c 3

It serves any number of clients at a time, native ones and those for DOCA, and sleeps when there
is nothing to do. With --clients N it ends after the Nth.
"""

import argparse
import asyncio

import comch.aio


async def serve(conn, text):
    """A client, until it disconnects."""
    async with conn:
        print(f"client {conn.info()['id']}: connected, process {conn.info()['peer_pid']}",
              flush=True)
        nb = 0
        async for message in conn:
            nb += 1
            await conn.send(message if text is None else text.encode())
        print(f"a client has left after {nb} messages", flush=True)


async def main():
    """Until Ctrl-C, or the last client."""
    parser = argparse.ArgumentParser(description="A server that answers each message.")
    parser.add_argument("--name", default="echo", help="of the server (default echo)")
    parser.add_argument("--rep", default="pf0", help="the host's function (default pf0)")
    parser.add_argument("--text", help="the answer; by default the message itself")
    parser.add_argument("--clients", type=int, help="end after so many")
    options = parser.parse_args()

    clients = []
    async with comch.aio.dpu() as dpu, dpu.server(options.name, options.rep) as server:
        print(f"server {options.name} is ready", flush=True)
        async for conn in server:
            clients.append(asyncio.create_task(serve(conn, options.text)))
            if len(clients) == options.clients:
                break
        await asyncio.gather(*clients)


if __name__ == "__main__":
    try:
        asyncio.run(main())
    except KeyboardInterrupt:
        pass
