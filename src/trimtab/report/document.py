"""A page around a body: style, script and chart library inside, nothing fetched."""

from __future__ import annotations

import platform
from html import escape
from importlib import metadata, resources

# Nothing may be fetched, whatever a name in a scenario looks like.
_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; "
    "base-uri 'none'; form-action 'none'"
)


def document(title: str, lead: str, body: str) -> str:
    """A whole page around a body: style, script and chart library inside."""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        f"<title>{escape(title)} – Trimtab</title><style>{_asset('style.css')}</style></head><body>"
        '<a class="skip" href="#result">Skip to the result</a>'
        f'<header><div><p class="brand">Trimtab</p><h1>{escape(title)}</h1>'
        f"{f'<p>{escape(lead)}</p>' if lead else ''}</div>"
        '<button type="button" id="theme" aria-pressed="false">Dark</button></header>'
        f"<main>{body}</main><noscript><p>Charts need JavaScript; the tables do not.</p></noscript>"
        f"<script>{_chart_library()}</script><script>{_asset('page.js')}</script></body></html>\n"
    )


def section(name: str, title: str, content: str) -> str:
    """A part of a page with its heading; nothing at all where there is no content."""
    if not content:
        return ""
    heading = f'<h2 id="{name}-title">{escape(title)}</h2>'
    return f'<section id="{name}" aria-labelledby="{name}-title">{heading}{content}</section>'


def versions() -> str:
    """What computed the figures; results may differ between versions of these."""
    names = ("trimtab", "numpy", "numba")
    parts = [f"{name} {metadata.version(name)}" for name in names]
    return ", ".join([*parts, f"Python {platform.python_version()}"])


def _asset(name: str) -> str:
    return resources.files("trimtab.report").joinpath(name).read_text(encoding="utf-8")


def _chart_library() -> str:
    library = resources.files("plotly").joinpath("package_data/plotly.min.js").read_text(encoding="utf-8")
    return library.replace("</script", "<\\/script")
