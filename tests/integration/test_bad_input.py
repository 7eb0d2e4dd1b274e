"""Bad input: one clear line on standard error, exit code 2, nothing half-written."""

# ruff: noqa: E501 (a case is a line)

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest
from tests.commands import files, trimtab

QUICK = ("compare", "faasrank-m2", "--policies", "hashing", "--seeds", "1")
SCENARIO = """
    name: mine
    baseline: hashing
    hosts: [{name: host, count: 2, cores: 4, memory: 2 GiB}]
    functions: [{name: web, work: 100 ms}, {name: job, work: 2 s}]
    workload: {source: poisson, rate: 5 /s, duration: 60 s}
"""


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ("rates: 3", "mine.yaml: rates: unknown key, must be one of: applications, baseline,"),
        ("hosts: [{name: host, cores: 4, memory: 2 GiB, coers: 3}]",
         "mine.yaml: hosts.host.coers: unknown key, must be one of: "),
        ("hosts: [{name: host, cores: 4, memory: 2 seconds}]", "mine.yaml: hosts.host.memory = '2 seconds', must be"),
        ("functions: [{name: web, work: 100 MiB}]", "mine.yaml: functions.web.work = '100 MiB', must be"),
        ("workload: {source: poisson, rate: -5, duration: 60 s}", "mine.yaml: workload.rate = -5, must be 0 or more"),
        ("workload: {source: poisson, rate: .nan, duration: 60 s}", "mine.yaml: workload.rate = nan, must be a rate such as 5 /s, and finite"),
        ("workload: {source: poisson, rate: .inf, duration: 60 s}", "mine.yaml: workload.rate = inf, must be a rate such as 5 /s, and finite"),
        ("workload: {source: poison, rate: 5}", "mine.yaml: workload.source = 'poison', must be one of: "),
        ("functions: [{name: web}, {name: web}]", "mine.yaml: functions: name = 'web' is there twice, names must"),
        ("functions: [{name: web, memory: 4 GiB}]", "mine.yaml: functions.web.memory = 4096 MiB, must be at most"),
        ("decision: plaice", "mine.yaml: decision = 'plaice', must be one of: place, scale, route, assign, select; did"),
        ("hosts: []", "mine.yaml: hosts = [], must have at least 1 values"),
        ("hosts: [", "mine.yaml: line "),
        ("functions: []", "mine.yaml: functions = [], must have at least one for a workload of 'poisson'"),
    ],
)  # fmt: skip
def test_scenarios(change: str, line: str, tmp_path: Path) -> None:
    key = change.partition(":")[0]
    kept = [text for text in dedent(SCENARIO).splitlines() if not text.startswith(f"{key}:")]
    (tmp_path / "mine.yaml").write_text("\n".join([*kept, change]))
    assert trimtab("compare", "mine.yaml", "--seeds", "1", folder=tmp_path).complaint.startswith(line)
    assert files(tmp_path) == ["mine.yaml"]


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["compare"], "Missing argument 'SCENARIO'; trimtab compare --help"),
        (["compare", "peers-a", "--sedes", "3"], "No such option: --sedes"),
        (["compare", "peers-a", "more"], "Got unexpected extra argument"),
        (["compare", "peers-a", "--seeds"], "Option '--seeds' requires an argument"),
        (["compair", "peers-a"], "No such command 'compair'"),
        (["compare", "peers-z"], "scenario = 'peers-z', must be a .yaml file or one of: "),
        (["compare", "nowhere.yaml"], "nowhere.yaml: no such file"),
        (["compare", "."], ".: is a folder, must be a .yaml file"),
        (["compare", "peers-a", "--seeds", "0"], "--seeds = '0', must be a number from 1 to 10,000"),
        (["compare", "peers-a", "--seeds", "-3"], "--seeds = '-3', must be"),
        (["compare", "peers-a", "--seeds", "many"], "--seeds = 'many', must be"),
        (["compare", "peers-a", "--seeds", "1,1"], "--seeds = '1,1', must be different whole numbers"),
        (["compare", "peers-a", "--seeds", ","], "--seeds = ',', must be different whole numbers"),
        (["compare", "peers-a", "--jobs", "0"], "--jobs = '0', must be a whole number from 1 to 1,024"),
        (["compare", "peers-a", "--jobs", "two"], "--jobs = 'two', must be a whole number"),
        (["compare", "peers-a", "--set", "workload"], "peers-a: --set 'workload', must be KEY=VALUE"),
        (["compare", "peers-a", "--set", "workload.rtae=3"], "peers-a: workload.rtae: unknown key, must be"),
        (["compare", "peers-a", "--set", "workload.rate=fast"], "peers-a: workload.rate = 'fast', must be"),
        (["compare", "peers-a", "--set", "hosts.9.cores=3"], "peers-a: hosts.9: no element '9', must be"),
        (["compare", "peers-a", "--set", "parameters.hashing.x=1", "--policies", "hashing"],
         "policy 'hashing' has no parameters, got: x"),
        (["compare", "autoscale-fibonacci", "--set", "parameters.kpa.utilization=1", "--policies", "kpa"],
         "policy 'kpa': parameter = 'utilization', must be one of: "),
        (["compare", "peers-a", "--policies", "hashign"], "place policy = 'hashign', must be one of: "),
        (["compare", "peers-a", "--policies", ""], "--policies = '', must name at least one policy"),
        (["compare", "peers-a", "--policies", ", ,"], "--policies = ', ,', must name at least one policy"),
        (["compare", "peers-a", "--policies", "hashing,hashing"], "policy = 'hashing' is there twice"),
        (["compare", "peers-a", "--policies", "hpa"], "policy = 'hpa' is a scale policy, the decision here is place"),
        (["compare", "peers-a", "--policies", "route/closest"], "decision = 'route', this scenario has: place"),
        (["compare", "peers-a", "--policies", "none.py"], "policy file = 'none.py', must be an existing .py file"),
        (["compare", "peers-a", "--all"], "--all goes with --workload"),
        (["compare", "peers-a", "--workload", "none.csv"], "none.csv"),
        (["compare", "aset-city", "--workload", "good.csv"], "--workload: 'aset-city' takes streams of queries"),
    ],
)  # fmt: skip
def test_commands(arguments: list[str], line: str, tmp_path: Path) -> None:
    (tmp_path / "good.csv").write_text("arrival,function,work\n0,web,0.2\n")
    complaint = trimtab(*arguments, folder=tmp_path).complaint
    assert complaint.startswith(line)
    assert files(tmp_path) == ["good.csv"]


def test_did_you_mean(tmp_path: Path) -> None:
    for arguments, hint in (
        (["compare", "faasrank-cannada"], "faasrank-canada"),
        ([*QUICK[:2], "--policies", "least-conections"], "least-connections"),
        ([*QUICK, "--set", "platform.keep_alvie=3"], "keep_alive"),
    ):
        assert trimtab(*arguments, folder=tmp_path).complaint.endswith(f"did you mean {hint!r}?")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", "trace.csv: is empty"),
        ("arrival,function,work\n", "trace.csv: "),
        ("arrival,function,work\n0,web\n", "trace.csv: "),
        ("arrival,function,work\n5,web,0.2\n1,web,0.2\n", "trace.csv: "),
        ("arrival,function,work\n0,web,nan\n", "trace.csv: "),
        ("arrival,function,work\n0,web,-1\n", "trace.csv: "),
        ("arrival,function,work\n0,web,soon\n", "trace.csv: "),
        ("when,what\n0,web\n", "trace.csv: columns = what, when, must be one of these formats: Azure 2019"),
        ("minute,count\n0,5\n1,-2\n", "trace.csv: "),
        ("app,func,end_timestamp,duration\na,f,1.0\n", "trace.csv: "),
        ("TIMESTAMP,ContextTokens,GeneratedTokens\nyesterday,1,2\n", "trace.csv: "),
    ],
)
def test_traces(text: str, line: str, tmp_path: Path) -> None:
    (tmp_path / "trace.csv").write_text(text)
    complaint = trimtab(*QUICK, "--workload", "trace.csv", folder=tmp_path).complaint
    assert line in complaint
    assert files(tmp_path) == ["trace.csv"]


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ("def score(request, host):\n    return math.nan", "policy 'own' returned NaN for candidate 0, must be a"),
        ("def score(request, host):\n    return 0.0 * (1.0 / host.inflight)", "policy 'own' returned NaN for candidate"),
        ("def pick(request, hosts):\n    return 99", "policy 'own' returned 99, must be the index of a feasible"),
        ("def pick(request, hosts):\n    return -2", "policy 'own' returned -2, must be the index of a feasible"),
        ("def score(request, host):\n    return open('x')", "policy 'own' does not compile: Untyped global name 'open'"),
        ("def score(request, host):\n    return 'x'", "policy 'own' does not compile: its answer is "),
        ("def score(request, host):\n    host.inflight", "policy 'own' does not compile: its answer is none, must be"),
        ("def score(request, host):\n    return gone", "policy 'own' does not compile: NameError: name 'gone' is not"),
        ("def score(request, host):\n    return -host.inflite", "policy 'own': host.inflite, must be one of: busy, "),
        ("def score(request, host):\n    return request.true_work", "policy 'own': request.true_work, must be one of"),
        ("def pick(request, hosts):\n    return hosts[0].nosuch", "policy 'own' does not compile: there is no field"),
        ("def score(request, host):\n    host.inflight = 0\n    return 0.0", "policy 'own': sets host.inflight, must"),
        ("def score(request, host):\n    raise ValueError", "policy 'own': line 3 of 'score' raises, must return a"),
        ("def score(request, server):\n    return 1.0", "policy 'own': parameter = 'server', must be one of: request"),
    ],
)  # fmt: skip
def test_own_policies(body: str, line: str, tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(f'import math\nfrom trimtab import place\n\n@place("own")\n{body}\n')
    complaint = trimtab(*QUICK[:2], "--policies", "own.py", "--seeds", "1", folder=tmp_path).complaint
    assert complaint.startswith(line)
    assert files(tmp_path) == ["own.py"]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("x = 1\n", "policy file 'own.py' defines 0 policies, must define one"),
        ("def score(request, host)\n    return 1\n", "policy file 'own.py' fails: SyntaxError: "),
        ("import no_such_module\n", "policy file 'own.py' fails: ModuleNotFoundError: No module named"),
        ("raise ValueError('one\\ntwo')\n", "policy file 'own.py' fails: ValueError: one two"),
        ("raise SystemExit(3)\n", "policy file 'own.py' fails: SystemExit: 3"),
        ("from trimtab import place\n@place\ndef score(request, host):\n    return 1.0\n", "@place has no name, must"),
        ("from trimtab import place\n@place('a')\ndef a(host):\n    return 1.0\n@place('b')\ndef b(host):\n    return 2.0\n",
         "policy file 'own.py' defines 2 policies, must define one"),
        ("from trimtab import route\n@route('a')\ndef a(worker):\n    return 1.0\n",
         "policy = 'own.py' takes route decisions, the decision here is place"),
        ("class Mine:\n    name = 'mine'\n    def decide(self, metrics, state, now):\n        return None\n",
         "policy = 'own.py' takes scale decisions, the decision here is place"),
    ],
)  # fmt: skip
def test_files_of_own_policies(text: str, line: str, tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(text)
    complaint = trimtab(*QUICK[:2], "--policies", "own.py", folder=tmp_path).complaint
    assert complaint.startswith(line)
    assert files(tmp_path) == ["own.py"]


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ("return None", "policy 'mine' fails: TypeError: "),
        ("return metrics.nosuch, state", "policy 'mine' fails: AttributeError: "),
        ("return 1 / 0", ""),
    ],
)
def test_own_scale_policies(body: str, line: str, tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(
        "class Mine:\n    name, period, knob = 'mine', 15.0, None\n"
        f"    def decide(self, metrics, state, now):\n        {body}\n"
    )
    arguments = ["compare", "autoscale-fibonacci", "--policies", "own.py", "--seeds", "1"]
    result = trimtab(*arguments, "--set", "workload.duration=60", "--json", "-", folder=tmp_path)
    if line:
        assert result.complaint.startswith(line)
    else:  # arithmetic is guarded: the run goes on, and says so
        assert any("ZeroDivisionError in the policy" in note for note in result.json["notes"])
    assert files(tmp_path) == ["own.py"]


def test_a_plan_that_fails_late_leaves_nothing(tmp_path: Path) -> None:
    """The first policy runs well, the second returns NaN: nothing of the first is written."""
    (tmp_path / "own.py").write_text("from trimtab import place\n@place('own')\ndef a(host):\n    return 0.0 / 0.0\n")
    result = trimtab(*QUICK[:2], "--policies", "hashing,own.py", "--seeds", "1", "--out", "a/b", folder=tmp_path)
    assert result.code == 2
    assert result.err.splitlines()[-1].startswith("trimtab: error: policy 'own' returned NaN")
    assert files(tmp_path) == ["own.py"]


def test_output_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for arguments in (
        ["--out", "file"],
        ["--out", "file/below"],
        ["--out", "/proc/nowhere"],
        ["--json", "file/x.json"],
        ["--json", "."],
        ["--out", "x" * 300],
    ):
        complaint = trimtab(*QUICK, *arguments, folder=tmp_path).complaint
        assert " must be a f" in complaint, complaint
        assert files(tmp_path) == ["file"]
