"""The dashboard in a real browser, before a gateway whose every answer the test decides."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import pytest
from tests.browser.chromium import NEEDED, Browser, Tab, chromium
from tests.browser.fake_gateway import FakeGateway, serving

pytestmark = NEEDED

LIVE = "document.getElementById('status').dataset.state === 'live'"
GONE = "document.getElementById('status').dataset.state === 'gone'"
SHADOW = {"policy": "faasrank", "decisions": 120, "agreed": 90, "predicted_gain": 0.0081}


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with chromium(tmp_path_factory.mktemp("profile")) as running:
        yield running


@pytest.fixture
def opened(browser: Browser) -> Iterator[Callable[[FakeGateway], Tab]]:
    """Opens the dashboard of a gateway and waits until it is live."""
    stops: list[Iterator[Tab]] = []

    def visit(gateway: FakeGateway) -> Iterator[Tab]:
        with serving(gateway) as address:
            tab = browser.tab()
            tab.open(address)
            yield tab
            tab.open("about:blank#left")

    def start(gateway: FakeGateway) -> Tab:
        stops.append(visit(gateway))
        return next(stops[-1])

    yield start
    for stop in stops:
        next(stop, None)


def wait_for_questions(gateway: FakeGateway, more: int) -> None:
    """Until the page has asked so many times more."""
    wanted, end = gateway.asked + more, time.monotonic() + 20
    while gateway.asked < wanted:
        assert time.monotonic() < end, "the page asks no more"
        time.sleep(0.05)


def test_everything_the_gateway_tells_is_there(opened: Callable[[FakeGateway], Tab]) -> None:
    tab = opened(FakeGateway(dead={"server-3"}, shadow=SHADOW))
    tab.until(LIVE)
    assert tab.evaluate("document.querySelectorAll('#servers > li').length") == 4
    assert "✕ down" in tab.text("#servers > li:nth-child(4)")
    assert "✓ up" in tab.text("#servers > li:nth-child(1)")
    assert "○ 1 idle" in tab.text("#servers > li:nth-child(1) .instances")
    assert "of 0.5 cores" in tab.text("#servers > li:nth-child(1)")
    assert "MiB reserved" in tab.text("#servers > li:nth-child(1)")
    assert "image-resize" in tab.text("#functions")
    assert "place/greedy" in tab.text("#bands-legend")
    assert tab.evaluate("document.querySelectorAll('#decisions tbody tr').length") == 25
    assert "▶ server-" in tab.text("#decisions tbody tr:not(.unscored) .chosen")
    assert "guard: deadline of 10 ms exceeded" in tab.text("#decisions .guarded")
    assert "instances 3" in tab.text("#decisions")
    assert "2 ×" in tab.text("#guards")
    assert "pid, network, mount" in tab.text("#isolation")
    assert "75 % of 120 decisions" in tab.text("#shadow")
    assert "8.1 ms a decision" in tab.text("#shadow")
    assert tab.complaints == []


def test_charts_move_and_the_pointer_reads_them(opened: Callable[[FakeGateway], Tab]) -> None:
    tab = opened(FakeGateway())
    tab.until(LIVE)
    line = "document.querySelector('#chart-rate path.line').getAttribute('d')"
    first = tab.until(line)
    tab.until(f"{line} !== {first!r}", 5)
    tab.evaluate(
        "{const plot = document.querySelector('#chart-latency svg'); const box = plot.getBoundingClientRect();"
        "plot.dispatchEvent(new PointerEvent('pointermove', {clientX: box.left + box.width / 2}))}"
    )
    assert "place/" in tab.text("#chart-rate .readout"), "one pointer for all charts"
    tab.choose("#window", "60")
    tab.until("document.querySelector('#chart-rate svg').getAttribute('aria-label').includes('last 60 seconds')")


def test_open_details_and_focus_survive_the_next_answer(opened: Callable[[FakeGateway], Tab]) -> None:
    gateway = FakeGateway()
    tab = opened(gateway)
    tab.until(LIVE)
    tab.evaluate("document.querySelectorAll('details').forEach((details) => { details.open = true; })")
    tab.evaluate("document.querySelector('#servers summary').focus()")
    tab.choose("#policy-place", "hashing")
    wait_for_questions(gateway, 2)
    assert tab.evaluate("document.activeElement.matches('#servers summary')")
    assert tab.evaluate("document.querySelectorAll('details[open]').length") == 5
    assert tab.evaluate("document.querySelector('#policy-place').value") == "hashing", "not sent yet, not undone either"
    assert "metric_25" in tab.text("#servers li")
    assert tab.evaluate("document.querySelectorAll('#series tbody tr').length") == 12


def test_switching_a_policy(opened: Callable[[FakeGateway], Tab]) -> None:
    gateway = FakeGateway()
    tab = opened(gateway)
    tab.until("document.querySelector('#policy-place')")
    tab.choose("#policy-place", "hashing")
    tab.click("#policies form:first-child button")
    tab.until("document.querySelector('#policies').innerText.includes('hashing in force')")
    assert gateway.told == [("POST", "/v1/policy", {"decision": "place", "policy": "hashing", "shadow": False})]
    assert "✓ place is now decided by hashing." in tab.text("#outcome")
    tab.until("document.querySelector('#bands-legend').innerText.includes('place/hashing')")
    tab.until("document.querySelector('#announcer').textContent.includes('decided by hashing')")


def test_scaling_can_be_left_to_nobody(opened: Callable[[FakeGateway], Tab]) -> None:
    gateway = FakeGateway()
    tab = opened(gateway)
    tab.until("document.querySelector('#policy-scale')")
    assert tab.evaluate("[...document.querySelector('#policy-scale').options].map((each) => each.text)[0]") == "none"
    tab.choose("#policy-scale", "")
    tab.click("#policies form:nth-child(2) button")
    tab.until("document.querySelector('#policies').innerText.includes('none in force')")
    assert gateway.policies["scale"] is None


def test_a_refusal_is_shown_as_it_is_and_as_text(opened: Callable[[FakeGateway], Tab]) -> None:
    tab = opened(FakeGateway())
    tab.until("document.querySelector('#policy-scale')")
    tab.choose("#policy-scale", "residual")
    tab.click("#policies form:nth-child(2) button")
    tab.until("document.querySelector('#outcome').innerText.startsWith('✕')")
    assert "is not trained for <b>this</b> scenario" in tab.text("#outcome")
    assert tab.evaluate("document.querySelector('#outcome b')") is None


def test_a_shadow_of_scaling_counts_instances(opened: Callable[[FakeGateway], Tab]) -> None:
    gateway = FakeGateway()
    tab = opened(gateway)
    tab.until(LIVE)
    tab.choose("#shadow-policy", "scale/hpa")
    tab.click("#shadow-form button[type=submit]")
    tab.until("document.querySelector('#shadow').innerText.includes('25 % of 40 decisions')")
    assert "0.5 instances a decision" in tab.text("#shadow")
    tab.until("document.querySelector('#decisions').innerText.includes('≠ hpa: instances 2')")
    tab.click("#shadow-stop")
    tab.until("document.querySelector('#shadow').innerText.includes('No shadow runs')")
    assert [body["decision"] for _, _, body in gateway.told] == ["scale", "scale"]


def test_a_shadow_policy_comes_and_goes(opened: Callable[[FakeGateway], Tab]) -> None:
    gateway = FakeGateway()
    tab = opened(gateway)
    tab.until(LIVE)
    assert "No shadow runs" in tab.text("#shadow")
    tab.choose("#shadow-policy", "place/faasrank")
    tab.click("#shadow-form button[type=submit]")
    tab.until("document.querySelector('#shadow').innerText.includes('faasrank')")
    tab.until("!document.querySelector('#shadow-stop').hidden")
    tab.click("#shadow-stop")
    tab.until("document.querySelector('#shadow').innerText.includes('No shadow runs')")
    bodies = [body for _, _, body in gateway.told]
    assert bodies == [
        {"decision": "place", "policy": "faasrank", "shadow": True},
        {"decision": "place", "policy": None, "shadow": True},
    ]


def test_a_demo_load_starts_and_stops(opened: Callable[[FakeGateway], Tab]) -> None:
    gateway = FakeGateway()
    tab = opened(gateway)
    tab.until("document.querySelector('#demo-scenario').value")
    tab.choose("#demo-scenario", "live-burst")
    tab.choose("#demo-seconds", "45")
    tab.click("#demo-start")
    tab.until("/live-burst runs for 45 s: \\d+ requests sent/.test(document.querySelector('#demo-status').innerText)")
    assert gateway.told == [("POST", "/v1/demo", {"scenario": "live-burst", "seconds": 45})]
    tab.click("#demo-stop")
    tab.until("document.querySelector('#demo-status').innerText.startsWith('None is running')")
    assert gateway.told[1][:2] == ("DELETE", "/v1/demo")


def test_the_token_is_asked_for_when_the_gateway_wants_it_and_not_before(opened: Callable[[FakeGateway], Tab]) -> None:
    gateway = FakeGateway()
    tab = opened(gateway)
    tab.until(LIVE)
    assert tab.evaluate("document.querySelector('#token-form').hidden")
    gateway.token = "right"
    tab.until("!document.querySelector('#token-form').hidden && document.activeElement.id === 'token'")
    tab.choose("#token", "wrong")
    tab.click("#token-form button")
    tab.until("!document.querySelector('#token-form').hidden && !document.querySelector('#token-refused').hidden")
    tab.choose("#token", "right")
    tab.click("#token-form button")
    tab.until(LIVE)
    assert tab.evaluate("document.querySelector('#token-form').hidden")


def test_a_token_that_only_actions_need(opened: Callable[[FakeGateway], Tab]) -> None:
    gateway = FakeGateway(token="right", open_to_readers=True)
    tab = opened(gateway)
    tab.until(LIVE)
    tab.click("#policies form button")
    tab.until("!document.querySelector('#token-form').hidden")
    wait_for_questions(gateway, 2)
    assert not tab.evaluate("document.querySelector('#token-form').hidden"), "reading goes on, the question stays"
    tab.choose("#token", "right")
    tab.click("#token-form button")
    tab.click("#policies form button")
    tab.until("document.querySelector('#outcome').innerText.startsWith('✓')")
    assert len(gateway.told) == 1


def test_a_gateway_that_goes_and_comes_back(browser: Browser) -> None:
    gateway, tab = FakeGateway(), browser.tab()
    with serving(gateway) as address:
        tab.open(address)
        tab.until(LIVE)
    tab.until(GONE)
    assert "The gateway does not answer" in tab.text("#banner")
    assert tab.evaluate("document.querySelectorAll('#servers > li').length") == 4, "the last figures stay"
    with serving(gateway, int(address.rpartition(":")[2])):
        tab.click("#banner button")
        tab.until(LIVE)
        assert tab.evaluate("document.querySelector('#banner').hidden")
        tab.until("document.querySelector('#announcer').textContent.includes('The gateway is back.')")
    tab.open("about:blank#left")


def test_an_answer_that_makes_no_sense_is_said_and_survived(opened: Callable[[FakeGateway], Tab]) -> None:
    gateway = FakeGateway()
    tab = opened(gateway)
    tab.until(LIVE)
    gateway.broken = True
    tab.until(GONE)
    assert "cannot show the gateway's answer" in tab.text("#banner")
    gateway.broken = False
    tab.until(LIVE)


@pytest.mark.parametrize("stop", ["hidden", "paused"])
def test_nothing_is_asked_while_nobody_looks(opened: Callable[[FakeGateway], Tab], stop: str) -> None:
    gateway = FakeGateway()
    tab = opened(gateway)
    tab.until(LIVE)
    toggle = {
        "hidden": "Object.defineProperty(document, 'hidden', {value: !document.hidden, configurable: true});"
        "document.dispatchEvent(new Event('visibilitychange'))",
        "paused": "document.querySelector('#pause').click()",
    }[stop]
    tab.evaluate(toggle)
    time.sleep(0.5)  # an answer may be under way
    asked = gateway.asked
    time.sleep(2.5)
    assert gateway.asked == asked
    tab.evaluate(toggle)
    wait_for_questions(gateway, 1)


def test_names_from_outside_stay_text(opened: Callable[[FakeGateway], Tab]) -> None:
    attack = "<img src=x onerror=\"document.title='owned'\">"
    gateway = FakeGateway(functions=(attack,), name_prefix=attack, guards={attack: 1}, dead={f"{attack}1"})
    gateway.policies["place"] = attack
    gateway.bands = [[gateway.start - 90, attack]]
    tab = opened(gateway)
    tab.until(LIVE)
    for place in ("#servers", "#functions", "#decisions", "#guards", "#bands-legend", "#policies"):
        assert attack in tab.text(place), place
    assert tab.evaluate("document.querySelectorAll('img, [onerror]').length") == 0
    assert tab.evaluate("document.title") == "Live platform – Trimtab"
    assert tab.complaints == []


def test_an_empty_platform_says_what_to_type(opened: Callable[[FakeGateway], Tab]) -> None:
    tab = opened(FakeGateway(functions=(), guards={}))
    tab.until(LIVE)
    assert "trimtab deploy examples/functions/fibonacci" in tab.text("#functions-empty")
    assert "Start a demo load" in tab.text("#decisions-empty")
    assert "None so far" in tab.text("#guards")
    assert "No instance yet." in tab.text("#servers")
