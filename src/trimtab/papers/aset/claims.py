"""Every claim of the ASET paper: the rule that decides it, beside how it is measured.

The paper's text has no numbers, so each claim is given a numerical rule here. "The best static policy" is the best in
hindsight, on the very seeds of the comparison: a harder rival than a policy chosen beforehand.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from trimtab.papers.aset import reported
from trimtab.papers.aset.experiments import DYNAMIC, Results, Sample, Setting
from trimtab.papers.claim import Claim, NotTestable
from trimtab.papers.criterion import Above, AtLeast, Below, Measurement, NotAbove, NotBelow, Within
from trimtab.papers.measure import difference, mean

FULL: Setting = ("full-edge", reported.RATE)
DC: Setting = ("dc-cloud", reported.RATE)
CO: Setting = ("co-dc-cloud", reported.RATE)
_USED = 0.05
"""Share of the time from which on a policy counts as used by the agent."""

Measure = Callable[[Results], Measurement]


def beaten_applications(results: Results) -> Measurement:
    """For the static policy that is beaten on the fewest applications: on how many it is, beyond chance."""
    runs = {name: results.of((DYNAMIC, 0), name) for name in reported.STATIC}
    applications = list(next(iter(next(iter(runs.values())).values())).applications)
    beaten = {
        name: sum(
            any(
                difference(_success_of(runs[other], each), _success_of(runs[name], each)).bounds[0] > 0.0
                for other in reported.STATIC
                if other != name
            )
            for each in applications
        )
        for name in reported.STATIC
    }
    least = min(beaten, key=beaten.__getitem__)
    best = {_best_for(runs, each) for each in applications}
    return Measurement(
        float(beaten[least]),
        remark=f"{least} is beaten on {beaten[least]} of {len(applications)} applications, every other static policy "
        f"on more or as many; {len(best)} policies are the best for some application",
    )


def spread_ratio(results: Results) -> Measurement:
    """Best minus worst static policy on dc-cloud, as a share of the same on full-edge."""
    at_edge, in_cloud = _spread(results, FULL), _spread(results, DC)
    whole = float(np.mean(list(at_edge.values())))
    remark = f"{np.mean(list(in_cloud.values())):.1f} points between best and worst, {whole:.1f} on full-edge"
    if whole == 0.0:
        raise NotTestable("the static policies do not differ on full-edge")
    return mean({seed: in_cloud[seed] / whole for seed in in_cloud}, remark)


def gain(setting: Setting) -> Measure:
    """The agent's success minus that of the best static policy, in points."""

    def measure(results: Results) -> Measurement:
        ours = results.success(setting, "aset")
        best = results.best_static(setting)
        theirs = results.success(setting, best)
        remark = f"{np.mean(list(ours.values())):.1f} % against {np.mean(list(theirs.values())):.1f} % of {best}"
        return difference(ours, theirs, remark=remark)

    return measure


def higher_everywhere(results: Results) -> Measurement:
    """The least gain of any policy from moving resources to central offices, in points."""
    names = [*reported.STATIC, *(["aset"] if "aset" in results.runs[CO] and "aset" in results.runs[DC] else [])]
    gains = {name: difference(results.success(CO, name), results.success(DC, name)) for name in names}
    least = min(gains, key=lambda name: gains[name].bounds[0])
    found = gains[least]
    others = f"{min(each.value for each in gains.values()):.1f} to {max(each.value for each in gains.values()):.1f}"
    with_agent = "" if "aset" in names else ", without the agent: not trained"
    remark = f"of {len(names)} policies {least} gains least; all gain {others} points{with_agent}"
    return Measurement(found.value, found.low, found.high, remark)


def windows_above(results: Results) -> Measurement:
    """Percent of the windows in which the agent is above every static policy, all seeds together."""
    ours = results.over_time(FULL, "aset")
    theirs = np.max([results.over_time(FULL, name) for name in reported.STATIC], axis=0)
    return Measurement(float(100.0 * np.mean(ours > theirs)), remark=f"{len(ours)} windows")


def rejection_difference(results: Results) -> Measurement:
    """The agent's rejected share minus that of the best static policy, in points."""
    best = results.best_static(FULL)
    ours, theirs = _share(results, "aset", "rejected"), _share(results, best, "rejected")
    return difference(ours, theirs, remark=f"against {best}")


def failure_difference(results: Results) -> Measurement:
    """The agent's failed share (served in violation of a requirement) minus the best static policy's, in points."""
    best = results.best_static(FULL)
    ours = {seed: 100.0 * each.failed for seed, each in results.of(FULL, "aset").items()}
    theirs = {seed: 100.0 * each.failed for seed, each in results.of(FULL, best).items()}
    return difference(ours, theirs, remark=f"against {best}")


def worst_of_sweep(results: Results) -> Measurement:
    """Over the client rates that were run: the least gain over the best static policy of that rate, in points."""
    rates = sorted(rate for topology, rate in results.runs if topology == "full-edge")
    gains = {rate: gain(("full-edge", rate))(results) for rate in rates}
    least = min(gains, key=lambda rate: gains[rate].bounds[1])
    found = gains[least]
    every = ", ".join(f"{rate}: {gains[rate].value:+.1f}" for rate in rates)
    return Measurement(found.value, found.low, found.high, f"least at λ = {least}; points by λ {every}")


def query_rate(rate: int) -> Measure:
    """Queries a second that arrive."""

    def measure(results: Results) -> Measurement:
        policy = reported.STATIC[0]
        return mean({seed: each.rate for seed, each in results.of(("full-edge", rate), policy).items()})

    return measure


def policies_used(results: Results) -> Measurement:
    """How many policies the agent uses for at least 5 % of the time, on the topology where it uses fewer."""
    counts = {}
    for setting in (DC, FULL):
        run = results.of(setting, "aset")[results.seeds[0]]
        counts[setting[0]] = len([share for share in shares_of(run.bands, results.begin).values() if share >= _USED])
    fewest = min(counts, key=counts.__getitem__)
    return Measurement(float(counts[fewest]), remark=", ".join(f"{name}: {count}" for name, count in counts.items()))


def shares_of(bands: list[tuple[float, str]], begin: float, length: float = 600.0) -> dict[str, float]:
    """Share of the time that each policy was in use."""
    ends = [moment for moment, _ in bands[1:]] + [begin + length]
    found: dict[str, float] = {}
    for (start, name), end in zip(bands, ends):
        found[name] = found.get(name, 0.0) + max(0.0, end - max(start, begin)) / length
    return found


def real_deployment(results: Results) -> Measurement:
    """Cannot be measured in a simulator."""
    raise NotTestable(
        "a deployment on real GPUs (RTX 2070 SUPER), whose number is not published; and the text says both that ASET "
        "is better there and that the pattern is that of the simulation, where it is not"
    )


def _success_of(runs: dict[int, Sample], application: str) -> dict[int, float]:
    return {
        seed: 100.0 * each.applications[application] for seed, each in runs.items() if application in each.applications
    }


def _best_for(runs: dict[str, dict[int, Sample]], application: str) -> str:
    means = {name: float(np.mean(list(_success_of(each, application).values()))) for name, each in runs.items()}
    return max(means, key=means.__getitem__)


def _spread(results: Results, setting: Setting) -> dict[int, float]:
    found = [results.success(setting, name) for name in reported.STATIC]
    return {seed: max(each[seed] for each in found) - min(each[seed] for each in found) for seed in results.seeds}


def _share(results: Results, policy: str, part: str) -> dict[int, float]:
    return {seed: 100.0 * each.shares[part] for seed, each in results.of(FULL, policy).items()}


CLAIMS: tuple[Claim[Results], ...] = (
    Claim("load-60", "a generator causes almost 1,000 queries a second on the antenna (λ = 60)",
          "Section V-A", reported.QUERIES_AT_RATE, Within(900.0, 1050.0), query_rate(60), "queries/s"),
    Claim("load-100", "λ = 100 is a load of more than 1,600 queries a second",
          "Section V-B", reported.QUERIES_AT_HIGHEST, NotBelow(reported.QUERIES_AT_HIGHEST), query_rate(100),
          "queries/s"),
    Claim("switches", "the agent infers a sequence of policies from the system's conditions",
          "Fig. 3", "a sequence", AtLeast(2), policies_used, "policies used ≥ 5 % of the time"),
    Claim("no-single-best", "no static policy is the best for every application (rates that change)",
          "Fig. 4", "none", AtLeast(1), beaten_applications, "applications on which the best of them is beaten"),
    Claim("dc-small-differences", "dc-cloud: the static policies differ little",
          "Fig. 5a", "small", Below(0.5), spread_ratio, "× the spread on full-edge"),
    Claim("dc-no-gain", "dc-cloud: ASET does not improve over static policies",
          "Fig. 5a", "no improvement", NotAbove(0.0), gain(DC), "points over the best static policy"),
    Claim("dc-worse", "dc-cloud: ASET is worse at higher λ (100)",
          "Fig. 5a", "worse", Below(0.0), gain(("dc-cloud", reported.HIGHEST_RATE)),
          "points over the best static policy"),
    Claim("dc-real", "dc-cloud, real deployment: ASET is better than the static policies",
          "Fig. 5b", "better", Above(0.0), real_deployment, "points"),
    Claim("co-dc-higher", "co-dc-cloud: every policy has a higher success than on dc-cloud",
          "Fig. 5c", "higher", Above(0.0), higher_everywhere, "points, the least gain of any policy"),
    Claim("co-dc-margin", "co-dc-cloud: ASET has a margin over the static policies",
          "Fig. 5c", "a certain margin", Above(0.0), gain(CO), "points over the best static policy"),
    Claim("edge-gain", "full-edge: ASET has a higher success than any static policy (λ = 60)",
          "Fig. 6a", "higher", Above(0.0), gain(FULL), "points over the best static policy"),
    Claim("edge-constant", "full-edge: the improvement is constant over time",
          "Fig. 6a", "constant", AtLeast(90.0), windows_above, "% of windows above every static policy"),
    Claim("edge-rejections", "full-edge: ASET rejects as much as the best static policy",
          "Fig. 6c", "the same", Within(-1.0, 1.0), rejection_difference, "points of rejection more"),
    Claim("edge-failures", "full-edge: ASET has fewer queries that violate a requirement",
          "Fig. 6d", "fewer", Below(0.0), failure_difference, "points of failure more"),
    Claim("generalises", "an agent trained at λ = 60 only also serves other rates, up to λ = 100",
          "Fig. 6b", "generalises", NotBelow(0.0), worst_of_sweep, "points over the best static policy of the rate"),
)  # fmt: skip
