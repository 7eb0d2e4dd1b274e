"""Scenario files: presets, overrides, short forms, and one clear line for every mistake."""

from __future__ import annotations

import re

import pytest

from trimtab.errors import TrimtabError
from trimtab.scenario.load import load_scenario, parse_scenario, preset_names, preset_text
from trimtab.scenario.yaml_text import LARGEST, parse_yaml

SMALL = """
name: small
hosts:
  - {name: big, cores: 4, memory: 4 GiB}
  - {name: little, count: 2, cores: 250m, memory: 512 MiB}
functions:
  - {name: fib, memory: 256 MiB, work: 100 ms}
  - {name: web, memory: 128 MiB, work: 10 ms, next: fib}
workload: {source: poisson, rate: 60 /min, duration: 10 s}
"""


def complaint(text: str | bytes, *overrides: str) -> str:
    with pytest.raises(TrimtabError) as caught:
        parse_scenario(text, overrides, "small.yaml")
    line = str(caught.value)
    assert "\n" not in line
    assert line.startswith("small.yaml: ")
    return line.removeprefix("small.yaml: ")


def test_units_become_si() -> None:
    scenario = parse_scenario(SMALL)
    assert scenario.hosts[1].cores == 0.25
    assert scenario.hosts[0].memory == 4 * 2**30
    assert scenario.functions[0].work == 0.1
    assert scenario.workload.rate == 1.0  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("override", "value"),
    [
        ("workload.rate=100", lambda s: s.workload.rate == 100),
        ("hosts.0.cores=20", lambda s: s.hosts[0].cores == 20),
        ("hosts.little.count=7", lambda s: s.hosts[1].count == 7),
        ("functions.fib.deadline=1 s", lambda s: s.functions[0].deadline == 1),
        ("functions.*.concurrency=3", lambda s: [f.concurrency for f in s.functions] == [3, 3]),
        ("platform.keep_alive.seconds=5 min", lambda s: s.platform.keep_alive.seconds == 300),
        ("functions.fib.parallelism=null", lambda s: s.functions[0].parallelism is None),
        ("parameters.hpa.target=0.5", lambda s: s.parameters == {"hpa": {"target": 0.5}}),
    ],
)
def test_overrides(override: str, value: object) -> None:
    assert value(parse_scenario(SMALL, [override]))  # type: ignore[operator]


def test_count_writes_out_copies() -> None:
    names = [function.name for function in load_scenario("peers-b").functions]
    assert len(names) == 200
    assert names[0] == "function-001"
    assert names[-1] == "function-200"


def test_base_takes_over_what_is_not_said() -> None:
    scenario = parse_scenario("{base: faasrank-canada, name: mine, workload: {calls: 7}}")
    assert scenario.name == "mine"
    assert scenario.workload.calls == 7  # type: ignore[union-attr]
    assert scenario.workload.duration == 60  # type: ignore[union-attr]
    assert len(scenario.functions) == 10


def test_base_with_another_source_keeps_nothing_of_the_old_one() -> None:
    text = "{base: faasrank-canada, name: mine, workload: {source: poisson, rate: 2, duration: 5}}"
    assert parse_scenario(text).workload.source == "poisson"


def test_invoker_models() -> None:
    plain, alone, creation = (load_scenario("faasrank-canada", [f"model={model}"]) for model in "PAG")
    # Table II: dynamic-html runs 2.34 s warm; model P has 8 times that as work, without a cap
    assert plain.functions[0].work == pytest.approx(8 * 2.34)
    assert plain.functions[0].parallelism is None
    for model in (alone, creation):
        assert model.functions[0].work == 2.34
        assert model.functions[0].parallelism == 1
    assert [plain.hosts[0].effective_cores, creation.hosts[0].effective_cores] == [None, 5]
    assert creation.platform.serial_creation
    assert not alone.platform.serial_creation


def test_own_override_wins_over_the_model() -> None:
    scenario = load_scenario("faasrank-canada", ["functions.alu.work=9", "model=A"])
    assert scenario.functions[7].work == 9


def test_every_function_of_table_two_splits_into_its_parts() -> None:
    # cold = create + init + warm for each row of Table II
    cold = [4.45, 2.20, 5.88, 6.86, 4.28, 4.99, 4.15, 5.72, 3.87, 8.57]
    scenario = load_scenario("faasrank-aws", ["model=A"])
    assert [f.create + f.init + f.work for f in scenario.functions] == pytest.approx(cold)


def test_preset_names_are_those_that_other_tools_rely_on() -> None:
    wanted = {
        "faasrank-canada", "faasrank-aws", *(f"faasrank-m{index}" for index in range(1, 11)),
        "autoscale-fibonacci", "autoscale-hotel", "aset-dc-cloud", "aset-co-dc-cloud", "aset-full-edge",
        "aset-full-edge-dynamic", "aset-city", "peers-a", "peers-b", "peers-c", "joint-edge", "assign-batch",
    }  # fmt: skip
    assert wanted <= set(preset_names())


@pytest.mark.parametrize("name", preset_names())
def test_presets_are_valid_and_say_what_they_are(name: str) -> None:
    scenario = load_scenario(name)
    assert scenario.name == name
    assert scenario.description
    assert scenario.baseline
    assert preset_text(name).startswith("#")


@pytest.mark.parametrize("name", ["aset-dc-cloud", "aset-co-dc-cloud"])
def test_topologies_have_equal_capacity(name: str) -> None:
    def total(preset: str) -> dict[str, int]:
        workers: dict[str, int] = {}
        for worker in load_scenario(preset).workers:
            workers[worker.variant] = workers.get(worker.variant, 0) + worker.count
        return workers

    assert total(name) == total("aset-full-edge")


@pytest.mark.parametrize(
    ("override", "line"),
    [
        ("workload.rate=-5", "workload.rate = -5, must be 0 or more"),
        ("workload.rate=.nan", "workload.rate = nan, must be a rate such as 5 /s, and finite"),
        ("workload.rate=.inf", "workload.rate = inf, must be a rate such as 5 /s, and finite"),
        ("workload.rate=5 furlongs", "workload.rate = '5 furlongs', must be a rate such as 5 /s"),
        ("functions.fib.work=3 MB", "functions.fib.work = '3 MB', must be a time such as 500 ms"),
        ("functions.fib.work=true", "functions.fib.work = True, must be a time"),
        ("functions.fib.memory=99 GiB", "functions.fib.memory = 101376 MiB, must be at most 4096 MiB"),
        ("functions.fib.memry=1", "functions.fib.memry: unknown key, must be one of: accuracy, batch"),
        ("workload.rat=1", "workload.rat: unknown key, must be one of: duration, rate"),
        ("workload.source=poison", "workload.source = 'poison', must be one of: poisson, bursts"),
        ("workload={}", "workload.source is missing"),
        ("workload=7", "workload = 7, must be a mapping"),
        ("hosts=[]", "hosts = [], must have at least 1"),
        ("hosts.0.count=1.5", "hosts.big.count = 1.5, must be a whole number"),
        ("hosts.0.count=0", "hosts.big.count = 0, must be 1 or more"),
        ("hosts.0.power=[1, 2]", "hosts.big: power has 2 values, must have 11"),
        ("hosts.medium.count=1", "hosts.medium: no element 'medium', must be a name or 0 to 1: big, little"),
        ("functions.fib.name=web", "functions: name = 'web' is there twice"),
        ("functions.fib.next=web", "functions.fib: calls itself in the end"),
        ("functions.fib.next=wen", "functions.fib.next = 'wen', must be one of: fib, web"),
        ("functions.fib.site=mars", "functions.fib.site = 'mars', must be one of: here"),
        ("functions.fib.distribution=normal", "functions.fib.distribution = 'normal', must be one of"),
        ("functions.fib.work_deviation=0.5", "functions.fib: work_deviation = 0.5, must be 1 for the exp"),
        ("decision=plaice", "decision = 'plaice', must be one of: place, scale"),
        ("workload.duration=0", "workload.duration = 0, must be above 0"),
        ("workload.requests=5", "workload: must have one of 'duration' and 'requests'"),
        ("workload.warm_up=10", "workload.warm_up = 10, must be below duration = 10"),
        ("control.minimum=2000", "control: minimum = 2000, must be at most maximum = 1000"),
        ("faults=[{kind: host-down}]", "faults.0: must have one of 'at' and 'rate'"),
        ("faults=[{kind: host-down, at: 1, host: 3}]", "faults.0.host = 3, must be below 3"),
        ("model=A", "model = 'A', but this scenario lists no 'models'"),
        ("name", "--set 'name', must be KEY=VALUE"),
        ("a..b=1", "--set 'a..b=1', must be KEY=VALUE"),
        ("name.x=1", "name"),
    ],
)
def test_mistakes_are_one_line_with_field_value_and_what_is_allowed(override: str, line: str) -> None:
    assert complaint(SMALL, override).startswith(line)


def test_hints() -> None:
    assert "did you mean 'memory'?" in complaint(SMALL, "functions.fib.memry=1")
    assert "did you mean 'poisson'?" in complaint(SMALL, "workload.source=poison")
    assert "did you mean 'little'?" in complaint(SMALL, "hosts.litle.count=1")
    with pytest.raises(TrimtabError, match="did you mean 'faasrank-canada'"):
        load_scenario("faasrank-canda")
    with pytest.raises(TrimtabError, match="model = 'B', must be one of: A, G, P"):
        load_scenario("faasrank-canada", ["model=B"])


def test_several_mistakes_are_counted() -> None:
    assert complaint(SMALL, "workload.rate=-5", "hosts.0.cores=-1").endswith("(and 1 more)")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", "is empty"),
        ("# only a comment", "is empty"),
        ("- a\n- b", "holds a list, must be a mapping"),
        ("just text", "holds a str, must be a mapping"),
        (b"name: \xff\xfe", "line 1: not UTF-8 text (byte 0xff)"),
        ("name: a\nname: b", "line 2: key 'name' is there twice"),
        ("name: [1, 2", "line 1: not valid YAML"),
        ("name: \x00", "not valid YAML"),
        ("{1: 2, [1]: 3}", "line 1: key = [1], must be a plain name"),
        ("name: &a [*a]", "line 1: not valid YAML: found unconstructable recursive node"),
        ("name: !!python/object/apply:os.system ['true']", "line 1: not valid YAML"),
        ("[" * 5000, "is nested too deeply"),
        ("x" * (LARGEST + 1), "size = 10,000,001 bytes"),
        ("base: nothing", "scenario = 'nothing', must be one of"),
        ("{base: [1]}", "base = [1], must be the name of a preset"),
    ],
)
def test_files_that_are_no_scenario(text: str | bytes, line: str) -> None:
    assert complaint(text).startswith(line)


def test_aliases_that_unfold_into_billions_are_refused() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 9)}]" for level in range(1, 10)]
    assert complaint("\n".join(lines)).startswith("its aliases unfold into more than")


def test_plain_aliases_are_fine() -> None:
    assert parse_yaml("{a: &x [1, 2], b: *x}") == {"a": [1, 2], "b": [1, 2]}


def test_missing_parts_are_named() -> None:
    assert complaint("{name: a, workload: {source: poisson, rate: 1, duration: 1}}").startswith("hosts is missing")


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ("platform.hibernate=true", "platform.hibernate = true with dispatch 'host', must be 'interval'"),
        ("functions.0.batch={size: 4, base: 1 ms, each: 1 ms}", "batch with dispatch 'host', must be 'cluster'"),
    ],
)
def test_platform_settings_must_go_together(changes: str, told: str) -> None:
    with pytest.raises(TrimtabError, match=re.escape(told)):
        load_scenario("faasrank-canada", [changes])
