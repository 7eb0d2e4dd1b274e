"""Every claim of the FaaSRank paper: the rule that decides it, beside how it is measured."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np

from trimtab.papers.claim import Claim, NotTestable
from trimtab.papers.criterion import Above, AtLeast, Below, Effect, Equals, Measurement, Within
from trimtab.papers.faasrank import reported
from trimtab.papers.faasrank.experiments import CLUSTERS, Results
from trimtab.papers.learned import NOT_TRAINED
from trimtab.papers.measure import change_of_means, mean, reduction, resampled
from trimtab.report.figures.inflight import share_lower

_NAMES = {"canada": "Canada", "aws": "AWS"}
_MOTIVATING = "faasrank-aws"
"""Section II does not say which workload it used; 60 s on servers with 16 GB fit SA on the AWS cluster."""
_TENTH = 10

Measure = Callable[[Results], Measurement]


def below(policy: str, baseline: str, scenario: str) -> Measure:
    """By how many percent a policy's mean completion time is below a baseline's."""
    return lambda results: reduction(results.fct(scenario, policy), results.fct(scenario, baseline))


def below_best(cluster: str) -> Measure:
    """By how many percent FaaSRank is below the best of the five baselines."""

    def measure(results: Results) -> Measurement:
        scenario = CLUSTERS[cluster]
        times = {name: results.fct(scenario, name) for name in reported.BASELINES}
        best = min(times, key=lambda name: float(np.mean(list(times[name].values()))))
        return reduction(results.fct(scenario, "faasrank"), times[best], f"the best baseline here is {best}")

    return measure


def below_on_all(results: Results) -> Measurement:
    """Mean over the ten workloads of the reduction, a value a seed."""
    ours, base = _multi(results, "faasrank"), _multi(results, "hashing")
    seeds = results.seeds
    means = {name: float(np.mean([base[name][seed] for seed in seeds])) for name in base}
    return mean({
        seed: float(np.mean([100.0 * (base[name][seed] - ours[name][seed]) / means[name] for name in base]))
        for seed in seeds
    })  # fmt: skip


def workloads_best(results: Results) -> Measurement:
    """On how many of the ten workloads FaaSRank has the lowest mean."""
    times = {policy: _multi(results, policy) for policy in reported.POLICIES}

    def count(seeds: Sequence[int]) -> float:
        found = 0
        for name in reported.MULTI:
            totals = {policy: sum(times[policy][name][seed] for seed in seeds) for policy in times}
            found += min(totals, key=totals.__getitem__) == "faasrank"
        return float(found)

    return resampled(count, results.seeds)


def workloads_beaten(results: Results) -> Measurement:
    """On how many of the ten workloads FaaSRank is below hashing beyond chance."""
    ours, base = _multi(results, "faasrank"), _multi(results, "hashing")
    changes = [reduction(ours[name], base[name]) for name in reported.MULTI]
    lower = sum(change.value > 0 for change in changes)
    return Measurement(float(sum(change.bounds[0] > 0 for change in changes)), remark=f"{lower} of 10 means are lower")


def functions_best(cluster: str) -> Measure:
    """For how many functions FaaSRank has the lowest mean completion time (Table IV)."""

    def measure(results: Results) -> Measurement:
        def count(seeds: Sequence[int]) -> float:
            times = {policy: results.function_fct(CLUSTERS[cluster], policy, seeds) for policy in reported.POLICIES}
            best = (min(times, key=lambda policy: times[policy].get(name, np.inf)) for name in times["faasrank"])
            return float(sum(policy == "faasrank" for policy in best))

        return resampled(count, results.seeds)

    return measure


def functions_improved(cluster: str) -> Measure:
    """For how many functions FaaSRank is below hashing."""

    def measure(results: Results) -> Measurement:
        def count(seeds: Sequence[int]) -> float:
            ours, base = (results.function_fct(CLUSTERS[cluster], name, seeds) for name in ("faasrank", "hashing"))
            return float(sum(ours[name] < base[name] for name in ours))

        return resampled(count, results.seeds)

    return measure


def fewer_in_flight(cluster: str) -> Measure:
    """Percent of the time with fewer invocations in flight, averaged over the five baselines."""

    def measure(results: Results) -> Measurement:
        ours = results.of(CLUSTERS[cluster], "faasrank")
        shares = {
            name: {seed: 100.0 * share_lower(ours[seed], other) for seed, other in runs.items()}
            for name, runs in results.runs[CLUSTERS[cluster]].items()
            if name in reported.BASELINES
        }
        against = float(np.mean(list(shares["hashing"].values())))
        return mean(
            {seed: float(np.mean([shares[name][seed] for name in shares])) for seed in results.seeds},
            f"against hashing alone {against:.1f} %",
        )

    return measure


def sooner_done(cluster: str) -> Measure:
    """By how many percent the last answer comes earlier than under the best of the five baselines."""

    def measure(results: Results) -> Measurement:
        scenario = CLUSTERS[cluster]
        spans = {
            policy: {seed: float(np.nanmax(run.completion)) for seed, run in results.of(scenario, policy).items()}
            for policy in reported.POLICIES
        }
        best = min(reported.BASELINES, key=lambda name: float(np.mean(list(spans[name].values()))))
        return reduction(spans["faasrank"], spans[best], f"the soonest baseline here is {best}")

    return measure


def learns(key: str) -> Measure:
    """Reward of the last tenth of training minus that of the first tenth."""

    def measure(results: Results) -> Measurement:
        rewards = results.learned[key].column("reward")
        if len(rewards) < 2 * _TENTH:
            raise NotTestable("the learning curve is too short")
        part = len(rewards) // _TENTH
        return change_of_means(rewards[:part], rewards[-part:], "reward of the last tenth less that of the first")

    return measure


def decision_time(results: Results) -> Measurement:
    """Milliseconds of one decision over ten servers, by seed: state read, network, arg max."""
    runs = results.of(CLUSTERS["canada"], "faasrank")
    return mean({seed: 1e3 * run.decision_seconds / max(run.decisions, 1) for seed, run in runs.items()},
                "wall-clock time of this machine, without Redis and the controller in between")  # fmt: skip


def parameters(results: Results) -> Measurement:
    """Weights of the network that scores a server, and as many again of the critic."""
    for learned in results.learned.values():
        if learned.policy is not None:
            return Measurement(float(network_size(len(learned.policy.description.features))),
                               remark="actor and critic, 26-32-16-1 each")  # fmt: skip
    raise NotTestable(NOT_TRAINED)


def network_size(inputs: int, hidden: Sequence[int] = (32, 16)) -> int:
    """Parameters of two networks ``inputs``-32-16-1: 2 × (26·32+32 + 32·16+16 + 16·1+1) = 2,818."""
    sizes = (inputs, *hidden, 1)
    return 2 * sum(first * second + second for first, second in pairwise(sizes))


def training_time(key: str) -> Measure:
    """How long training took here; on a real platform an episode takes its real minutes."""

    def measure(results: Results) -> Measurement:
        hours = results.learned[key].hours
        if results.learned[key].folder is None:
            raise NotTestable(NOT_TRAINED)
        shown = "" if hours is None else f"; here training took {hours * 60:.1f} minutes"
        reason = "a property of a real platform that is restarted before every episode: a simulator has no such hours"
        raise NotTestable(reason + shown, hours)

    return measure


def load_ratio(figure: str) -> Measure:
    """Ours over the paper's, the mean over the twelve rows of Table III."""

    def measure(results: Results) -> Measurement:
        ratios = [results.loads[name][figure] / float(getattr(load, figure)) for name, load in reported.TABLE_3.items()]
        remark = f"row by row {min(ratios):.2f} to {max(ratios):.2f}"
        if figure == "cpu_s":
            remark += "; by construction: the traces of each workload were drawn to have about this CPU time"
        if figure == "gap_s":
            printed = [load.stretch for load in reported.TABLE_3.values()]
            remark += (
                "; the paper's own columns contradict each other: (calls − 1) × IAT is "
                f"{min(printed):.2f} to {max(printed):.2f} × the length, and we keep calls and length"
            )
        return mean(ratios, remark)

    return measure


def profile_error(results: Results) -> Measurement:
    """The largest difference from Table II, of a lone cold or warm invocation, in seconds."""
    if not results.alone:
        raise NotTestable("the functions were not profiled in this run")
    errors = [
        abs(ours - paper)
        for name, found in results.alone.items()
        for ours, paper in zip(found[1:3], (reported.TABLE_2[name].cold_s, reported.TABLE_2[name].warm_s))
    ]
    return Measurement(max(errors), remark="by construction: the presets take their functions from this table")


def _multi(results: Results, policy: str) -> dict[str, dict[int, float]]:
    return {name: results.fct(reported.TABLE_3[name].scenario, policy) for name in reported.MULTI}


def _of_cluster(cluster: str) -> list[Claim[Results]]:
    name, scenario = _NAMES[cluster], CLUSTERS[cluster]
    saved, share = reported.BELOW_HASHING[cluster], reported.FEWER_IN_FLIGHT[cluster]
    best, improved = reported.BEST_FUNCTIONS[cluster], reported.IMPROVED_FUNCTIONS[cluster]
    return [
        Claim(f"{cluster}-below-hashing", f"FaaSRank's average completion time is {saved} % below hashing's ({name})",
              "Fig. 6", saved, Effect(saved), below("faasrank", "hashing", scenario), "%"),
        Claim(f"{cluster}-below-all", f"FaaSRank outperforms all five baseline schedulers ({name})",
              "Fig. 6", "outperforms", Above(0.0), below_best(cluster), "% below the best baseline"),
        Claim(f"{cluster}-in-flight", f"FaaSRank has fewer invocations in flight {share} % of the time ({name})",
              "Fig. 7", share, Effect(share), fewer_in_flight(cluster), "% of the time"),
        Claim(f"{cluster}-sooner", f"workloads complete sooner overall than under the baselines ({name})",
              "Fig. 7", "faster", Above(0.0), sooner_done(cluster), "% sooner than the best baseline"),
        Claim(f"{cluster}-functions-best", f"FaaSRank is best for {best} of 10 functions ({name})",
              "Table IV", best, AtLeast(best), functions_best(cluster), "functions"),
        Claim(f"{cluster}-functions-improved",
              f"FaaSRank is better than hashing for {improved} of 10 functions ({name})",
              "Table IV", improved, AtLeast(improved), functions_improved(cluster), "functions"),
    ]  # fmt: skip


CLAIMS: tuple[Claim[Results], ...] = (
    Claim("static-rank-below-hashing", "static-rank's average completion time is 10.10 % below hashing's",
          "Fig. 1", 10.10, Effect(10.10), below("static-rank", "hashing", _MOTIVATING), "%"),
    Claim("static-rank-below-greedy", "static-rank's average completion time is 14.88 % below greedy's",
          "Fig. 1", 14.88, Effect(14.88), below("static-rank", "greedy", _MOTIVATING), "%"),
    Claim("single-learns", "learning on one workload converges: the loss descends",
          "Fig. 5", "descending", Above(0.0), learns("canada"), "reward"),
    Claim("multi-learns", "learning on ten workloads converges: the loss descends",
          "Fig. 5", "descending", Above(0.0), learns("multi"), "reward"),
    *_of_cluster("canada"),
    *_of_cluster("aws"),
    Claim("multi-below-hashing", "over ten workloads FaaSRank's average completion time is 23.05 % below hashing's",
          "Table V", 23.05, Effect(23.05), below_on_all, "%"),
    Claim("multi-all-below-hashing", "FaaSRank outperforms hashing on all ten workloads",
          "Table V", 10, AtLeast(10), workloads_beaten, "workloads whose 95 % interval is below hashing"),
    Claim("multi-workloads-best", "FaaSRank has the lowest average completion time on 4 of 10 workloads",
          "Table V", 4, AtLeast(4), workloads_best, "workloads"),
    Claim("decision-time", "a decision takes less than 50 ms on average",
          "Section V-B", reported.DECISION_MS, Below(reported.DECISION_MS), decision_time, "ms"),
    Claim("parameters", "the policy network has 2,818 parameters",
          "Section V-B", reported.PARAMETERS, Equals(reported.PARAMETERS), parameters, "parameters"),
    Claim("training-single", "training on one workload (1,000 episodes) takes about 120 hours",
          "Section V-B", 120.0, Within(60.0, 240.0), training_time("canada"), "hours"),
    Claim("training-multi", "training on ten workloads (500 episodes) takes about 96 hours",
          "Section V-B", 96.0, Within(48.0, 192.0), training_time("multi"), "hours"),
    Claim("functions", "durations of the ten functions, cold and warm",
          "Table II", "10 functions", Below(0.01), profile_error, "s, largest difference"),
    Claim("workload-cpu", "aggregate CPU time of the twelve workloads",
          "Table III", 1.0, Within(0.9, 1.1), load_ratio("cpu_s"), "× the paper's"),
    Claim("workload-gap", "average inter-arrival time of the twelve workloads",
          "Table III", 1.0, Within(0.95, 1.05), load_ratio("gap_s"), "× the paper's"),
)  # fmt: skip
