"""Verdicts by worked numbers."""

from __future__ import annotations

import json
import math

import pytest

from trimtab.errors import TrimtabError
from trimtab.papers.claim import Claim, NotTestable, Verdict, decide
from trimtab.papers.criterion import (
    Above,
    AtLeast,
    Below,
    Criterion,
    Effect,
    Equals,
    Measurement,
    NotAbove,
    NotBelow,
    Within,
)
from trimtab.papers.measure import change_of_means, difference, mean, reduction, resampled
from trimtab.papers.reproduction import PAPERS, find

YES, NO, UNKNOWN = True, False, None


@pytest.mark.parametrize(
    ("criterion", "measured", "met"),
    [
        # the paper's 9.25 %: contained; as large and beyond chance; smaller; opposite; maybe nothing at all
        (Effect(9.25), Measurement(12.0, 8.0, 16.0), YES),
        (Effect(9.25), Measurement(20.0, 15.0, 25.0), YES),
        (Effect(9.25), Measurement(5.0, 2.0, 8.0), NO),
        (Effect(9.25), Measurement(-5.0, -8.0, -2.0), NO),
        (Effect(9.25), Measurement(3.0, -1.0, 7.0), NO),
        (Effect(9.25), Measurement(9.25), YES),  # one seed: by the value alone
        (Effect(9.25), Measurement(9.0), NO),
        (Effect(59.62, neutral=50.0), Measurement(80.0, 70.0, 90.0), YES),
        (Effect(59.62, neutral=50.0), Measurement(8.0, 2.0, 14.0), NO),
        (Above(0.0), Measurement(1.0, 0.1, 1.9), YES),
        (Above(0.0), Measurement(1.0, -0.1, 2.1), NO),
        (Above(0.0), Measurement(-1.0, -1.5, -0.5), NO),
        (Above(0.0, 3.0), Measurement(1.0, -9.0, 11.0), UNKNOWN),
        (Above(0.0, 3.0), Measurement(1.0, -0.1, 2.1), NO),
        (Below(50.0), Measurement(0.001, 0.0005, 0.002), YES),
        (Below(50.0), Measurement(49.0, 40.0, 58.0), NO),
        (Below(1.0), Measurement(1.0), NO),
        (NotAbove(0.0, 3.0), Measurement(0.5, -1.0, 2.0), YES),
        (NotAbove(0.0, 3.0), Measurement(2.0, 1.0, 3.0), NO),
        (NotAbove(0.0, 3.0), Measurement(0.5, -9.0, 10.0), UNKNOWN),  # so wide that it says nothing
        (NotBelow(0.0, 3.0), Measurement(-0.5, -2.0, 1.0), YES),
        (NotBelow(0.0, 3.0), Measurement(-4.0, -5.0, -3.0), NO),
        (NotBelow(0.0, 3.0), Measurement(1.0), UNKNOWN),  # one seed has no interval
        (Within(1000.0, 2000.0), Measurement(1500.0), YES),
        (Within(1000.0, 2000.0), Measurement(2001.0), NO),
        (AtLeast(7), Measurement(7.0, 5.0, 9.0), YES),
        (AtLeast(7), Measurement(6.0, 5.0, 9.0), NO),
        (Equals(2818), Measurement(2818.0), YES),
        (Equals(2818), Measurement(1409.0), NO),
    ],
)
def test_criteria(criterion: Criterion, measured: Measurement, met: bool | None) -> None:
    found, why = criterion.judge(measured)
    assert found is met
    assert why
    assert criterion.words


def test_a_smaller_effect_says_that_it_is_smaller() -> None:
    assert Effect(9.25).judge(Measurement(5.0, 2.0, 8.0))[1] == "same direction, but smaller than in the paper"
    assert Effect(59.62, neutral=50.0).judge(Measurement(8.0, 2.0, 14.0))[1] == "the opposite direction"


def claim(criterion: Criterion, measured: Measurement | NotTestable) -> Claim[None]:
    def measure(results: None) -> Measurement:
        if isinstance(measured, NotTestable):
            raise measured
        return measured

    return Claim("one", "it is faster", "Fig. 1", 9.25, criterion, measure, "%")


def test_a_finding_holds_all_that_the_result_file_needs() -> None:
    measured = Measurement(12.3456789, 10.0, 14.0, "a remark")
    entry = claim(Effect(9.25), measured).decide(None).as_json()
    assert entry == {
        "id": "one", "claim": "it is faster", "where": "Fig. 1", "paper": 9.25, "measured": 12.3457,
        "ci95": [10.0, 14.0], "unit": "%", "criterion": Effect(9.25).words, "verdict": "reproduced",
        "why": "same direction, larger than in the paper; a remark",
    }  # fmt: skip
    json.dumps(entry, allow_nan=False)


def test_what_cannot_be_measured_is_not_testable() -> None:
    findings = decide(
        [claim(Above(), NotTestable("not trained")), claim(NotAbove(0.0, 1.0), Measurement(0.0, -5.0, 5.0))], None
    )
    assert [finding.verdict for finding in findings] == [Verdict.UNTESTABLE, Verdict.UNTESTABLE]
    assert findings[0].why == "not trained"
    assert findings[0].measured is None
    assert "more seeds" in findings[1].why


def test_a_figure_may_stand_beside_what_is_not_testable() -> None:
    assert claim(Above(), NotTestable("real hours", 0.05)).decide(None).measured == 0.05


def test_means_and_differences_are_paired_by_seed() -> None:
    # 1, 2, 3: mean 2, s = 1, t(0.975, 2) = 4.3027, so 2 ± 2.4841
    found = difference({1: 11.0, 2: 12.0, 3: 13.0, 9: 0.0}, {1: 10.0, 2: 10.0, 3: 10.0})
    assert found.value == 2.0
    assert found.low == pytest.approx(2.0 - 2.4841, abs=1e-4)
    # 10 % below on each of two seeds: no spread
    found = reduction({1: 90.0, 2: 180.0}, {1: 100.0, 2: 200.0})
    assert found.value == pytest.approx(10.0)
    assert mean([5.0]).low is None


def test_no_ratio_to_zero_and_no_mean_of_nothing() -> None:
    with pytest.raises(NotTestable, match="zero"):
        reduction({1: 1.0}, {1: 0.0})
    with pytest.raises(NotTestable):
        mean({})


def test_counts_are_resampled_over_seeds() -> None:
    sure = resampled(lambda seeds: float(len(seeds)), [1, 2, 3])
    assert (sure.value, sure.low, sure.high) == (3.0, 3.0, 3.0)
    values = {1: 0.0, 2: 10.0}
    found = resampled(lambda seeds: sum(values[seed] for seed in seeds) / len(seeds), [1, 2])
    assert (found.value, found.low, found.high) == (5.0, 0.0, 10.0)
    assert found == resampled(lambda seeds: sum(values[seed] for seed in seeds) / len(seeds), [1, 2])


def test_change_of_means_is_welchs() -> None:
    # variances 1 and 1 over 3 each: s = √(2/3), 4 degrees of freedom, t = 2.7764
    found = change_of_means([1.0, 2.0, 3.0], [5.0, 6.0, 7.0])
    assert found.value == 4.0
    assert found.low == pytest.approx(4.0 - 2.7764 * math.sqrt(2 / 3), abs=1e-3)


def test_papers_are_found_by_name() -> None:
    for name in PAPERS:
        paper = find(name)
        assert paper.name == name
        assert len(paper.quick.seeds) <= len(paper.full.seeds)
        assert not paper.quick.train
        assert paper.full.train
    with pytest.raises(TrimtabError, match="did you mean 'faasrank'"):
        find("fasrank")


def test_every_claim_has_its_own_id() -> None:
    from trimtab.papers.aset.claims import CLAIMS as ASET
    from trimtab.papers.autoscale.claims import CLAIMS as AUTOSCALE
    from trimtab.papers.faasrank.claims import CLAIMS as FAASRANK
    from trimtab.papers.metanet.claims import CLAIMS as METANET

    for claims in (FAASRANK, ASET, AUTOSCALE, METANET):
        names = [each.id for each in claims]
        assert len(set(names)) == len(names)
        assert all(each.criterion.words and each.where for each in claims)


def test_shares_of_the_time_that_a_policy_was_in_use() -> None:
    from trimtab.papers.aset.claims import shares_of

    # measured from 100 s to 200 s: 60 s of one, 40 s of the other, what was before does not count
    bands = [(0.0, "closest"), (160.0, "cheaper")]
    assert shares_of(bands, 100.0, 100.0) == pytest.approx({"closest": 0.6, "cheaper": 0.4})
    assert shares_of([], 100.0, 100.0) == {}
