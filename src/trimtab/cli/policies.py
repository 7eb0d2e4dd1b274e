"""``trimtab policies``: what there is to choose from, and what one of them is."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from trimtab.errors import TrimtabError, unknown

if TYPE_CHECKING:
    from rich.console import RenderableType

    from trimtab.policies.trained import Trained

_SHOWN = 60
"""Features that are named; a state of many hosts has a thousand."""


def command(
    what: Annotated[
        str | None,
        typer.Argument(metavar="[DECISION|show]", help="place, scale, route, assign or select; all without it."),
    ] = None,
    policy: Annotated[
        str | None, typer.Argument(metavar="[NAME|DIR]", help="After show: a policy, or the folder of a trained one.")
    ] = None,
) -> None:
    """List the policies of every decision, or show one of them: policies show rank."""
    from rich.console import Console

    from trimtab.policies import registry

    console = Console(markup=False)  # names of folders and what policy.json says may hold brackets
    if what == "show":
        if policy is None:
            raise TrimtabError("policies show: must name a policy or the folder of a trained one")
        for part in shown(policy, console.width):
            console.print(part, highlight=False)
        return
    if what is not None and what not in registry.BUILT_IN:
        raise unknown("decision", what, [*registry.BUILT_IN, "show"])
    if policy is not None:
        raise TrimtabError(f"policies {what} {policy}: only show takes a name: policies show {what}/{policy}")
    console.print(listing(registry.BUILT_IN if what is None else (what,)))


def listing(decisions: Any) -> RenderableType:
    """Every policy: rules, learned ones, and those of other packages."""
    from rich.table import Table

    from trimtab.policies import registry, trained

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for heading in ("decision", "policy", "kind", "what it does"):
        table.add_column(heading)
    for each in decisions:
        for name in registry.BUILT_IN[each]:
            table.add_row(each, name, "rule", summary(each, name))
        for name in registry.LEARNED[each]:
            if name in registry.BUILT_IN[each]:
                continue
            kind = "learned" if trained.ships(each, name) else "to train"
            table.add_row(each, name, kind, summary(each, name))
        for name in registry.ORACLES.get(each, {}):
            table.add_row(each, name, "oracle", summary(each, name))
        for name, where in registry.entry_points_of(each).items():
            table.add_row(each, name, "own", f"from {where}")
    return table


def summary(decision: str, name: str) -> str:
    """One line on a policy that comes with Trimtab."""
    from trimtab.policies import registry

    return registry.describe(decision, name).removeprefix(f"``{name}``: ")


def shown(policy: str, width: int) -> Iterator[RenderableType]:
    """What a policy is: a folder, or a name in every decision that has it."""
    from trimtab.policies import registry, trained

    folder = registry.folder_of(policy)
    if folder is not None:
        yield from trained_policy(trained.load(folder), policy, width)
        return
    prefix, slash, rest = policy.partition("/")
    decisions = [prefix] if slash and prefix in registry.BUILT_IN else list(registry.BUILT_IN)
    name = rest if slash and prefix in registry.BUILT_IN else policy
    rules = {each: registry.BUILT_IN[each] | registry.ORACLES.get(each, {}) for each in decisions}
    known = {each: rules[each].keys() | registry.LEARNED[each].keys() for each in decisions}
    if not any(name in names for names in known.values()):
        raise unknown("policy", policy, sorted(set().union(*known.values())))
    for decision in decisions:
        if name in rules[decision]:
            yield from rule(decision, name)
        if name in registry.LEARNED[decision]:
            yield from learned(decision, name, width)


def rule(decision: str, name: str) -> Iterator[RenderableType]:
    """A rule or an oracle: what it does, and its parameters."""
    from trimtab.policies import registry

    kind = "a rule" if name in registry.BUILT_IN[decision] else "an oracle that knows the future"
    yield heading(f"{decision}/{name}", f"{kind}: {summary(decision, name)}")
    yield from grid("Parameters", dict(parameters(registry.load(decision, name))) or {"none": ""})


def parameters(policy: Any) -> Iterator[tuple[str, Any]]:
    """Names and defaults of what ``--set parameters.NAME.KEY=VALUE`` can change."""
    if hasattr(policy, "compiled") or not dataclasses.is_dataclass(policy):
        return
    for field in dataclasses.fields(policy):
        if field.init:
            yield field.name, getattr(policy, field.name)


def learned(decision: str, name: str, width: int) -> Iterator[RenderableType]:
    """A learned policy that comes with Trimtab, for every scenario that it was trained for."""
    from trimtab.policies import trained

    yield heading(f"{decision}/{name}", f"learned: {summary(decision, name)}")
    folders = sorted(path for path in (trained.SHIPPED / decision).glob(f"{name}*") if trained.is_trained(path))
    folders = [path for path in folders if path.name.partition("@")[0] == name]
    if not folders:
        yield f"Not trained yet: trimtab train SCENARIO --policy {decision}/{name} makes one."
    for folder in folders:
        yield from trained_policy(trained.load(folder), folder.name, width)


def trained_policy(found: Trained, label: str, width: int) -> Iterator[RenderableType]:
    """A trained policy: what it is, where it came from, and how it did."""
    about = found.description
    weights = sum(array.size for array in found.arrays.values())
    dots = ", …" if len(about.features) > _SHOWN else ""
    what = {
        "kind": f"{about.decision}/{about.policy}, recipe {about.recipe}",
        "weights": f"{weights:,} in {len(found.arrays)} array{'s' if len(found.arrays) > 1 else ''}",
        "features": f"{len(about.features)}: {', '.join(about.features[:_SHOWN])}{dots}",
    }
    yield heading(label, "a trained policy")
    yield from grid("What it is", what | about.settings)
    yield from grid("Where it came from", about.training or {"unknown": ""})
    yield from evaluation(about.policy, about.evaluation, width)


def evaluation(policy: str, found: Mapping[str, Any], width: int) -> Iterator[RenderableType]:
    """How it did: a table where ``trimtab train`` wrote it, what there is otherwise."""
    from trimtab.report.evaluation import evaluation_table, verdict

    try:
        yield from (evaluation_table(policy, found, width), verdict(policy, found))
    except (KeyError, TypeError, ValueError, AttributeError):
        yield from grid("How it did", found or {"not evaluated": ""})


def heading(name: str, what: str) -> RenderableType:
    """The line above all that is said of a policy."""
    from rich.text import Text

    return Text.assemble((name, "bold"), f", {what}")


def grid(title: str, entries: Mapping[str, Any]) -> Iterator[RenderableType]:
    """Names and values below a heading."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 2))
    for name, value in entries.items():
        table.add_row(Text(str(name)), Text(_text(value)))
    yield Text(title, style="bold")
    yield table


def _text(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_text(entry)}" for key, entry in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(_text, value))
    text = f"{value:.6g}" if isinstance(value, float) else str(value)
    return "".join(each if each.isprintable() else "�" for each in text)  # nothing that commands a terminal
