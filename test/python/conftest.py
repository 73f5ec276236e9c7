# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
"""Both ends in one process, on one poll."""

import pytest

pytest_plugins = ["comch.pytest_plugin"]


@pytest.fixture
def pair(comch_dpu, comch_host):
    """Two ends of a connection: the client's, and the server's."""
    with comch_dpu.server("pair") as server:
        client = comch_host.connect("pair")
        yield client, server.accept()
