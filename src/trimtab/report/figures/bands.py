"""Which policy a selector used, and when."""

from __future__ import annotations

from typing import Any

from trimtab.report.figure import Figure, Runs, axis, significant
from trimtab.report.palette import BLUE, FAINT, GREEN, MUTED, ORANGE, PURPLE, SKY, VERMILLION
from trimtab.sim.outcome import Outcome

_COLOURS = (BLUE, ORANGE, GREEN, PURPLE, SKY, VERMILLION, MUTED, FAINT)
_MOST_BANDS = 500


def bands(runs: Runs) -> list[Figure]:
    """A strip for each selector, coloured by the policy in use."""
    selectors = [policy for policy in reversed(runs.order) if runs.first(policy).bands]
    if not selectors:
        return []
    spans = [(policy, *span) for policy in selectors for span in _spans(runs.first(policy))]
    used = sorted({chosen for _, _, _, chosen in spans})
    colours = {chosen: _COLOURS[index % len(_COLOURS)] for index, chosen in enumerate(used)}
    data = [_strip(chosen, colours[chosen], [span for span in spans if span[3] == chosen]) for chosen in used]
    layout = {"barmode": "overlay", "xaxis": axis("time (s)"), "yaxis": axis("", type="category")}
    said = "; ".join(f"{policy} used {_shares(policy, spans)}" for policy in reversed(selectors))
    return [Figure(
        "bands", "Which policy was in use",
        f"A selector changes the policy that decides; the colour shows which one did, seed {runs.seed}.",
        f"Policies in use over time: {said}.", data, layout, 140 + 34 * len(selectors),
        legend=[(chosen, colours[chosen]) for chosen in used],
    )]  # fmt: skip


def _spans(outcome: Outcome) -> list[tuple[float, float, str]]:
    """(begin, length, policy) of the stretches between changes."""
    changes = outcome.bands[:_MOST_BANDS]
    end = max(float(outcome.arrival.max(initial=0.0)), changes[-1][0])
    ends = [moment for moment, _ in changes[1:]] + [end]
    return [(begin, finish - begin, policy) for (begin, policy), finish in zip(changes, ends)]


def _strip(chosen: str, colour: str, spans: list[tuple[str, float, float, str]]) -> dict[str, Any]:
    return {
        "type": "bar", "orientation": "h", "name": chosen, "showlegend": False, "marker": {"color": colour},
        "y": [span[0] for span in spans], "base": significant([span[1] for span in spans], 6),
        "x": significant([span[2] for span in spans], 6),
        "hovertemplate": chosen + " from %{base:.0f} s<extra>%{y}</extra>",
    }  # fmt: skip


def _shares(policy: str, spans: list[tuple[str, float, float, str]]) -> str:
    own = [span for span in spans if span[0] == policy]
    total = sum(span[2] for span in own) or 1.0
    shares: dict[str, float] = {}
    for _, _, length, chosen in own:
        shares[chosen] = shares.get(chosen, 0.0) + length / total
    return ", ".join(f"{chosen} {share * 100:.0f} % of the time" for chosen, share in sorted(shares.items()))
