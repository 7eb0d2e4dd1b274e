"""The dashboard before the real platform: real functions, a policy switched, a load started, charts that move."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest
from tests.browser.chromium import NEEDED, Browser, Tab, chromium
from tests.live_platform import RunningPlatform, running_platform

from trimtab.live.client import GatewayClient

pytestmark = NEEDED

LIVE = "document.getElementById('status').dataset.state === 'live'"


@pytest.fixture(scope="module")
def platform() -> Iterator[RunningPlatform]:
    with running_platform(policy="hashing") as running:
        yield running


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with chromium(tmp_path_factory.mktemp("profile")) as running:
        yield running


@pytest.fixture
def tab(platform: RunningPlatform, browser: Browser) -> Iterator[Tab]:
    opened = browser.tab()
    opened.open(platform.url)
    opened.until(LIVE)
    yield opened
    opened.open("about:blank#left")


@pytest.fixture
def client(platform: RunningPlatform) -> Iterator[GatewayClient]:
    with closing(platform.client()) as connected:
        yield connected


def shown(selector: str, word: str) -> str:
    return f"document.querySelector('{selector}').innerText.includes('{word}')"


def test_switch_a_policy_start_a_load_and_see_it(tab: Tab, client: GatewayClient) -> None:
    assert "hashing in force" in tab.text("#policies")
    tab.choose("#policy-place", "least-connections")
    tab.click("#policies form:first-child button")
    tab.until(shown("#policies", "least-connections in force"))
    tab.until(shown("#bands-legend", "least-connections"))
    assert "hashing" in tab.text("#bands-legend"), "both bands are there"
    assert client.state()["policies"]["place"] == "least-connections"

    line = "document.querySelector('#chart-rate path.line').getAttribute('d')"
    before = tab.until(line)
    tab.choose("#demo-seconds", "20")
    tab.click("#demo-start")
    tab.until(shown("#demo-status", "runs for 20 s"))
    tab.until(f"{line} !== {before!r} && / to [1-9]/.test(document.querySelector('#chart-rate svg').ariaLabel)", 30)
    tab.until("/range .* to /.test(document.querySelector('#chart-latency svg').ariaLabel)", 30)
    tab.until("document.querySelectorAll('#decisions tbody .chosen').length > 3", 30)
    assert "least-connections" in tab.text("#decisions")
    assert tab.until("document.querySelectorAll('#servers .chip').length", 30) >= 1
    tab.click("#demo-stop")
    tab.until(shown("#demo-status", "None is running"))
    assert tab.complaints == []


def test_a_shadow_decides_beside(tab: Tab, client: GatewayClient) -> None:
    tab.choose("#shadow-policy", "place/round-robin")
    tab.click("#shadow-form button[type=submit]")
    tab.until(shown("#shadow", "round-robin"))
    for _ in range(5):
        client.call("fibonacci", {"size": 10})
    tab.until("/% of [1-9]/.test(document.querySelector('#shadow').innerText)")
    tab.until(shown("#decisions", "round-robin"))
    tab.click("#shadow-stop")
    tab.until(shown("#shadow", "No shadow runs"))


def test_what_the_platform_cannot_do_is_said(tab: Tab, client: GatewayClient) -> None:
    """Everything that a person can press is answered, by a change or by a reason."""
    tab.choose("#demo-seconds", "0.2")
    assert tab.evaluate("document.querySelector('#demo-form').checkValidity()") is False
    for decision, names in client.ask("GET", "/v1/policies")[1].items():
        assert tab.evaluate(f"document.querySelector('#policy-{decision}').options.length") >= len(names)
    assert "cgroup" in tab.text("#isolation") or "rlimit" in tab.text("#isolation")
    for path in ("/docs", "/v1/state", "/metrics"):
        assert tab.evaluate(f"fetch('{path}').then((answer) => answer.status)") == 200
    assert tab.complaints == []
