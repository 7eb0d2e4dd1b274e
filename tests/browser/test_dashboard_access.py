"""The dashboard for everybody: on a phone, in the dark, by keyboard, read aloud; and its arithmetic, worked by hand."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from tests.browser.chromium import NEEDED, Tab, chromium
from tests.browser.fake_gateway import FakeGateway, serving

pytestmark = NEEDED

LIVE = "document.getElementById('status').dataset.state === 'live'"


@pytest.fixture(scope="module")
def tab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tab]:
    shadow = {"policy": "faasrank", "decisions": 120, "agreed": 90, "predicted_gain": 0.0081}
    gateway = FakeGateway(dead={"server-3"}, shadow=shadow)
    with serving(gateway) as address, chromium(tmp_path_factory.mktemp("profile")) as browser:
        opened = browser.tab()
        opened.open(address)
        opened.until(LIVE)
        opened.evaluate("document.querySelectorAll('details').forEach((details) => { details.open = true; })")
        yield opened


# every text that can be seen, with the ratio of its colour to the first opaque colour behind it (WCAG 2, 1.4.3)
CONTRASTS = """(() => {
  const channels = (text) => text.match(/[\\d.]+/g).map(Number);
  const light = (part) => (part /= 255) <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  const luminance = ([r, g, b]) => 0.2126 * light(r) + 0.7152 * light(g) + 0.0722 * light(b);
  const behind = (node) => {
    for (; node; node = node.parentElement) {
      const colour = channels(getComputedStyle(node).backgroundColor);
      if (colour.length < 4 || colour[3] === 1) return colour;
    }
    return [255, 255, 255];
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const found = [];
  while (walker.nextNode()) {
    const node = walker.currentNode.parentElement;
    const elsewhere = node.closest("svg, script, noscript, .unseen, .skip");
    if (!walker.currentNode.data.trim() || !node.checkVisibility() || elsewhere) continue;
    const pair = [luminance(channels(getComputedStyle(node).color)), luminance(behind(node))].sort((a, b) => b - a);
    found.push([(pair[0] + 0.05) / (pair[1] + 0.05), walker.currentNode.data.trim()]);
  }
  return found;
})()"""


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [360, 768, 1280])
def test_it_fits_and_can_be_read(tab: Tab, width: int, dark: bool) -> None:
    tab.screen(width, 800, dark)
    tab.until(f"document.querySelector('#chart-rate svg').getBoundingClientRect().width <= {width}")
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    contrasts = tab.evaluate(CONTRASTS)
    assert len(contrasts) > 150
    assert [entry for entry in contrasts if entry[0] < 4.5] == []


def test_dark_and_light_by_hand(tab: Tab) -> None:
    tab.screen(1280, 800, dark=True)
    paper = "getComputedStyle(document.body).backgroundColor"
    assert tab.evaluate(paper) == "rgb(20, 24, 29)"
    tab.click("#theme")
    assert tab.evaluate(paper) == "rgb(255, 255, 255)"
    tab.click("#theme")
    assert tab.evaluate(paper) == "rgb(20, 24, 29)"


def tree(tab: Tab) -> list[dict[str, Any]]:
    """What assistive technology is given: role, name and further properties of each node that is not ignored."""
    nodes = tab.call("Accessibility.getFullAXTree")["nodes"]
    return [
        {"role": node["role"]["value"], "name": node.get("name", {}).get("value", "")}
        for node in nodes if not node["ignored"]
    ]  # fmt: skip


def test_everything_that_acts_or_shows_has_a_name(tab: Tab) -> None:
    tab.screen(1280, 800)
    nodes = tree(tab)
    roles = {node["role"] for node in nodes}
    assert {"banner", "main", "contentinfo", "meter", "image", "table", "caption", "status"} & roles >= {
        "banner", "main", "contentinfo", "meter", "image", "table",
    }  # fmt: skip
    named = {"button", "combobox", "spinbutton", "image", "meter", "table", "region", "figure", "heading", "link"}
    assert [node for node in nodes if node["role"] in named and not node["name"]] == []
    charts = [node["name"] for node in nodes if node["role"] == "image"]
    assert len(charts) == 4
    assert all("now" in name and "range" in name for name in charts), "figures, not only a title"


def test_the_decisions_stay_a_table_on_a_phone(tab: Tab) -> None:
    tab.screen(360, 740)
    roles = [node["role"] for node in tree(tab)]
    assert roles.count("rowheader") >= 25
    assert "Scores" in tab.evaluate("document.querySelector('#decisions thead').textContent")


def test_by_keyboard_alone(tab: Tab) -> None:
    tab.screen(1280, 800)
    tab.evaluate("document.activeElement.blur(); window.scrollTo(0, 0)")
    seen: list[str] = []
    for _ in range(60):
        tab.press("Tab", 9)
        seen.append(tab.evaluate("document.activeElement.id || document.activeElement.textContent.slice(0, 30)"))
        style = tab.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert style != "none", f"no visible focus on {seen[-1]}"
        if seen[-1] == "HTTP interface":
            break
    assert seen[0] == "Skip to the figures"
    order = ["pause", "theme", "window", "policy-place", "shadow-policy", "demo-scenario", "demo-start"]
    assert [name for name in seen if name in order] == order
    tab.evaluate("document.querySelector('#pause').focus()")
    tab.press("Enter", 13)
    assert tab.evaluate("document.querySelector('#pause').getAttribute('aria-pressed')") == "true"
    tab.press("Enter", 13)
    tab.until(LIVE)


def test_a_screen_reader_is_not_told_every_second(tab: Tab) -> None:
    spoken = "'[aria-live], [role=status], [role=alert]'"
    regions = tab.evaluate(f"[...document.querySelectorAll({spoken})].map((node) => node.id)")
    assert sorted(regions) == ["announcer", "banner"]
    assert tab.evaluate("document.querySelector('#announcer').textContent") == ""


def test_motion_only_for_those_who_like_it(tab: Tab) -> None:
    for choice, seconds in (("reduce", "0s"), ("no-preference", "0.5s")):
        tab.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-reduced-motion", "value": choice}])
        assert tab.evaluate("getComputedStyle(document.querySelector('.meter i')).transitionDuration") == seconds


SUMS: list[tuple[str, str, Any]] = [
    ("format", "seconds(0.00064)", "640 µs"),
    ("format", "seconds(0.0123)", "12.3 ms"),
    ("format", "seconds(4.567)", "4.57 s"),
    ("format", "seconds(720)", "12 min"),
    ("format", "seconds(null)", "–"),
    ("format", "bytes(1536)", "1.5 KiB"),
    ("format", "bytes(2 ** 31)", "2 GiB"),
    ("format", "number(-0.5)", "−0.5"),
    ("format", "number(1234.5)", "1,235"),
    ("format", "number(0.00002)", "2.0e−5"),
    ("format", "percent(0.126)", "13 %"),
    ("format", "plural(1, 'core')", "1 core"),
    ("format", "words({instances: 3, cpu: 0.5, memory: null})", "instances 3, cpu 0.5"),
    ("format", "words([])", "none"),
    ("chart", "ceiling(0)", 1),
    ("chart", "ceiling(0.031)", 0.05),
    ("chart", "ceiling(20)", 20),
    ("chart", "ceiling(21)", 50),
    # one second without data is passed over, three are a gap: 5 stands alone
    ("chart", "path([1, 2, 3, 4], [5, 6, null, 7], (t) => t, (v) => v)", "M1.0 5.0L1.0 5.0L2.0 6.0L4.0 7.0"),
    ("chart", "path([1, 2, 5], [5, 6, 7], (t) => t, (v) => v)", "M1.0 5.0L1.0 5.0L2.0 6.0M5.0 7.0L5.0 7.0"),
    ("chart", "nearest([10, 20, 30], 24)", 1),
    ("chart", "nearest([], 24)", -1),
    ("poll", "[0, 1, 2, 3, 4, 5, 9].map(waitAfter)", [1000, 1000, 2000, 4000, 8000, 15000, 15000]),
    # a began before the window of 10 to 20; b was set twice
    ("bands", "segments([[0, 'a'], [12, 'b'], [15, 'b'], [18, null]], 10, 20)",
     [{"from": 10, "to": 12, "policy": "a"}, {"from": 12, "to": 18, "policy": "b"}]),
    ("bands", "shares([{from: 0, to: 3, policy: 'a'}, {from: 3, to: 4, policy: 'b'}])", [["a", 0.75], ["b", 0.25]]),
    ("bands", "inForce([[5, 'a'], [9, 'b']], 8)", "a"),
    ("bands", "inForce([[5, 'a']], 4)", None),
    ("decisions", "ranked({candidates: ['x', 'y', 'z'], scores: [1, null, 3], chosen: 'y'}).map((e) => e.name)",
     ["z", "x", "y"]),
    ("safety", "shadowFacts({policy: 'p', decisions: 0, agreed: 0, predicted_gain: null})",
     [["Policy", "p"], ["Agrees", "no decision yet"], ["Predicted gain", "–"]]),
]  # fmt: skip


FUNCTIONS = "|".join((
    "seconds", "bytes", "number", "percent", "plural", "ceiling", "path", "nearest", "waitAfter", "segments", "shares",
    "inForce", "ranked", "shadowFacts", "words",
))  # fmt: skip


@pytest.mark.parametrize(("module", "expression", "expected"), SUMS, ids=[entry[1] for entry in SUMS])
def test_arithmetic(tab: Tab, module: str, expression: str, expected: Any) -> None:
    script = f"import('/dashboard/{module}.js').then((all) => JSON.stringify(({expression}) ?? null))"
    answer = tab.evaluate(re.sub(rf"\b({FUNCTIONS})\b", r"all.\1", script))
    assert json.loads(answer) == expected


STATE = {
    "uptime_s": 9, "policies": {"place": "rank"}, "servers": [{"name": "s", "alive": True}],
    "functions": [], "guards": {},
}  # fmt: skip


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({}, []),
        ({"uptime_s": 1}, ["The platform was started anew."]),
        ({"policies": {"place": "hashing"}}, ["place is now decided by hashing."]),
        ({"servers": [{"name": "s", "alive": False}]}, ["s is down."]),
        ({"functions": [{"name": "f"}]}, ["Function f is deployed."]),
        ({"guards": {"stale": 1}}, ["A guard stepped in: stale."]),
    ],
    ids=["nothing", "restart", "policy", "server", "function", "guard"],
)
def test_what_is_worth_a_word(tab: Tab, change: dict[str, Any], said: list[str]) -> None:
    pair = f"{json.dumps(STATE)}, {json.dumps(STATE | change)}"
    assert tab.evaluate(f"import('/dashboard/changes.js').then(({{changes}}) => changes({pair}))") == said


def test_nothing_was_complained_about(tab: Tab) -> None:
    assert tab.complaints == []
