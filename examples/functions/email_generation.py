"""E-mail generation (FaaSRank Table II, EG): messages with a text and an HTML part from one template.

args: size (200 messages), seed (1), folder. The paper keeps objects in CouchDB; here the messages go to a
folder as one file in mbox format.
"""

from __future__ import annotations

import hashlib
import html
import random
import tempfile
from email.message import EmailMessage
from pathlib import Path
from string import Template
from typing import Any

TEXT = Template("Dear $name,\n\nyour order $order of $amount EUR is on its way.\n\nYour shop\n")
NAMES = ("Ada", "Alan", "Barbara", "Edsger", "Grace", "Ken & Dennis", "Niklaus")


def compose(number: int, draw: random.Random) -> EmailMessage:
    """One message; its date and identity are fixed, so that the same arguments give the same bytes."""
    name = draw.choice(NAMES)
    text = TEXT.substitute(name=name, order=f"{number:06d}", amount=f"{draw.randrange(100, 100_000) / 100:.2f}")
    message = EmailMessage()
    message["From"], message["To"] = "shop@example.org", f"customer{number}@example.org"
    message["Subject"] = f"Order {number:06d}"
    message["Date"], message["Message-ID"] = "Thu, 01 Jan 2026 00:00:00 +0000", f"<{number}@example.org>"
    message.set_content(text)
    paragraphs = "".join(f"<p>{html.escape(line)}</p>" for line in text.splitlines() if line)
    message.add_alternative(f"<html><body>{paragraphs}</body></html>", subtype="html")
    message.set_boundary(f"part-{number:06d}")
    return message


def main(args: dict[str, Any]) -> dict[str, Any]:
    """Compose ``size`` messages and keep them."""
    size, draw = int(args.get("size", 200)), random.Random(int(args.get("seed", 1)))
    box = b"".join(b"From shop@example.org\n" + bytes(compose(number, draw)) + b"\n" for number in range(size))
    kept = Path(args.get("folder", tempfile.gettempdir())) / "outbox.mbox"
    kept.write_bytes(box)
    return {"object": kept.name, "messages": size, "bytes": len(box), "sha256": hashlib.sha256(box).hexdigest()}
