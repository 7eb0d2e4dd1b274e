"""A real browser, driven over its debugging pipe: open a page, act on it, see what it became."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
QUIET = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip
NEEDED = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium: no chromium executable on this machine"),
]
"""Marks of a module whose tests need the browser."""

_PATIENCE = 20.0


class Tab:
    """One page in the browser. What its console complained about is kept in ``complaints``."""

    def __init__(self, browser: Browser, session: str) -> None:
        self._browser, self._session = browser, session
        self.complaints: list[str] = []
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """One command of the debugging protocol."""
        return self._browser.call(method, parameters, self._session)

    def open(self, url: str) -> None:
        """Go to a page and wait until it and its scripts are loaded."""
        self.call("Page.navigate", url=url)
        self.until("document.readyState === 'complete' && location.href !== 'about:blank'")

    def evaluate(self, expression: str) -> Any:
        """The value of an expression in the page; a promise's, once it is there."""
        answer = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in answer, f"{expression}: {answer['exceptionDetails']}"
        return answer["result"].get("value")

    def until(self, expression: str, seconds: float = _PATIENCE) -> Any:
        """Wait until an expression is true; its value."""
        end = time.monotonic() + seconds
        while not (value := self.evaluate(expression)):
            assert time.monotonic() < end, f"not within {seconds} s: {expression}\n{self.complaints}"
            time.sleep(0.05)
        return value

    def text(self, selector: str) -> str:
        """The text of an element as a person sees it."""
        return str(self.evaluate(f"document.querySelector({json.dumps(selector)}).innerText"))

    def click(self, selector: str) -> None:
        """Press a button."""
        self.evaluate(f"document.querySelector({json.dumps(selector)}).click()")

    def choose(self, selector: str, value: str) -> None:
        """Set a field as a person would, so that the page hears of it."""
        self.evaluate(
            f"{{const field = document.querySelector({json.dumps(selector)}); field.value = {json.dumps(value)};"
            "field.dispatchEvent(new Event('input', {bubbles: true}));"
            "field.dispatchEvent(new Event('change', {bubbles: true}))}"
        )

    def press(self, key: str, code: int) -> None:
        """One key down and up, by its name and its virtual code."""
        for kind in ("keyDown", "keyUp"):
            text = {"text": "\r"} if key == "Enter" and kind == "keyDown" else {}
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code, **text)

    def screen(self, width: int, height: int, dark: bool = False) -> None:
        """The size of the window and the colours that its owner prefers."""
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])

    def picture(self, path: Path) -> Path:
        """The whole page as a PNG file."""
        answer = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(answer["data"]))
        return path

    def heard(self, method: str, parameters: dict[str, Any]) -> None:
        """An event from the browser; errors are kept."""
        if method == "Runtime.exceptionThrown":
            self.complaints.append(str(parameters["exceptionDetails"]))
        elif method == "Log.entryAdded" and parameters["entry"]["level"] == "error":
            self.complaints.append(parameters["entry"]["text"])
        elif method == "Runtime.consoleAPICalled" and parameters["type"] in {"error", "assert"}:
            self.complaints.append(str(parameters["args"]))


class Browser:
    """A running Chromium; messages are JSON, a zero byte after each."""

    def __init__(self, to_browser: int, from_browser: int) -> None:
        self._to, self._from = to_browser, from_browser
        self._rest = b""
        self._number = 0
        self._tabs: dict[str, Tab] = {}

    def tab(self) -> Tab:
        """A new, empty page."""
        target = self.call("Target.createTarget", {"url": "about:blank"})["targetId"]
        session = self.call("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]
        self._tabs[session] = tab = Tab(self, session)
        return tab

    def call(self, method: str, parameters: dict[str, Any], session: str | None = None) -> dict[str, Any]:
        """Send a command and wait for its answer; events that come in between go to their tabs."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read(method)
            if answer.get("id") == self._number:
                assert "error" not in answer, f"{method}: {answer['error']}"
                return dict(answer["result"])
            if tab := self._tabs.get(answer.get("sessionId", "")):
                tab.heard(answer["method"], answer["params"])

    def _read(self, method: str) -> dict[str, Any]:
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._from], [], [], 60)
            data = os.read(self._from, 1 << 16) if ready else b""
            assert data, f"Chromium did not answer {method}"
            self._rest += data
        message, _, self._rest = self._rest.partition(b"\0")
        return dict(json.loads(message))


@contextmanager
def chromium(profile: Path) -> Iterator[Browser]:
    """Chromium while the block runs."""
    browser_reads, to_browser = os.pipe()
    from_browser, browser_writes = os.pipe()
    # Chromium expects the pipe at the numbers 3 and 4; a shell is the simplest way to put it there
    command = ["bash", "-c", f'exec "$0" "$@" 3<&{browser_reads} 4>&{browser_writes}', str(CHROMIUM), *QUIET]
    process = subprocess.Popen(
        [*command, "--remote-debugging-pipe", f"--user-data-dir={profile}"],
        pass_fds=(browser_reads, browser_writes),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(browser_reads)
    os.close(browser_writes)
    browser = Browser(to_browser, from_browser)
    try:
        yield browser
        browser.call("Browser.close", {})
        process.wait(20)
    finally:
        process.kill()
        process.wait()
        os.close(to_browser)
        os.close(from_browser)
