"""The dashboard's files as the gateway serves them: what is there, with which headers, and nothing else."""

from __future__ import annotations

import http.client
import re
from collections.abc import Iterator

import pytest
from tests.browser.fake_gateway import FakeGateway, serving


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with serving(FakeGateway()) as address:
        yield int(address.rpartition(":")[2])


def ask(port: int, path: str, method: str = "GET", **headers: str) -> tuple[int, dict[str, str], bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request(method, path, headers={name.replace("_", "-"): value for name, value in headers.items()})
    response = connection.getresponse()
    answer = response.status, {name.lower(): value for name, value in response.getheaders()}, response.read()
    connection.close()
    return answer


def test_every_file_that_the_page_needs_is_there_and_none_is_from_elsewhere(port: int) -> None:
    status, _, page = ask(port, "/")
    assert status == 200
    wanted = set(re.findall(r'(?:src|href)="(/dashboard/[^"]+)"', page.decode()))
    seen: set[str] = set()
    while wanted - seen:
        path = min(wanted - seen)
        status, headers, content = ask(port, path)
        assert status == 200, path
        assert headers["content-type"].startswith(("text/css", "text/javascript", "image/svg")), path
        text = content.decode().replace("http://www.w3.org/2000/svg", "")
        assert not re.search(r"https?:|//[a-z]+\.|innerHTML|insertAdjacentHTML|document\.write|eval\(", text), path
        wanted |= {f"/dashboard/{name}" for name in re.findall(r'from "\./([^"]+)"', text)}
        seen.add(path)
    assert len(seen) > 15
    assert not re.search(rb'(src|href)="(https?:)?//', page)
    assert not re.search(rb"\son\w+=|style=|<script>|<style>", page), "nothing inline: the policy forbids it"


@pytest.mark.parametrize("path", ["/", "/dashboard/main.js"])
def test_headers(port: int, path: str) -> None:
    _, headers, _ = ask(port, path)
    policy = headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'")
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert "require-trusted-types-for 'script'" in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"


def test_unchanged_files_are_not_sent_again(port: int) -> None:
    _, headers, _ = ask(port, "/dashboard/style.css")
    status, _, content = ask(port, "/dashboard/style.css", if_none_match=headers["etag"])
    assert (status, content) == (304, b"")


@pytest.mark.parametrize(
    "path",
    ["/dashboard/", "/dashboard/page.html", "/dashboard/../routes.py", "/dashboard/%2e%2e/routes.py",
     "/dashboard/..%2froutes.py", "/dashboard//etc/passwd", "/dashboard/main.js%00", "/dashboard/main.js/"],
)  # fmt: skip
def test_there_is_no_other_file(port: int, path: str) -> None:
    status, _, content = ask(port, path)
    assert status in (307, 404), path  # 307: to the address without the last slash
    assert b"import" not in content


def test_only_reading(port: int) -> None:
    assert ask(port, "/", "HEAD")[0] == 200
    assert ask(port, "/", "POST")[0] == 405
