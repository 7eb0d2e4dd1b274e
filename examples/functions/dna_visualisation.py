"""DNA visualisation (FaaSRank Table II, DV): a sequence drawn as a line, the way that Squiggle does it.

args: size (200000 bases), seed (1), folder. Squiggle's mapping, written anew: T, C, A and G are the bits 00, 01,
10 and 11; every bit is half a step to the right and one up (1) or down (0). The paper keeps objects in CouchDB;
here the picture goes to a folder.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageDraw

BASES = "TCAG"
WIDTH, HEIGHT, MARGIN = 1200, 400, 10


def sequence(size: int, seed: int) -> np.ndarray:
    """Bases as numbers 0 to 3, in the order of ``BASES``; three of ten are A, so that the line climbs."""
    return np.random.default_rng(seed).choice(4, size, p=[0.2, 0.25, 0.3, 0.25])


def line(bases: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Coordinates of the line, the origin included: two points a base."""
    bits = np.stack([bases >> 1, bases & 1], axis=1).ravel()
    height = np.concatenate([[0], np.cumsum(2 * bits - 1)])
    return np.arange(len(height)) / 2.0, height


def picture(x: np.ndarray, y: np.ndarray) -> Image.Image:
    """The line, fitted into a picture."""
    across = MARGIN + x / max(float(x[-1]), 1.0) * (WIDTH - 2 * MARGIN)
    up = HEIGHT - MARGIN - (y - y.min()) / max(float(np.ptp(y)), 1.0) * (HEIGHT - 2 * MARGIN)
    canvas = Image.new("L", (WIDTH, HEIGHT), 255)
    ImageDraw.Draw(canvas).line(list(zip(across.tolist(), up.tolist(), strict=True)), fill=0)
    return canvas


def main(args: dict[str, Any]) -> dict[str, Any]:
    """Draw a sequence, or the one in ``sequence``, and keep the picture."""
    given = str(args.get("sequence", "")).upper()
    if set(given) - set(BASES):
        return {"error": f"sequence has {''.join(sorted(set(given) - set(BASES)))!r}, must be of {BASES} alone"}
    size = len(given) or int(args.get("size", 200_000))
    bases = np.array([BASES.index(each) for each in given]) if given else sequence(size, int(args.get("seed", 1)))
    x, y = line(bases)
    kept = Path(args.get("folder", tempfile.gettempdir())) / "dna.png"
    picture(x, y).save(kept)
    counts = dict(zip(BASES, np.bincount(bases, minlength=4).tolist(), strict=True))
    return {
        "object": kept.name,
        "counts": counts,
        "end": int(y[-1]),
        "highest": int(y.max()),
        "lowest": int(y.min()),
    }
