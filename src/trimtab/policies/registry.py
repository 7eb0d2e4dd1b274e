"""Every built-in policy by decision and name, loaded when it is asked for; own ones join in the same way."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import inspect
import sys
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from trimtab.errors import TrimtabError, unknown
from trimtab.policies import trained
from trimtab.policies.parameters import check_parameters
from trimtab.policies.trained import Trained

_PLACE, _ROUTE = "trimtab.policies.place", "trimtab.policies.route"
_SCALE, _ASSIGN = "trimtab.policies.scale", "trimtab.policies.assign"
_SELECT = "trimtab.policies.select"

BUILT_IN: dict[str, dict[str, str]] = {
    "place": {
        "hashing": f"{_PLACE}.hashing:policy",
        "round-robin": f"{_PLACE}.round_robin:policy",
        "least-connections": f"{_PLACE}.least_connections:policy",
        "greedy": f"{_PLACE}.greedy:policy",
        "static-rank": f"{_PLACE}.static_rank:policy",
        "random": f"{_PLACE}.random_host:policy",
        "power-of-two": f"{_PLACE}.power_of_two:policy",
        "warm-first": f"{_PLACE}.warm_first:policy",
        "shortest-completion": f"{_PLACE}.shortest_completion:policy",
        "drain-ahead": f"{_PLACE}.drain_ahead:policy",
        "k8s-least": f"{_PLACE}.k8s_least:policy",
        "k8s-most": f"{_PLACE}.k8s_most:policy",
        "k8s-balanced": f"{_PLACE}.k8s_balanced:policy",
    },
    "route": {
        "closest": f"{_ROUTE}.closest:policy",
        "load-balancing": f"{_ROUTE}.load_balancing:policy",
        "farthest": f"{_ROUTE}.farthest:policy",
        "cheaper": f"{_ROUTE}.cheaper:policy",
        "random-proportional-latency": f"{_ROUTE}.random_proportional_latency:policy",
        "random-proportional-load": f"{_ROUTE}.random_proportional_load:policy",
        "least-impedance": f"{_ROUTE}.least_impedance:policy",
        "power-of-two": f"{_ROUTE}.power_of_two:policy",
        "shortest-delay": f"{_ROUTE}.shortest_delay:policy",
        "early-reject": f"{_ROUTE}.early_reject:policy",
        "relative-load": f"{_ROUTE}.relative_load:policy",
        "scarcity": f"{_ROUTE}.scarcity:policy",
    },
    "scale": {
        "fixed": f"{_SCALE}.fixed:Fixed",
        "threshold-cpu": f"{_SCALE}.threshold_cpu:ThresholdCpu",
        "threshold-memory": f"{_SCALE}.threshold_memory:ThresholdMemory",
        "hpa": f"{_SCALE}.hpa:Hpa",
        "hpa-inflight": f"{_SCALE}.hpa_inflight:HpaInflight",
        "kpa": f"{_SCALE}.kpa:Kpa",
        "vpa": f"{_SCALE}.vpa:Vpa",
        "square-root": f"{_SCALE}.square_root:SquareRoot",
        "holt": f"{_SCALE}.holt:Holt",
    },
    "assign": {
        "random": f"{_ASSIGN}.random:Random",
        "round-robin": f"{_ASSIGN}.round_robin:RoundRobin",
        "first-fit": f"{_ASSIGN}.first_fit:FirstFit",
        "best-fit": f"{_ASSIGN}.best_fit:BestFit",
        "least-loaded": f"{_ASSIGN}.least_loaded:LeastLoaded",
        "cheap-fit": f"{_ASSIGN}.cheap_fit:CheapFit",
        "arima-aco": f"{_ASSIGN}.arima_aco:ArimaAco",
    },
    "select": {
        "mab": f"{_SELECT}.mab:Bandit",
        "random": f"{_SELECT}.random_switch:RandomSwitch",
        "round-robin": f"{_SELECT}.round_robin:RoundRobin",
    },
}  # fmt: skip
"""Decision → name → "module:attribute"."""

ORACLES: dict[str, dict[str, str]] = {
    "select": {
        "best-static": f"{_SELECT}.best_static:BestStatic",
        "clairvoyant": f"{_SELECT}.clairvoyant:Clairvoyant",
        "rollout": f"{_SELECT}.rollout:Rollout",
    },
}
"""Policies that know the future, or play it over and over: bounds to compare with, never to be used."""

LEARNED: dict[str, dict[str, str]] = {
    "place": {"faasrank": f"{_PLACE}.faasrank", "rank": f"{_PLACE}.rank"},
    "route": {"rank": f"{_ROUTE}.rank"},
    "scale": {"q-table": f"{_SCALE}.q_table", "dqn": f"{_SCALE}.dqn", "residual": f"{_SCALE}.residual"},
    "assign": {
        "lstm-aco": f"{_ASSIGN}.lstm_aco",
        "decision-nn": f"{_ASSIGN}.decision_nn",
        "semi-direct": f"{_ASSIGN}.semi_direct",
        "graf": f"{_ASSIGN}.graf",
        "gobi": f"{_ASSIGN}.gobi",
        "gosh": f"{_ASSIGN}.gosh",
    },
    "select": {
        "aset": f"{_SELECT}.aset",
        "metanet": f"{_SELECT}.metanet",
        "dqn": f"{_SELECT}.dqn",
        "mab": f"{_SELECT}.mab",
        "metanet-plus": f"{_SELECT}.plus",
    },
}
"""Decision → name → module of a policy whose weights were trained. Its function ``build(trained, parameters)``
checks a trained policy's features and weights and makes the policy of it. One that is built in too learns from nothing
where there is no trained one for the scenario."""

_GROUP = "trimtab.policies"


def names(decision: str, scenario: str | None = None) -> tuple[str, ...]:
    """Names of the built-in policies of a decision, in the order of the documentation.

    With a scenario, trained ones are listed only where there is one for it.
    """
    learned = [name for name in LEARNED[decision] if trained.ships(decision, name, scenario)]
    return tuple(dict.fromkeys([*BUILT_IN[decision], *learned]))


def plain(selector: str) -> str:
    """A selector as ``--policies`` takes it: with its decision where another decision has the name too."""
    return f"select/{selector}" if _elsewhere(selector) else selector


def oracles(decision: str) -> list[str]:
    """Selectors over a decision that know the future or play it over and over, as ``--policies`` takes them."""
    return [name for name in ORACLES["select"] if name != "rollout" or decision == "assign"]


def _elsewhere(name: str) -> bool:
    return any(name in BUILT_IN[each] or name in LEARNED[each] for each in BUILT_IN if each != "select")


def who(name: str, decision: str) -> tuple[str, str]:
    """Decision and name of what ``--policies`` says, where the scenario's own decision is ``decision``."""
    if name.endswith(".py"):
        return ("select" if _chooses(Path(name)) else decision), name
    prefix, _, rest = name.partition("/")
    if prefix in BUILT_IN:
        return prefix, rest
    selects = name in BUILT_IN["select"] or name in LEARNED["select"] or name in ORACLES["select"]
    return ("select" if selects and not _elsewhere(name) else decision), name


def _chooses(path: Path) -> bool:
    """Whether a Python file defines a selector; it is read, not run."""
    try:
        tree = ast.parse(path.read_text(encoding="utf-8"))
    except (OSError, SyntaxError, ValueError):
        return False
    return any(isinstance(node, ast.FunctionDef) and node.name == "choose" for node in ast.walk(tree))


def folder_of(name: str) -> Path | None:
    """The folder of a trained policy that a name means. A fixed name never means one; ``./rank`` does."""
    if any(name in names(decision) for decision in BUILT_IN):
        return None
    return Path(name) if trained.is_trained(Path(name)) else None


def load(decision: str, name: str, parameters: dict[str, Any] | None = None, scenario: str | None = None) -> Any:
    """The policy ``name`` of a decision: built in, an entry point, a ``.py`` file, or the folder of a trained one.

    Of the trained policies that come with Trimtab, the one for ``scenario`` is taken where there is one.
    """
    if name.startswith(f"{decision}/"):
        name = name.removeprefix(f"{decision}/")
    if name.endswith(".py"):
        return _checked(decision, _from_file(Path(name)), name)
    folder = folder_of(name)
    if folder is not None:
        return built(trained.load(folder), decision, parameters)
    if name in LEARNED[decision]:
        folder = trained.shipped(decision, name, scenario)
        if folder is not None:
            return built(trained.load(folder), decision, parameters)
        if name not in BUILT_IN[decision]:
            raise TrimtabError(f"policy = {name!r} is not trained yet for this scenario: trimtab train makes one")
    own = entry_points_of(decision)
    if name in own and name in BUILT_IN[decision]:
        raise TrimtabError(f"policy = {name!r} of {own[name]!r} is the name of a built-in one, must differ")
    where = BUILT_IN[decision].get(name) or ORACLES.get(decision, {}).get(name) or own.get(name)
    if where is None:
        if Path(name).name != name or _is_folder(name):
            files = f"{trained.DESCRIPTION} and {trained.WEIGHTS}"
            raise TrimtabError(f"policy = {name!r}, must be a folder with {files} to be a trained policy")
        others = [each for each in BUILT_IN if each != decision and name in BUILT_IN[each]]
        if others:
            raise TrimtabError(
                f"policy = {name!r} is a {others[0]} policy, the decision here is {decision}: "
                f"{', '.join(names(decision))}"
            )
        raise unknown(f"{decision} policy", name, [*names(decision), *own])
    found = _plug_in(where, name) if name in own else _resolve(where)
    return _checked(decision, _made(found, parameters, name), name)


def built(found: Trained, decision: str, parameters: dict[str, Any] | None = None) -> Any:
    """The policy of a trained folder."""
    about = found.description
    if about.decision != decision:
        raise TrimtabError(
            f"policy = {found.where!r} takes {about.decision} decisions, the decision here is {decision}"
        )
    if about.policy not in LEARNED[decision]:
        raise unknown(f"{found.where}: {decision} policy", about.policy, LEARNED[decision])
    module = importlib.import_module(LEARNED[decision][about.policy])
    try:
        return module.build(found, parameters or {})
    except (KeyError, IndexError, TypeError, ValueError) as error:  # settings that are not what its code reads
        raise TrimtabError(
            f"{found.where}: {trained.DESCRIPTION}: settings do not suit {about.policy!r}: "
            f"{type(error).__name__}: {error}"
        ) from error


def _is_folder(name: str) -> bool:
    try:
        return Path(name).is_dir()
    except (OSError, ValueError):  # a name too long, or with a zero byte
        return False


def _made(found: Any, parameters: dict[str, Any] | None, name: str) -> Any:
    if not isinstance(found, type):
        check_parameters(name, parameters or {}, ())
        return found
    allowed = [each for each in inspect.signature(found).parameters if each != "name"]
    check_parameters(name, parameters or {}, allowed)
    return found(**(parameters or {}))


def _resolve(where: str) -> Any:
    module, _, attribute = where.partition(":")
    return getattr(importlib.import_module(module), attribute)


def _plug_in(where: str, name: str) -> Any:
    """A policy of another package, whose mistakes are not ours."""
    try:
        return _resolve(where)
    except (Exception, SystemExit) as error:
        raise TrimtabError(f"policy {name!r} of {where!r} fails: {type(error).__name__}: {error}") from None


def entry_points_of(decision: str) -> dict[str, str]:
    """Policies of installed packages: name → "module:attribute"."""
    prefix = f"{decision}/"
    return {
        point.name.removeprefix(prefix): point.value
        for point in entry_points(group=_GROUP)
        if point.name.startswith(prefix)
    }


def _checked(decision: str, policy: Any, name: str) -> Any:
    kind = getattr(policy, "decision", None)
    if kind is None:
        kind = "scale" if hasattr(policy, "decide") else "select" if hasattr(policy, "choose") else "assign"
    if kind != decision:
        raise TrimtabError(f"policy = {name!r} takes {kind} decisions, the decision here is {decision}")
    return policy


def _from_file(path: Path) -> Any:
    """The one policy that a Python file defines."""
    if not path.is_file():
        raise TrimtabError(f"policy file = {str(path)!r}, must be an existing .py file")
    spec = importlib.util.spec_from_file_location(f"trimtab_own_{path.stem}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    try:
        spec.loader.exec_module(module)
    except TrimtabError:
        raise
    except (Exception, SystemExit) as error:
        raise TrimtabError(f"policy file {str(path)!r} fails: {type(error).__name__}: {error}") from None
    found = [value for value in vars(module).values() if _is_policy(value, module.__name__)]
    if len(found) != 1:
        raise TrimtabError(f"policy file {str(path)!r} defines {len(found)} policies, must define one")
    return found[0]() if isinstance(found[0], type) else found[0]


def _is_policy(value: Any, module: str) -> bool:
    if isinstance(value, type):
        return value.__module__ == module and any(hasattr(value, verb) for verb in ("decide", "plan", "choose"))
    return hasattr(value, "compiled") and getattr(value.function, "__module__", "") == module


def describe(decision: str, name: str) -> str:
    """One line on a built-in policy: the first sentence of its module, read without importing it."""
    module = (BUILT_IN[decision] | LEARNED[decision] | ORACLES.get(decision, {}))[name].partition(":")[0]
    spec = importlib.util.find_spec(module)
    assert spec is not None and spec.origin is not None
    text = ast.get_docstring(ast.parse(Path(spec.origin).read_text(encoding="utf-8"))) or ""
    return text.split("\n", 1)[0].rstrip(".")
