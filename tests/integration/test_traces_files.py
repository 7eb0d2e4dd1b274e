"""Trace files in every format, right and wrong; a wrong one is one line that names file and row."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars
import pytest

from trimtab.errors import TrimtabError
from trimtab.scenario.load import load_scenario, parse_scenario
from trimtab.workload.build import build_workload
from trimtab.workload.replace import detect, replace_workload, with_trace
from trimtab.workload.table import Workload

KEYS = "HashOwner,HashApp,HashFunction"
DURATIONS = f"{KEYS},Average,Count,Minimum,Maximum," + ",".join(
    f"percentile_Average_{knot}" for knot in (0, 1, 25, 50, 75, 99, 100)
)


def azure_day(folder: Path, *, by_app: bool = False) -> Path:
    """Two functions over minutes 5 to 7: a is called 3, 0, 2 times, b none (empty), 4, 0 times."""
    (folder / "invocations_per_function_md.anon.d01.csv").write_text(
        f"{KEYS},Trigger,5,6,7\no,p,a,http,3,0,2\no,p,b,timer,,4,0\n"
    )
    (folder / "function_durations_percentiles.anon.d01.csv").write_text(
        f"{DURATIONS}\no,p,a,100,5,1,900,100,100,100,100,100,100,100\no,p,b,2000,4,1,9,0,10,500,1000,2500,6000,9000\n"
    )
    memory = (
        f"{KEYS[:-13]},AverageAllocatedMb\no,p,600\n" if by_app else f"{KEYS},AverageAllocatedMb\no,p,a,20\no,p,b,600\n"
    )
    (folder / "app_memory_percentiles.anon.d01.csv").write_text(memory)
    return folder


def trace(path: Path, seed: int = 1, scenario: str = "faasrank-canada", whole: bool = False) -> Workload:
    return replace_workload(load_scenario(scenario), str(path), seed, whole)[1]


def complaint(path: Path, scenario: str = "autoscale-fibonacci") -> str:
    with pytest.raises(TrimtabError) as caught:
        trace(path, scenario=scenario)
    line = str(caught.value)
    assert "\n" not in line
    return line


def write(folder: Path, text: str | bytes, name: str = "trace.csv") -> Path:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


@pytest.mark.parametrize("by_app", [False, True])
def test_azure_2019_day(tmp_path: Path, by_app: bool) -> None:
    scenario = with_trace(load_scenario("faasrank-canada"), str(azure_day(tmp_path, by_app=by_app)))
    workload = build_workload(scenario, 1)
    assert workload.functions == tuple(function.name for function in scenario.functions) == ("a", "b")
    assert workload.duration == 180
    minutes = (workload.arrival // 60).astype(int)
    assert np.bincount(minutes[workload.function == 0], minlength=3).tolist() == [3, 0, 2]
    assert np.bincount(minutes[workload.function == 1], minlength=3).tolist() == [0, 4, 0]
    assert workload.work[workload.function == 0] == pytest.approx(0.1)
    # 20 MB is below the floor; the memory of an app is that of each of its functions
    assert scenario.functions[0].memory == (600 if by_app else 128) * 2**20
    assert scenario.functions[1].memory == 600 * 2**20
    assert scenario.functions[1].work == 2.0


def test_azure_2019_minutes_stay_and_seeds_move_calls_inside_them(tmp_path: Path) -> None:
    folder = azure_day(tmp_path)
    one, two = trace(folder, 1), trace(folder, 2)
    assert not np.array_equal(one.arrival, two.arrival)
    assert np.array_equal(np.sort(one.arrival // 60), np.sort(two.arrival // 60))


def test_azure_2019_draws_keep_the_published_mean(tmp_path: Path) -> None:
    azure_day(tmp_path)
    calls = tmp_path / "invocations_per_function_md.anon.d01.csv"
    calls.write_text(f"{KEYS},Trigger,1\no,p,b,timer,200000\n")
    workload = trace(tmp_path)
    assert workload.work.mean() == pytest.approx(2.0, rel=0.01)


def test_azure_2019_alone_says_what_it_assumes(tmp_path: Path) -> None:
    path = write(tmp_path, f"{KEYS},Trigger,1,2\no,p,a,http,3,0\n", "invocations_per_function_md.anon.d02.csv")
    notes = " ".join(trace(path).notes)
    assert "no durations file" in notes
    assert "no memory file" in notes


@pytest.mark.parametrize(
    ("spread", "check"),
    [
        ("even", lambda gaps: np.ptp(gaps) < 1e-9),
        ("poisson", lambda gaps: 0.8 < gaps.std() / gaps.mean() < 1.2),
        ("clustered", lambda gaps: gaps.std() / gaps.mean() > 1.5),
    ],
)
def test_spread_inside_a_minute(tmp_path: Path, spread: str, check: object) -> None:
    path = write(tmp_path, f"{KEYS},Trigger,1\no,p,a,http,600\n", "invocations_per_function_md.csv")
    source = f"{{source: azure-2019, path: '{path}', spread: {spread}}}"
    text = f"{{name: t, hosts: [{{name: h, cores: 1, memory: 1 GiB}}], workload: {source}}}"
    workload = build_workload(parse_scenario(text), 1)
    assert len(workload) == 600
    assert 0 <= workload.arrival[0] <= workload.arrival[-1] < 60
    assert check(np.diff(workload.arrival))  # type: ignore[operator]


def test_azure_2019_faasrank_way(tmp_path: Path) -> None:
    rows = "\n".join(f"o,p,f{index},http," + ",".join(["3", "0"] * 30) for index in range(20))
    header = f"{KEYS},Trigger," + ",".join(str(minute) for minute in range(1, 61))
    path = write(tmp_path, f"{header}\n{rows}\n", "invocations_per_function_md.csv")
    workload = build_workload(load_scenario("faasrank-canada", [f"workload.path={path}"]), 1)
    assert len(workload) == 292
    # every other minute of these traces has calls, and so has every other second of the workload
    assert set((workload.arrival // 1).astype(int) % 2) == {0}


def test_large_days_are_sampled_by_function(tmp_path: Path) -> None:
    rows = "\n".join(f"o,p,f{index},http,1000000" for index in range(8))
    path = write(tmp_path, f"{KEYS},Trigger,1\n{rows}\n", "invocations_per_function_md.csv")
    workload = trace(path)
    assert len(workload) == 5_000_000
    assert workload.notes[0] == "5 of 8 functions drawn at random, 8,000,000 calls in all"


def test_azure_2021(tmp_path: Path) -> None:
    path = write(tmp_path, "app,func,end_timestamp,duration\nx,f,10.5,0.5\nx,g,10.2,1.2\nx,f,13,1\n")
    scenario, workload = replace_workload(load_scenario("faasrank-canada"), str(path), 1)
    # arrivals 10.0, 9.0 and 12.0, from the first one on
    assert workload.arrival == pytest.approx([0, 1, 3])
    assert workload.work == pytest.approx([1.2, 0.5, 1.0])
    assert [workload.functions[index] for index in workload.function] == ["x/g", "x/f", "x/f"]
    assert scenario.functions[workload.function[1]].work == pytest.approx(0.75)


def test_azure_llm(tmp_path: Path) -> None:
    text = "TIMESTAMP,ContextTokens,GeneratedTokens\n"
    text += "2023-11-16 18:17:03.9799600,4808,10\n2023-11-16 18:17:04.0319600,3180,8\n"
    workload = trace(write(tmp_path, text))
    assert workload.functions == ("llm",)
    assert workload.arrival == pytest.approx([0, 0.052])
    # 0.1 ms a context token, 20 ms a generated one
    assert workload.work == pytest.approx([0.4808 + 0.2, 0.318 + 0.16])


REQUESTS = "arrival,function,work\n0.5,web,0.2\n0.5,job,3\n2,web,0.4\n"


def test_requests_as_csv_and_parquet(tmp_path: Path) -> None:
    csv = write(tmp_path, REQUESTS)
    parquet = tmp_path / "trace.parquet"
    polars.read_csv(csv).write_parquet(parquet)
    for path in (csv, parquet):
        scenario, workload = replace_workload(load_scenario("faasrank-canada"), str(path), 7)
        assert workload.functions == ("web", "job")
        assert workload.arrival.tolist() == [0.5, 0.5, 2.0]
        assert workload.function.tolist() == [0, 1, 0]
        assert workload.work.tolist() == [0.2, 3.0, 0.4]
        assert scenario.functions[0].work == pytest.approx(0.3)


def test_requests_follow_the_scenario_s_own_functions(tmp_path: Path) -> None:
    path = write(tmp_path, REQUESTS)
    text = "{name: t, hosts: [{name: h, cores: 1, memory: 1 GiB}], functions: [{name: job}, {name: web}], "
    workload = build_workload(parse_scenario(text + f"workload: {{source: requests, path: '{path}'}}}}"), 1)
    assert workload.functions == ("job", "web")
    assert workload.function.tolist() == [1, 0, 1]
    missing = text.replace("web", "wed") + f"workload: {{source: requests, path: '{path}'}}}}"
    with pytest.raises(TrimtabError, match="the trace calls 'web', which the scenario's functions lack"):
        build_workload(parse_scenario(missing), 1)


@pytest.mark.parametrize("label", [str, lambda i: f"1998-05-01 {i // 60:02d}:{i % 60:02d}:00"])
def test_counts_scale_to_the_peak_of_the_scenario(tmp_path: Path, label: object) -> None:
    minutes = [index for index in range(1000) if index != 500]
    rows = "\n".join(f"{label(index)},{100 if index < 990 else 400}" for index in minutes)  # type: ignore[operator]
    workload = trace(write(tmp_path, f"minute,count\n{rows}\n"), scenario="autoscale-fibonacci", whole=True)
    per_minute = np.histogram(workload.arrival, 1000, (0, 60_000))[0]
    # the 99.9th-percentile minute (400) has 250 a second, the others a quarter, the missing one nothing
    assert per_minute[990:].mean() == pytest.approx(250 * 60, rel=0.01)
    assert per_minute[:500].mean() == pytest.approx(250 * 60 / 4, rel=0.01)
    assert per_minute[500] == 0
    assert "1 missing minutes taken as no load" in workload.notes
    assert workload.functions == ("fibonacci",)


def test_counts_a_second_and_gaps_over_an_hour(tmp_path: Path) -> None:
    seconds = [*range(600), *range(8000, 8600)]
    rows = "\n".join(f"{second},10" for second in seconds)
    workload = trace(write(tmp_path, f"second,count\n{rows}\n"), scenario="faasrank-canada")
    assert workload.duration == 1200
    assert "1 gaps over an hour cut out, 2.1 h in all" in workload.notes
    # 292 calls in 60 s are 4.87 a second
    assert len(workload) == pytest.approx(1200 * 292 / 60, rel=0.06)


def test_long_counts_become_evenly_spaced_windows(tmp_path: Path) -> None:
    rows = "\n".join(f"{minute},100" for minute in range(6000))
    path = write(tmp_path, f"minute,count\n{rows}\n")
    workload = trace(path, scenario="autoscale-fibonacci")
    # a window of two hours at 250 a second has 1.8 million requests: two of them
    assert workload.duration == 2 * 7200
    assert len(workload) == pytest.approx(3_600_000, rel=0.01)
    assert any("2 evenly spaced two-hour windows of 100.0 h" in note for note in workload.notes)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", "is empty"),
        ("arrival,function,work\n", "has no rows"),
        ("arrival,function,work\n1,a,0.5\n2,a", "row 2: work is empty, is the file truncated?"),
        ("arrival,function,work\n1,a,0.5\n2,a,x", "row 2: work = 'x', must be a number"),
        ("arrival,function,work\n1,a,nan", "row 1: work = nan, must be finite and 0 or more"),
        ("arrival,function,work\n1,a,inf", "row 1: work = inf, must be finite and 0 or more"),
        ("arrival,function,work\n1,a,-2", "row 1: work = -2, must be finite and 0 or more"),
        ("arrival,function,work\n-1,a,2", "row 1: arrival = -1, must be finite and 0 or more"),
        ("arrival,function,work\n5,a,1\n3,a,1", "row 2: arrival = 3.0 is before 5.0 in the row above"),
        ("arrival,function,werk\n5,a,1", "column 'work' is missing; did you mean 'werk'?"),
        ("arrival,function,work\n1,\xe9\xff,2".encode("latin-1"), "not UTF-8 text"),
        ("minute,count\n1,5\n1,6", "row 2: minute = 1 is not after 1 in the row above"),
        ("minute,count\n2,5\n1,6", "row 2: minute = 1 is not after 2 in the row above"),
        ("minute,count\n1,-5", "row 1: count = -5, must be finite and 0 or more"),
        ("minute,count\n1,many", "row 1: count = 'many', must be a number"),
        ("minute,count\nsoon,5", "row 1: minute = 'soon', must be a time such as"),
        ("minute,count\n1,0\n2,0", "the series has no requests at all"),
        ("minute,count\n1,5\n99999999999,5\n", None),
        ("TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:04,1,1\n2023-11-16 18:17:03,1,1",
         "row 2: TIMESTAMP = 2023-11-16 18:17:03 is before 2023-11-16 18:17:04"),
        ("TIMESTAMP,ContextTokens,GeneratedTokens\nnow,1,1", "row 1: TIMESTAMP = 'now', must be a time"),
        ("TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:04,-1,1", "ContextTokens = -1"),
        ("app,func,end_timestamp,duration\na,f,5,-1", "row 1: duration = -1, must be finite and 0 or more"),
        ("app,func,end_timestamp,duration\na,f,5", "row 1: duration is empty"),
        (f"{KEYS},Trigger,1,2\no,p,f,http,1,-3", "row 1: minute 2 = -3, must be 0 or more"),
        (f"{KEYS},Trigger,1,2\no,p,f,http,1,x", "2 = 'x', must be a whole number"),
        (f"{KEYS},Trigger,1,2\no,p,f,http,1,99999999999", "2 = '99999999999', must be a whole number"),
        (f"{KEYS},Trigger,1,2\no,p,f,http,0,0", "no calls"),
        (f"{KEYS},Trigger,1,2\no,p,f,http,1,1\no,p", "is it truncated?"),
        (f"{DURATIONS}\n", "must be one of these formats: Azure 2019"),
        ("a,b\n1,2", "columns = a, b, must be one of these formats: Azure 2019"),
        (b"\x00\x01\x02\xff", ""),
    ],
)  # fmt: skip
def test_wrong_files_are_one_line(tmp_path: Path, text: str | bytes, line: str | None) -> None:
    path = write(tmp_path, text)
    if line is None:  # a gap of years is a gap like any other
        assert trace(path, scenario="autoscale-fibonacci").duration == 120
        return
    said = complaint(path)
    assert line in said
    assert str(path) in said or "series" in said or "no calls" in said


def test_negative_durations_of_azure_are_refused(tmp_path: Path) -> None:
    azure_day(tmp_path)
    write(
        tmp_path,
        f"{DURATIONS}\no,p,a,-4,5,1,9,1,1,1,1,1,1,1\n",
        "function_durations_percentiles.anon.d01.csv",
    )
    assert "Average = -4, must be finite and 0 or more" in complaint(tmp_path)


def test_folders(tmp_path: Path) -> None:
    assert "must hold an Azure 2019 day or exactly one trace (has: none)" in complaint(tmp_path)
    write(tmp_path, REQUESTS)
    assert detect(str(tmp_path)).source == "requests"
    write(tmp_path, REQUESTS, "other.csv")
    assert "(has: other.csv, trace.csv)" in complaint(tmp_path)


def test_paths_are_looked_up_in_the_traces_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, REQUESTS)
    monkeypatch.delenv("TRIMTAB_TRACES", raising=False)
    with pytest.raises(TrimtabError, match=r"no such file or folder \(set TRIMTAB_TRACES"):
        detect("trace.csv")
    monkeypatch.setenv("TRIMTAB_TRACES", str(tmp_path))
    assert detect("trace.csv").source == "requests"


def test_streams_take_no_trace(tmp_path: Path) -> None:
    assert "takes streams of queries" in complaint(write(tmp_path, REQUESTS), "aset-full-edge")


def test_a_changed_file_is_read_again(tmp_path: Path) -> None:
    path = write(tmp_path, REQUESTS)
    assert len(trace(path)) == 3
    write(tmp_path, REQUESTS + "3,web,1\n")
    assert len(trace(path)) == 4


def test_listed_functions_do_not_go_with_hashes(tmp_path: Path) -> None:
    text = "{name: t, hosts: [{name: h, cores: 1, memory: 1 GiB}], functions: [{name: job}], "
    with pytest.raises(TrimtabError, match="must be left out for a workload of 'azure-2019'"):
        parse_scenario(text + f"workload: {{source: azure-2019, path: '{azure_day(tmp_path)}'}}}}")
