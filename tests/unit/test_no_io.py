"""The guard of ``conftest.py`` refuses I/O, and only that."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

REFUSED = pytest.raises(pytest.fail.Exception, match="a unit test does no I/O")


def test_a_socket_is_refused() -> None:
    with REFUSED:
        socket.socket()


def test_a_process_is_refused() -> None:
    with REFUSED:
        subprocess.run([sys.executable, "-c", ""], check=True)


def test_sleeping_is_refused() -> None:
    with REFUSED:
        time.sleep(0.001)


def test_writing_a_file_is_refused_even_where_exceptions_are_swallowed() -> None:
    target = Path("never-written.txt")
    with REFUSED, contextlib.suppress(Exception):
        target.write_text("x")
    assert not target.exists()


def test_reading_a_file_and_writing_to_the_null_device_are_allowed() -> None:
    assert Path(__file__).read_text().startswith('"""')
    with Path(os.devnull).open("w") as nowhere:
        nowhere.write("x")
