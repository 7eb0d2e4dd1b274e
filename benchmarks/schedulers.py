"""Every scheduler, rule and selector of the MetaNet scenarios: cost of a core-hour, paired by seed.

    python -m benchmarks.schedulers [--seeds 10] [--scenarios shift,short] [--intervals 1000] [--oracles]

For each scenario: all policies by cost, violations priced, with energy, response time and violations; then what
``metanet-plus`` saves against the best policy without a selector and against other selectors, with 95 % intervals.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any

from trimtab.papers.claim import NotTestable
from trimtab.papers.criterion import Measurement
from trimtab.papers.effort import Effort, first_seeds
from trimtab.papers.measure import reduction
from trimtab.papers.metanet import experiments
from trimtab.papers.metanet.results import FIXED, PLUS, PRICE, SWITCHING, Results, Setting
from trimtab.papers.runs import Runner

SCENARIOS = "azure100,shift,short,tight,azure50,azure16"
RIVALS = ("metanet", "select/mab", "select/dqn", *SWITCHING)
FIGURES = {PRICE: 100.0, "raw_phi": 100.0, "energy_kwh": 1.0, "mean_fct_s": 1.0, "sla_violation_rate": 100.0}
"""Figure and its scale: cents a core-hour, cents a task, kWh, seconds, percent."""


class Silent:
    """Nobody watches."""

    def stage(self, name: str, total: int) -> None:
        """A part begins."""

    def step(self) -> None:
        """A step is done."""


def table(results: Results, setting: Setting) -> dict[str, Any]:
    """Figures of all, and the lead of ``metanet-plus`` by figure."""
    best = results.best(setting, FIXED, PRICE)
    rows = {
        policy: {name: scale * results.mean(setting, policy, name) for name, scale in FIGURES.items()}
        for policy in results.runs[setting]
    }
    leads = {
        rival: {name: _words(_lead(results, setting, rival, name)) for name in FIGURES} for rival in (best, *RIVALS)
    }
    shares = results.shares(setting, PLUS)
    return {"policies": rows, "best_fixed": best, "plus_saves_percent": leads, "plus_chose": shares}


def _lead(results: Results, setting: Setting, rival: str, figure: str) -> Measurement | None:
    try:
        return reduction(results.figure(setting, PLUS, figure), results.figure(setting, rival, figure))
    except NotTestable:
        return None


def _words(found: Measurement | None) -> str | None:
    if found is None or found.low is None or found.high is None:
        return None
    return f"{found.value:+.2f} [{found.low:+.2f}, {found.high:+.2f}]"


def show(name: str, found: dict[str, Any]) -> None:
    """One scenario."""
    print(f"\n{name}: cents a core-hour, cents a task (phi), kWh, response s, violations %")
    for policy, row in sorted(found["policies"].items(), key=lambda pair: pair[1][PRICE]):
        print(f"  {policy:36}" + "".join(f"{value:10.3f}" for value in row.values()))
    for rival, leads in found["plus_saves_percent"].items():
        print(f"  metanet-plus saves, % of {rival}: " + "; ".join(f"{key} {value}" for key, value in leads.items()))
    print(
        "  metanet-plus chose " + ", ".join(f"{key} {100 * share:.0f} %" for key, share in found["plus_chose"].items())
    )


def main() -> None:
    """Read options, run, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--scenarios", default=SCENARIOS)
    parser.add_argument("--intervals", type=int, default=1000)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--oracles", action="store_true", help="also the clairvoyants, on one seed")
    parser.add_argument("--json", type=Path, help="also write what is printed to this file")
    options = parser.parse_args()
    everything = {}
    for short in options.scenarios.split(","):
        setting = (f"metanet-{short}", 0.0)
        overrides = (f"workload.duration={10 * options.intervals}",) if options.intervals != 1000 else ()
        effort = Effort(first_seeds(options.seeds), train=False, wide=False, overrides=overrides)
        with tempfile.TemporaryDirectory() as folder:
            runner = Runner(options.jobs, Silent(), Path(folder))
            results = experiments.run_settings(effort, runner, [setting], options.oracles)
        everything[short] = table(results, setting)
        show(short, everything[short])
    if options.json is not None:
        options.json.write_text(json.dumps(everything, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
