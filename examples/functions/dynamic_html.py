"""Dynamic HTML (FaaSRank Table II, DH): a page rendered by Jinja2 from generated rows.

args: size (1000 rows), seed (1), folder. The paper keeps objects in CouchDB; here the page goes to a folder,
the one for temporary files unless ``folder`` names another.
"""

from __future__ import annotations

import hashlib
import random
import tempfile
from pathlib import Path
from typing import Any

from jinja2 import Environment

PAGE = Environment(autoescape=True).from_string("""<!DOCTYPE html>
<html lang="en">
<head><title>{{ title }}</title></head>
<body>
<h1>{{ title }}</h1>
<table>
{% for row in rows %}<tr class="{{ loop.cycle('odd', 'even') }}"><td>{{ row.name }}</td><td>{{ row.value }}</td></tr>
{% endfor %}</table>
<p>Total: {{ rows | sum(attribute="value") }}</p>
</body>
</html>
""")


def main(args: dict[str, Any]) -> dict[str, Any]:
    """Render a page of ``size`` rows and keep it."""
    size, draw = int(args.get("size", 1000)), random.Random(int(args.get("seed", 1)))
    rows = [{"name": f"<item {number}>", "value": draw.randrange(1000)} for number in range(size)]
    page = PAGE.render(title=f"{size} items & their values", rows=rows).encode()
    kept = Path(args.get("folder", tempfile.gettempdir())) / "page.html"
    kept.write_bytes(page)
    return {
        "object": kept.name,
        "bytes": len(page),
        "total": sum(row["value"] for row in rows),
        "sha256": hashlib.sha256(page).hexdigest(),
    }
