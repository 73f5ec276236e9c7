# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
"""What a client for DOCA does if its server is not as it should be. The test is the server."""

import pytest


@pytest.fixture
def client(programs, comch_program):
    """Start the client under test: doca_ctrl_path, which waits for as many answers."""
    def start(count):
        return comch_program(programs / "doca_ctrl_path_host", "-p", "b1:00.0", "-c", count)
    return start


def test_all_is_well(comch_dpu, client):
    """Each message is answered."""
    with comch_dpu.server("doca_ctrl_path") as server:
        program = client(2)
        conn = server.accept()
        for _ in range(2):
            assert conn.recv() == b"Hello from the host"
            conn.send(b"well")
        assert program.wait() == 0
        assert program.output().count('received "well"') == 2


def test_only_the_third_message_is_answered(comch_dpu, client):
    """The client waits for the other answers, and does not end."""
    with comch_dpu.server("doca_ctrl_path") as server:
        program = client(3)
        conn = server.accept()
        for _ in range(3):
            conn.recv()
        conn.send(b"the third")
        program.expect('received "the third"')
        with pytest.raises(TimeoutError, match="has not ended"):
            program.wait(timeout=0.5)


def test_server_leaves(comch_dpu, client):
    """The client says that the connection ended, and fails."""
    with comch_dpu.server("doca_ctrl_path") as server:
        program = client(2)
        conn = server.accept()
        conn.recv()
        conn.close()
        assert program.wait() == 1
        assert "ended early" in program.output()


def test_link_fails(comch_dpu, client):
    """The same, though nothing was said before."""
    with comch_dpu.server("doca_ctrl_path") as server:
        program = client(1)
        server.accept().abort()
        assert program.wait() == 1


def test_client_is_refused(comch_dpu, client):
    """The client tries again, until it is let in."""
    with comch_dpu.server("doca_ctrl_path", manual_accept=True) as server:
        program = client(1)
        server.accept().reject("not yet")
        conn = server.accept()
        conn.accept()
        conn.recv()
        conn.send(b"now")
        assert program.wait() == 0
