"""What keeps functions apart where the system allows less: no namespaces, no control groups, no root."""

from __future__ import annotations

import base64
import io
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.live_platform import RunningPlatform, running_platform

from trimtab.errors import TrimtabError

_BARE = """
import sys
from trimtab.live import cgroup, start
from trimtab.live.isolation import Isolation
start.probe = lambda: Isolation(False, (), False)
cgroup.make_group = lambda name: cgroup.NO_GROUP
from trimtab.cli import main
main()
"""
BARE = (sys.executable, "-c", _BARE)
"""As on a machine that allows nothing."""

SHARES = """
import os, part
def main(args):
    return {"part": part.NAME, "folder": os.getcwd(), "temporary": os.environ["TMPDIR"], "user": os.getuid()}
"""
ORPHAN = """
import os, time
def main(args):
    reading, writing = os.pipe()
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.write(writing, str(os.getpid()).encode())
            time.sleep(300)
        os._exit(0)
    return {"pid": int(os.read(reading, 20))}
"""
BURNS = """
import time
def main(args):
    end = time.process_time() + 0.4
    while time.process_time() < end:
        pass
    return {}
"""


def zipped(name: str) -> str:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("__main__.py", SHARES)
        archive.writestr("part.py", f"NAME = {name!r}\n")
    return base64.b64encode(packed.getvalue()).decode()


@pytest.fixture
def bare() -> Iterator[RunningPlatform]:
    with running_platform(policy="round-robin", launcher=BARE) as found:
        yield found


def deploy_zips(platform: RunningPlatform) -> list[dict[str, Any]]:
    """Two functions that each bring a module of the same name."""
    client = platform.client()
    for name in ("first", "second"):
        client.deploy(name, {"zip": zipped(name), "memory_mb": 64})
    return [client.call(name, {}).result for name in ("first", "second")]


def end(platform: RunningPlatform) -> float:
    began = time.monotonic()
    platform.process.terminate()
    platform.process.wait(20.0)
    return time.monotonic() - began


def test_functions_that_share_the_files_have_folders_of_their_own(bare: RunningPlatform) -> None:
    found = deploy_zips(bare)
    assert [each["part"] for each in found] == ["first", "second"]
    folders = [Path(each["temporary"]) for each in found]
    assert len(set(folders)) == 2
    assert all(each.is_dir() and stat.S_IMODE(each.stat().st_mode) == 0o700 for each in folders)
    bare.client().remove("first")
    deadline = time.monotonic() + 5.0
    while folders[0].exists():
        assert time.monotonic() < deadline
        time.sleep(0.02)
    end(bare)
    assert not folders[1].exists()


def test_what_a_function_leaves_running_ends_with_its_instance(bare: RunningPlatform) -> None:
    client = bare.client()
    client.deploy("orphan", {"code": ORPHAN, "memory_mb": 64})
    first = client.call("orphan", {}).result["pid"]
    client.remove("orphan")
    deadline = time.monotonic() + 5.0
    while Path(f"/proc/{first}").exists():
        assert time.monotonic() < deadline
        time.sleep(0.02)
    client.deploy("orphan", {"code": ORPHAN, "memory_mb": 64})
    second = client.call("orphan", {}).result["pid"]
    assert Path(f"/proc/{second}").exists()
    assert end(bare) < 5.0
    assert not Path(f"/proc/{second}").exists()


def test_without_groups_reasons_and_core_seconds_are_known(bare: RunningPlatform) -> None:
    client = bare.client()
    client.deploy("dies", {"code": "import os\ndef main(args):\n    os._exit(3)\n", "memory_mb": 64})
    with pytest.raises(TrimtabError, match="ended with exit code 3"):
        client.call("dies", {})
    client.deploy("burns", {"code": BURNS, "memory_mb": 64})
    client.call("burns", {})
    time.sleep(0.3)
    servers = client.state()["servers"]
    (found,) = (each for each in servers for one in each["instances"] if one["function"] == "burns")
    assert found["cpu_seconds"] >= 0.35
    assert [each["cpu_seconds"] >= 0.35 for each in found["instances"]] == [True]
    assert found["memory_used"] > 2**20
    client.remove("burns")
    time.sleep(0.5)
    (after,) = (each for each in client.state()["servers"] if each["name"] == found["name"])
    assert after["cpu_seconds"] >= found["cpu_seconds"]  # what ended instances had used stays counted


# --- other users: they must be able to reach this Python, which is bound into a folder that they may enter


def as_others_see_it(*command: str) -> tuple[str, ...]:
    """A command in a mount namespace where all may enter the folder that Python is in."""
    if os.geteuid() != 0 or shutil.which("unshare") is None or shutil.which("setpriv") is None:
        pytest.skip("needs root, unshare and setpriv")
    top = Path("/", Path(sys.base_prefix).parts[1])
    if top.stat().st_mode & 0o005 == 0o005:
        return command
    inner = Path("/", *Path(sys.base_prefix).parts[1:3])
    script = (
        f'set -e; kept=$(mktemp -d); mount --bind {inner} "$kept"; mount -t tmpfs -o mode=755 none {top}; '
        f'mkdir -p {inner}; mount --bind "$kept" {inner}; umount "$kept"; rmdir "$kept"; exec "$@"'
    )
    return ("unshare", "-m", "--propagation", "private", "sh", "-c", script, "sh", *command)


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user may write to; not below pytest's own, which is closed to others by its next run."""
    with tempfile.TemporaryDirectory(prefix="trimtab-open-") as name:
        Path(name).chmod(0o777)
        yield Path(name)


def test_root_without_mount_namespaces_runs_functions_as_other_users() -> None:
    launcher = as_others_see_it(
        "setpriv", "--bounding-set=-sys_admin", "--inh-caps=-sys_admin", sys.executable, "-m", "trimtab"
    )
    with running_platform(launcher=launcher) as platform:
        assert platform.client().state()["isolation"]["files"] == "the gateway's"
        found = deploy_zips(platform)
        assert [each["part"] for each in found] == ["first", "second"]
        assert len({each["user"] for each in found} - {0}) == 2
        folders = [Path(each["temporary"]) for each in found]
        end(platform)
        assert not any(each.exists() for each in folders)


def test_root_without_mount_namespaces_says_so_where_others_cannot_run_python() -> None:
    if os.geteuid() != 0 or Path("/", Path(sys.base_prefix).parts[1]).stat().st_mode & 0o005:
        pytest.skip("needs root, and a Python that only root can reach")
    command = ("setpriv", "--bounding-set=-sys_admin", "--inh-caps=-sys_admin", sys.executable, "-m", "trimtab")
    found = subprocess.run([*command, "live", "--port", "0"], capture_output=True, text=True, timeout=60, check=False)
    assert found.returncode == 2
    assert "must be where every user may run it" in found.stderr


NOSY = """
import os, socket
def main(args):
    found = {"processes": sorted(int(each) for each in os.listdir("/proc") if each.isdigit()), "user": os.getuid()}
    found["root"] = sorted(os.listdir("/"))
    for path in ("/usr/new", "/runner.pyc"):
        try:
            open(path, "w")
            found[path] = "written"
        except OSError as error:
            found[path] = type(error).__name__
    try:
        socket.create_connection(("127.0.0.1", args["port"]), 1)
        found["network"] = "reached"
    except OSError:
        found["network"] = "none"
    found["capabilities"] = [line for line in open("/proc/self/status") if line.startswith("CapEff")][0].split()[1]
    return found
"""


def test_without_root_namespaces_keep_functions_apart(open_folder: Path) -> None:
    launcher = as_others_see_it(
        "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", sys.executable, "-m", "trimtab"
    )
    environment = {"HOME": str(open_folder), "TRIMTAB_CACHE": str(open_folder / "kernels")}
    with running_platform(launcher=launcher, state=open_folder, environment=environment) as platform:
        client = platform.client()
        isolation = client.state()["isolation"]
        if not isolation["namespaces"]:
            pytest.skip("this kernel allows no user namespaces")
        assert isolation["user"] == "the gateway's"
        assert {"mount", "network", "process"} <= set(isolation["namespaces"])
        client.deploy("nosy", {"code": NOSY, "memory_mb": 64})
        found = client.call("nosy", {"port": int(platform.url.rpartition(":")[2])}).result
        assert found["processes"] == [1]
        assert found["user"] == 65534
        assert "root" not in found["root"] or Path(sys.base_prefix).parts[1] == "root"
        assert found["/usr/new"] in ("OSError", "PermissionError")
        assert found["/runner.pyc"] in ("OSError", "PermissionError")
        assert found["network"] == "none"
        assert int(found["capabilities"], 16) == 0
