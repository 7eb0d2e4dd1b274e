"""HPA against worked examples of the published formulas."""

from __future__ import annotations

import pytest
from scale_builders import seen

from trimtab.errors import TrimtabError
from trimtab.policies.scale.behaviour import (
    Behaviour,
    History,
    RateLimit,
    Rules,
    constrain,
    down_limit,
    parse,
    stabilise,
    up_limit,
)
from trimtab.policies.scale.hpa import Hpa, utilisation
from trimtab.policies.scale.hpa_inflight import HpaInflight

UP_AT_ONCE = Rules(0.0, (RateLimit("percent", 900),))
DOWN_AT_ONCE = Rules(0.0, (RateLimit("percent", 100),))
FREE = Behaviour(up=UP_AT_ONCE, down=DOWN_AT_ONCE)


@pytest.mark.parametrize(
    ("name", "target", "metrics", "expected"),
    [
        # 2.7 of 3 cores = 90 %; 90 / 50 = 1.8; ceil(1.8 x 3 = 5.4) = 6
        ("up", 50, {"ready": 3, "cpu_cores": 2.7}, 6),
        # 0.6 / 3 = 20 %; 20 / 50 = 0.4; ceil(0.4 x 3 = 1.2) = 2
        ("down", 50, {"ready": 3, "cpu_cores": 0.6}, 2),
        # 55 % / 50 % = 1.1: just within the tolerance of 0.1
        ("tolerated above", 50, {"ready": 10, "cpu_cores": 5.5}, 10),
        # 56 % / 50 % = 1.12; ceil(11.2) = 12
        ("not tolerated above", 50, {"ready": 10, "cpu_cores": 5.6}, 12),
        # 45 % / 50 % = 0.9: just within
        ("tolerated below", 50, {"ready": 10, "cpu_cores": 4.5}, 10),
        # 44 % / 50 % = 0.88; ceil(8.8) = 9
        ("not tolerated below", 50, {"ready": 10, "cpu_cores": 4.4}, 9),
        # 55.9 % is 55 for the controller, which has whole per cents: tolerated
        ("whole per cents", 50, {"ready": 10, "cpu_cores": 5.59}, 10),
        # ready: 3.6 of 4 = 90 %, ratio 1.8. With 2 unready at 0: 3.6 of 6 = 60 %, 1.2; ceil(1.2 x 6) = 8
        ("unready count 0 on the way up", 50, {"ready": 4, "starting": 2, "cpu_cores": 3.6}, 8),
        # ready 90 %, ratio 1.8. With 4 unready: 45 %, 0.9: in tolerance, keep 8
        ("unready bring it into tolerance", 50, {"ready": 4, "starting": 4, "cpu_cores": 3.6}, 8),
        # ready 90 %, ratio 1.8. With 6 unready: 36 %, 0.72 < 1: the direction turns, keep 10
        ("unready turn the direction", 50, {"ready": 4, "starting": 6, "cpu_cores": 3.6}, 10),
        # ready 0.8 of 4 = 20 %, ratio 0.4: unready are left out on the way down: ceil(0.4 x 4) = 2
        ("unready left out on the way down", 50, {"ready": 4, "starting": 2, "cpu_cores": 0.8}, 2),
        # 0.9 of 3 x 0.5 cores = 60 %; 60 / 80 = 0.75; ceil(2.25) = 3
        ("request of half a core", 80, {"ready": 3, "cpu_cores": 0.9, "cpu_limit": 0.5}, 3),
    ],
)
def test_proposal(name, target, metrics, expected):
    assert Hpa(target=target).propose(seen(**metrics)) == expected, name


def test_utilisation_is_whole_per_cent_of_whole_millicores():
    assert utilisation(0.5599, 1.0, 1) == 56  # 560m of 1000m
    assert utilisation(0.5594, 1.0, 1) == 55  # 559m of 1000m


def test_no_ready_pod_is_no_data():
    answer, _ = Hpa().decide(seen(ready=0, starting=2), None, 0.0)
    assert not answer.valid


def test_no_window_is_no_data():
    answer, _ = Hpa().decide(seen(window=0.0), None, 0.0)
    assert not answer.valid
    answer, _ = HpaInflight().decide(seen(window=0.0), None, 0.0)
    assert not answer.valid


def test_from_zero_cpu_has_no_utilisation_and_comes_up_with_the_minimum():
    answer, _ = Hpa(minimum=2).decide(seen(ready=0), None, 0.0)
    assert answer.instances == 2


def test_from_zero_inflight_has_no_tolerance():
    # ceil(3 / 0.7) = ceil(4.29) = 5, but 4 pods / 15 s from 0: 0 + 4 = 4, 100 % of 0: 0; max 4
    answer, _ = HpaInflight(minimum=0).decide(seen(ready=0, inflight=3.0), None, 0.0)
    assert answer.instances == 4
    answer, _ = HpaInflight(minimum=0, behaviour=FREE).decide(seen(ready=0, inflight=0.0), None, 0.0)
    assert answer.instances == 0


@pytest.mark.parametrize(
    ("inflight", "ready", "starting", "concurrency", "expected"),
    [
        # ratio 8 / (0.5 x 10) = 1.6; ceil(8 / 0.5) = 16, whatever the count
        (8.0, 10, 0, 1, 16),
        # 5.5 / 5 = 1.1: tolerated
        (5.4, 10, 0, 1, 10),
        # pods on their way count: 8 / (0.5 x 16) = 1: tolerated
        (8.0, 10, 6, 1, 16),
        # target 0.5 x 10 = 5: ceil(12 / 5) = 3
        (12.0, 10, 0, 10, 3),
    ],
)
def test_inflight_proposal(inflight, ready, starting, concurrency, expected):
    metrics = seen(inflight=inflight, ready=ready, starting=starting, concurrency=concurrency)
    assert HpaInflight(utilisation=0.5).propose(metrics) == expected


def test_down_waits_for_the_largest_proposal_of_five_minutes_to_pass():
    policy, state = Hpa(target=50), None
    busy, idle = seen(ready=4, cpu_cores=2.0), seen(ready=4, cpu_cores=0.4)
    # At 0 s 50 % is on target: proposal 4. From 15 s on 10 %: ceil(0.2 x 4) = 1.
    answers = {}
    for tick in range(22):
        answer, state = policy.decide(busy if tick == 0 else idle, state, 15.0 * tick)
        answers[15 * tick] = answer.instances
    assert answers[285] == 4
    assert answers[300] == 1  # the proposal at 0 s is no longer younger than 300 s


def test_default_rate_up_is_the_larger_of_four_pods_and_double():
    policy = Hpa(target=10)
    # 100 % against 10 %: proposal 10 x. From 1: max(1 + 4, 2) = 5. From 6: max(10, 12) = 12.
    assert policy.decide(seen(ready=1, cpu_cores=1.0), None, 0.0)[0].instances == 5
    assert policy.decide(seen(ready=6, cpu_cores=6.0), None, 0.0)[0].instances == 12


def test_rate_limit_counts_what_the_period_has_seen():
    policy = Hpa(target=10, period=5.0)
    answer, state = policy.decide(seen(ready=1, cpu_cores=1.0), None, 0.0)
    assert answer.instances == 5
    # 5 s later: start of the period = 5 - 4 = 1, so still max(1 + 4, 2) = 5.
    answer, state = policy.decide(seen(ready=5, cpu_cores=5.0), state, 5.0)
    assert answer.instances == 5
    # 15 s later the event has left the period: start = 5, max(9, 10) = 10.
    answer, state = policy.decide(seen(ready=5, cpu_cores=5.0), state, 15.0)
    assert answer.instances == 10


def test_limits_by_hand():
    history = History(ups=((90.0, 3),), downs=((95.0, 1),))
    # At 100 s, current 10: last 15 s added 3, removed 1: start = 10 - 3 + 1 = 8.
    pods, percent = RateLimit("pods", 4), RateLimit("percent", 50)
    assert up_limit(Rules(0.0, (pods, percent)), history, 10, 100.0) == 12  # max(8 + 4, ceil(12))
    assert up_limit(Rules(0.0, (RateLimit("pods", 3), percent), "min"), history, 10, 100.0) == 11
    assert down_limit(Rules(0.0, (pods, percent)), history, 10, 100.0) == 4  # min(8 - 4, int(4))
    # max(8 - 1, int(8 x 0.5)) = 7: min selects the least change
    assert down_limit(Rules(0.0, (RateLimit("pods", 1), percent), "min"), history, 10, 100.0) == 7
    # A period of 7 s has seen the removal only: start = 10 + 1 = 11.
    assert up_limit(Rules(0.0, (RateLimit("pods", 4, 7.0),)), history, 10, 100.0) == 15
    assert up_limit(Rules(0.0, (pods,), "disabled"), history, 10, 100.0) == 10
    assert down_limit(Rules(0.0, (pods,), "disabled"), history, 10, 100.0) == 10


def test_percent_rounds_up_upwards_and_is_cut_downwards():
    nothing = History()
    # 5 x 1.1 = 5.5 -> 6 up; 5 x 0.9 = 4.5 -> 4 down
    assert up_limit(Rules(0.0, (RateLimit("percent", 10),)), nothing, 5, 0.0) == 6
    assert down_limit(Rules(0.0, (RateLimit("percent", 10),)), nothing, 5, 0.0) == 4


def test_a_limit_beyond_the_current_count_stops_but_never_turns():
    # 6 were added 5 s ago: start = 10 - 6 = 4, limit 4 + 4 = 8 < 10: stay at 10, do not go down.
    history = History(ups=((0.0, 6),))
    behaviour = Behaviour(up=Rules(0.0, (RateLimit("pods", 4),)))
    assert constrain(behaviour, history, 10, 20, 5.0)[0] == 10


def test_stabilise_takes_the_least_of_the_up_and_the_most_of_the_down_window():
    behaviour = Behaviour(up=Rules(60.0, UP_AT_ONCE.policies), down=Rules(300.0, DOWN_AT_ONCE.policies))
    proposals = ((0.0, 9), (100.0, 7), (150.0, 6))
    # At 200 s: up window (140, 200] has 6; down window has 9, 7, 6.
    assert stabilise(behaviour, proposals, 5, 8, 200.0) == 6  # raised to min(8, 6)
    assert stabilise(behaviour, proposals, 12, 4, 200.0) == 9  # lowered to max(4, 9)
    assert stabilise(behaviour, proposals, 8, 4, 200.0) == 8  # between 4 and 9: stays


def test_bounds():
    policy = Hpa(target=50, minimum=2, maximum=5, behaviour=FREE)
    assert policy.decide(seen(ready=3, cpu_cores=3.0), None, 0.0)[0].instances == 5  # wants 6
    assert policy.decide(seen(ready=3, cpu_cores=0.0), None, 0.0)[0].instances == 2  # wants 0
    assert policy.decide(seen(ready=9, cpu_cores=9.0), None, 0.0)[0].instances == 5  # repaired first
    assert policy.decide(seen(ready=1, cpu_cores=0.5), None, 0.0)[0].instances == 2


def test_behaviour_as_it_stands_in_a_manifest():
    given = {
        "scaleUp": {
            "stabilizationWindowSeconds": 30,
            "policies": [{"type": "Percent", "value": 900, "periodSeconds": 60}],
            "selectPolicy": "Min",
        }
    }
    behaviour = parse(given)
    assert behaviour.up == Rules(30, (RateLimit("percent", 900, 60),), "min")
    assert behaviour.down == Behaviour().down
    assert Hpa(behaviour=given).behaviour == behaviour


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"target": 0}, "target = 0, must be a whole number of at least 1"),
        ({"target": "80"}, "target = '80', must be a finite number"),
        ({"tolerance": -0.1}, "tolerance = -0.1, must be at least 0"),
        ({"minimum": 4, "maximum": 3}, "maximum = 3, must be a whole number of at least 4"),
        ({"behaviour": {"scaleUp": {"selectPolicy": "most"}}}, "selectPolicy = 'most', must be one of"),
        ({"behaviour": {"up": {}}}, "must be one of: scaleDown, scaleUp"),
        ({"behaviour": {"scaleUp": {"policies": []}}}, "policies = .*, must be at least one policy"),
        ({"behaviour": {"scaleUp": {"policies": 4}}}, "must be a list of policies"),
        ({"behaviour": 3}, "behaviour = 3, must be a mapping"),
    ],
)
def test_wrong_parameters(parameters, message):
    with pytest.raises(TrimtabError, match=message):
        Hpa(**parameters)
