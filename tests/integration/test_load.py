"""``trimtab load`` against a server on loopback whose delays are known."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import numpy as np
import polars
import pytest
from tests.commands import files, trimtab
from tests.loopback import Seen, Server, ok, serving

from trimtab.live.load.plan import paced, plan_of
from trimtab.live.load.replay import Limits, replay
from trimtab.live.load.target import target_of
from trimtab.scenario.load import parse_scenario
from trimtab.workload.build import build_workload

STEADY = """
name: steady
hosts: [{name: server, cores: 1, memory: 1 GiB}]
functions:
  - {name: one, work: 10 ms, deadline: 150 ms, code: {path: one, args: {greeting: hello}}}
workload: {source: poisson, rate: 100, duration: 2 s}
"""
SIZED = """
name: sized
hosts: [{name: server, cores: 1, memory: 1 GiB}]
functions:
  - name: spin
    work: 40 ms
    code: {path: spin, args: {colour: red}, size: loops, curve: [[0, 0.0], [1000, 0.1], [3000, 0.2]]}
workload: {source: poisson, rate: 100, duration: 1 s}
"""


LIMITS = Limits()


def run(server: Server, text: str = STEADY, limits: Limits = LIMITS):  # type: ignore[no-untyped-def]
    scenario = parse_scenario(text)
    workload = build_workload(scenario, 1)
    return scenario, workload, replay(plan_of(scenario, workload), target_of(server.url), limits)


def test_arrivals_are_those_of_the_simulation_in_real_time() -> None:
    with serving() as server:
        _, workload, log = run(server)
    assert len(server.calls) == len(workload) == log.figures()["sent"]
    assert {call.path for call in server.calls} == {"/function/one"}
    assert {call.body for call in server.calls} == {b'{"greeting":"hello"}'}
    # when calls reached the server, to one constant: the time of its clock at the start
    times = np.array([call.time for call in server.calls])
    offsets = np.sort(times) - workload.arrival
    assert np.quantile(np.abs(offsets - np.median(offsets)), 0.5) < 0.1
    assert np.all(log.sent >= workload.arrival)


def test_latency_of_a_known_delay() -> None:
    async def slow(seen: Seen) -> bytes:
        await asyncio.sleep(0.1)
        return ok(headers="X-Trimtab-Server: server-1\r\nX-Trimtab-Cold: 1\r\nX-Trimtab-Wait-Ms: 12.5\r\n")

    with serving(slow) as server:
        scenario, _, log = run(server)
    outcome = log.outcome(scenario, "live", 1)
    assert np.all(outcome.fct >= 0.1)
    assert np.median(outcome.fct) < 1.0
    assert outcome.hosts == ("server-1",)
    assert outcome.cold.all()
    assert np.allclose(log.wait, 0.0125)
    assert np.array_equal(outcome.late, outcome.fct > 0.15), "the deadline is 150 ms"


def test_a_stall_counts_for_every_call_that_was_due_in_it() -> None:
    """The server answers nothing for its first second: a closed loop would have seen one slow call."""
    awake: list[float] = []

    async def stalled(seen: Seen) -> bytes:
        awake.append(min([*awake[:1], seen.time + 1.0]))
        await asyncio.sleep(max(0.0, awake[0] - asyncio.get_running_loop().time()))
        return ok()

    with serving(stalled) as server:
        _, workload, log = run(server)
    latency = log.ended - workload.arrival
    due = workload.arrival < workload.arrival[0] + 0.95
    wanted = workload.arrival[0] + 1.0 - workload.arrival
    assert due.sum() > 50
    assert np.all(latency[due] >= wanted[due] - 0.01)
    assert np.median(latency[workload.arrival > workload.arrival[0] + 1.1]) < 0.5


def test_waiting_for_a_connection_is_part_of_the_latency() -> None:
    async def slow(seen: Seen) -> bytes:
        await asyncio.sleep(0.05)
        return ok()

    with serving(slow) as server:
        _, workload, log = run(server, limits=Limits(connections=2))
    # two at a time for 50 ms each: 40 a second are served, 100 a second are due
    assert server.most_open <= 2
    assert len(server.calls) == len(workload)
    assert (log.ended - workload.arrival)[-1] > 1.5
    assert np.median(log.ended - log.sent) < 0.5 * np.median(log.ended - workload.arrival)


def test_errors_by_kind() -> None:
    async def moody(seen: Seen) -> bytes:
        kind = len(server.calls) % 6
        if kind == 0:
            await asyncio.sleep(60)
        return [b"", ok(status="500 Oops"), ok(status="429 Slow down"), b"", b"what?\r\n\r\n", ok()][kind]

    with serving(moody) as server:
        scenario, workload, log = run(server, limits=Limits(timeout=1.0))
    count = len(workload)
    assert sum(log.errors.values()) == count - sum(log.outcomes == 0)
    assert set(log.errors) == {"HTTP 429", "HTTP 500", "not HTTP", "reset", "timeout"}
    outcome = log.outcome(scenario, "live", 1)
    assert (outcome.status == 2).sum() == log.errors["HTTP 429"]
    assert np.isnan(outcome.completion[outcome.status != 0]).all()
    ended = log.ended - workload.arrival
    timed_out = np.array(log.error) == "timeout"
    assert np.all((ended[timed_out] >= 1.0) & (ended[timed_out] < 5.0))


def test_nobody_there() -> None:
    with serving() as server:
        pass
    _, workload, log = run(server)
    assert log.errors == {"connect": len(workload)}


def test_the_size_of_a_call_follows_the_work_that_was_drawn() -> None:
    scenario = parse_scenario(SIZED)
    workload = build_workload(scenario, 3)
    plan = plan_of(scenario, workload)
    for drawn, called, body in zip(workload.work, plan.workload.work, plan.bodies, strict=True):
        arguments = json.loads(body)
        assert arguments["colour"] == "red"
        # up to 0.1 s a thousand loops take 0.1 s, beyond that a thousand take 0.05 s, and no call is above 0.2 s
        loops = drawn * 10_000 if drawn <= 0.1 else 1000 + (drawn - 0.1) * 20_000
        assert arguments["loops"] == round(min(loops, 3000))
        assert called == pytest.approx(min(drawn, 0.2), abs=1e-4)


def test_pace_and_length() -> None:
    scenario = parse_scenario(STEADY)
    workload = build_workload(scenario, 1)
    fast = paced(workload, None, 4.0)
    assert np.allclose(fast.arrival * 4, workload.arrival)
    assert fast.duration == 0.5
    short = paced(workload, 0.25, 4.0)
    assert len(short) == np.sum(workload.arrival < 1.0)
    assert short.duration == 0.25


def test_the_command_writes_its_files(tmp_path: Path) -> None:
    (tmp_path / "steady.yaml").write_text(STEADY)
    with serving() as server:
        result = trimtab(
            "load", "steady.yaml", "--url", f"{server.url}/any/{{function}}/x", "--seconds", "1", "--out", "made",
            folder=tmp_path,
        )  # fmt: skip
    assert result.code == 0, result.err
    assert {call.path for call in server.calls} == {"/any/one/x"}
    assert files(tmp_path / "made") == ["calls.parquet", "load.html", "load.json"]
    summary = json.loads((tmp_path / "made/load.json").read_text())
    rows = polars.read_parquet(tmp_path / "made/calls.parquet")
    assert summary["policies"]["live"]["requests"] == summary["load"]["sent"] == rows.height == len(server.calls)
    assert summary["policies"]["live"]["mean_fct_s"] == pytest.approx(rows["latency_s"].mean())
    assert "calls sent" in result.out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--url", "127.0.0.1:80"], "--url = '127.0.0.1:80', must be http://HOST:PORT"),
        (["--url", "http://127.0.0.1/x"], "has a path without {function}"),
        (["--url", "http://a:99999"], "--url"),
        (["--seconds", "nan"], "--seconds = 'nan', must be a number"),
        (["--seconds", "0.001"], "no request comes that early"),
        (["--rate-scale", "0"], "--rate-scale = '0', must be a number from 0.001"),
        (["--connections", "0"], "--connections = '0', must be a whole number from 1"),
        (["--seed", "-1"], "--seed = '-1'"),
    ],
)
def test_mistakes_are_one_line(tmp_path: Path, arguments: list[str], words: str) -> None:
    (tmp_path / "steady.yaml").write_text(STEADY)
    assert words in trimtab("load", "steady.yaml", *arguments, folder=tmp_path).complaint
    assert files(tmp_path) == ["steady.yaml"]


def test_a_size_without_a_curve(tmp_path: Path) -> None:
    (tmp_path / "sized.yaml").write_text(SIZED.replace(", curve: [[0, 0.0], [1000, 0.1], [3000, 0.2]]", ""))
    complaint = trimtab("load", "sized.yaml", folder=tmp_path).complaint
    assert complaint.startswith("functions.spin.code.curve is empty, must say how much work a size is")


def test_a_token_goes_with_every_call_and_into_no_report(tmp_path: Path) -> None:
    (tmp_path / "steady.yaml").write_text(STEADY)
    with serving() as server:
        result = trimtab(
            "load", "steady.yaml", "--url", server.url, "--token", "s3cret", "--seconds", "0.3", "--out", "out",
            folder=tmp_path,
        )  # fmt: skip
    assert result.code == 0, result.err
    assert server.calls
    assert all("\r\nAuthorization: Bearer s3cret\r\n" in call.head for call in server.calls)
    assert "s3cret" not in (tmp_path / "out/load.html").read_text()


@pytest.mark.parametrize(("path", "sent"), [("", True), ("/own/{function}", False)])
def test_the_token_of_the_environment_goes_to_gateways_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str, sent: bool
) -> None:
    monkeypatch.setenv("TRIMTAB_TOKEN", "s3cret")
    (tmp_path / "steady.yaml").write_text(STEADY)
    with serving() as server:
        url = server.url + path
        result = trimtab("load", "steady.yaml", "--url", url, "--seconds", "0.3", "--out", "out", folder=tmp_path)
    assert result.code == 0, result.err
    assert server.calls
    assert {"Authorization: Bearer s3cret" in call.head for call in server.calls} == {sent}


def test_a_token_that_would_break_a_header_is_refused(tmp_path: Path) -> None:
    (tmp_path / "steady.yaml").write_text(STEADY)
    complaint = trimtab("load", "steady.yaml", "--token", "a\r\nHost: b", folder=tmp_path).complaint
    assert complaint.startswith("--token must be one word of ASCII characters")
