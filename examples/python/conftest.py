# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
"""Where the programs under test are, and the fixtures."""

import os
import pathlib

import pytest

pytest_plugins = ["comch.pytest_plugin"]


@pytest.fixture
def programs():
    """The directory with doca_ctrl_path_host: $PROGRAMS, or where make(1) puts it."""
    return pathlib.Path(os.environ.get("PROGRAMS", "../doca_ctrl_path/build"))
