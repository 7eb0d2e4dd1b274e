"""A platform of one's own for as long as a block runs, in a process of its own: for commands that measure.

``python -m trimtab.live.background`` reads what is wanted as one line of JSON, and answers with its URL.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from trimtab.errors import TrimtabError
from trimtab.live.cgroup import PREFIX, make_group
from trimtab.live.client import GatewayClient
from trimtab.live.scratch import Scratch
from trimtab.live.urgency import hurry_children
from trimtab.scenario.model import Scenario

_START, _GRACE = 90.0, 20.0
"""Seconds that a start may take (the first on a machine compiles policies), and an end."""
_WEIGHT = 64 * 1024
"""Of all instances together; 1024 is that of one ordinary process."""


@contextmanager
def running_platform(scenario: Scenario, place: str | None = None, scale: str | None = None) -> Iterator[str]:
    """The URL of a gateway on loopback that runs a scenario's functions; gone without a trace at the end."""
    wanted = {"scenario": scenario.model_dump_json(), "place": place, "scale": scale}
    with Scratch() as folder, tempfile.TemporaryFile("w+") as log:
        command = [sys.executable, "-m", "trimtab.live.background", str(folder.path)]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True)
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(json.dumps(wanted) + "\n")
            process.stdin.flush()
            url = process.stdout.readline().strip()
            if not url:
                raise TrimtabError(f"the platform did not start: {_last_line(log)}")
            with GatewayClient(url) as client:
                client.wait(_START)
            hurry_children(process.pid)
            yield url
        finally:
            process.terminate()
            try:
                process.wait(_GRACE)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            process.stdin.close()
            process.stdout.close()


def _last_line(log: IO[str]) -> str:
    log.seek(0)
    lines = [line.strip() for line in log if line.strip()]
    return lines[-1].removeprefix("trimtab: error: ") if lines else "it said nothing"


def main() -> None:
    """Start what standard input says; ends with a signal, or with the process that started it."""
    from trimtab.live.start import Supervisor, Wanted
    from trimtab.live.system import die_with_parent

    die_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the starter's to handle: it ends us
    wanted = json.loads(sys.stdin.readline())
    answer = os.dup(1)
    os.dup2(2, 1)  # what is printed goes to the log
    try:
        scenario = Scenario.model_validate_json(wanted["scenario"])
        supervisor = Supervisor(Wanted(scenario, wanted["place"], wanted["scale"], "127.0.0.1", 0, Path(sys.argv[1])))
        supervisor.run(lambda found: _begun(answer, found.url))
    except TrimtabError as error:
        sys.stderr.write(f"trimtab: error: {error}\n")
        sys.exit(2)


def _begun(handle: int, url: str) -> None:
    # what is measured should depend on limits, not on what else runs: instances go first on a busy machine
    make_group(f"{PREFIX}{os.getpid()}").weigh(_WEIGHT)
    os.write(handle, f"{url}\n".encode())
    os.close(handle)


if __name__ == "__main__":
    main()
