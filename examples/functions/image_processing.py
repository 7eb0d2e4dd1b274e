"""Image processing (FaaSRank Table II, IP): Pillow turns, mirrors, blurs, greys and shrinks a picture.

args: size (512, pixels of an edge), folder. The input is drawn, a Mandelbrot set; the paper keeps objects in
CouchDB, here the results go to a folder as PNG files.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from PIL import Image, ImageFilter, ImageOps

STEPS: dict[str, Callable[[Image.Image], Image.Image]] = {
    "flipped": ImageOps.flip,
    "mirrored": ImageOps.mirror,
    "turned": lambda picture: picture.transpose(Image.Transpose.ROTATE_90),
    "blurred": lambda picture: picture.filter(ImageFilter.GaussianBlur(4)),
    "grey": ImageOps.grayscale,
    "thumbnail": lambda picture: picture.resize((64, 64), Image.Resampling.LANCZOS),
}


def draw(size: int) -> Image.Image:
    """The picture that is worked on: a Mandelbrot set in false colours."""
    escape = Image.effect_mandelbrot((size, size), (-2.0, -1.25, 0.5, 1.25), 100)
    return Image.merge("RGB", (escape, ImageOps.invert(escape), escape.point([value // 2 for value in range(256)])))


def main(args: dict[str, Any]) -> dict[str, Any]:
    """Apply every step to the picture, and keep the results."""
    size = int(args.get("size", 512))
    if not 1 <= size <= 4096:
        return {"error": f"size = {size}, must be 1 to 4096"}
    folder = Path(args.get("folder", tempfile.gettempdir()))
    picture = draw(size)
    found = {}
    for name, step in STEPS.items():
        result = step(picture)
        result.save(folder / f"{name}.png")
        pixels = hashlib.sha256(result.tobytes()).hexdigest()
        found[name] = {"object": f"{name}.png", "size": list(result.size), "mode": result.mode, "sha256": pixels}
    return {"size": size, "results": found}
