"""What is deployed in a scenario: its functions, or the workers of its sites (listed or orchestrated)."""

from __future__ import annotations

from dataclasses import dataclass

from trimtab.errors import TrimtabError
from trimtab.scenario.model import Function, Scenario, Site, Variant


@dataclass(frozen=True)
class Deployment:
    """One row of the engine's function table."""

    name: str
    function: Function
    instances: int | None


def deployments(scenario: Scenario) -> tuple[Deployment, ...]:
    """Functions as they stand; for variants, a deployment of one instance for each worker."""
    if not scenario.variants:
        return tuple(Deployment(each.name, each, each.instances) for each in scenario.functions)
    variants = {variant.name: variant for variant in scenario.variants}
    places: list[tuple[str, Variant]] = []
    if scenario.workers:
        for worker in scenario.workers:
            places += [(worker.site, variants[worker.variant])] * worker.count
    else:
        for site in scenario.sites:
            places += [(site.name, variant) for variant in orchestrate(site, scenario.variants)]
    if not places:
        raise TrimtabError("workers: none, and no site has capacity for a variant; list workers or capacities")
    counts: dict[str, int] = {}
    rows = []
    for site_name, variant in places:
        label = f"{site_name}/{variant.name}"
        counts[label] = counts.get(label, 0) + 1
        rows.append(_worker(f"{label}#{counts[label]}", site_name, variant))
    return tuple(rows)


def _worker(name: str, site: str, variant: Variant) -> Deployment:
    function = Function(
        name=name, site=site, task=variant.task, accuracy=variant.accuracy, batch=variant.batch, memory=0.0
    )
    return Deployment(name, function, 1)


def orchestrate(site: Site, variants: tuple[Variant, ...]) -> list[Variant]:
    """Fill a site with its variants in turn until no more fits (workers are scaled up to saturation)."""
    allowed = [each for each in variants if site.variants is None or each.name in site.variants]
    free = dict(site.capacity)
    chosen: list[Variant] = []
    while True:
        placed = False
        for variant in allowed:
            if not variant.resources or any(free.get(kind, 0.0) < need for kind, need in variant.resources.items()):
                continue
            for kind, need in variant.resources.items():
                free[kind] -= need
            chosen.append(variant)
            placed = True
        if not placed:
            return chosen
