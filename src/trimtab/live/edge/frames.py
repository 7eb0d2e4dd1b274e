"""Frames that streams send: a portrait of a known size on a background, with the box of the face beside it.

One subject on synthetic grounds: enough to see that a small network misses small faces, no benchmark of detectors.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from PIL import Image

from trimtab.live.edge.weights import picture_file

WIDTH, HEIGHT = 640, 360
HEIGHTS = (24, 40, 64, 110, 180)
"""Pixels of a face from hair to chin, one after the other."""
_FACE = (170, 57, 280, 187)
"""Left, top, right and bottom of the face in the portrait, by eye."""
_CUT = (110, 0, 340, 250)
"""Head and shoulders."""
_GROUNDS = ("brick.png", "coffee.png", "grass.png", "gravel.png")


@dataclass(frozen=True)
class Frame:
    """A JPEG file, and the box of its face (left, top, right, bottom) in shares of width and height."""

    picture: bytes
    face: tuple[float, float, float, float]
    height: int


@lru_cache(maxsize=4)
def make_frames(count: int = 50, seed: int = 1) -> tuple[Frame, ...]:
    """Faces of the five heights in turn, slanted, brighter or darker, with noise."""
    random = np.random.default_rng(seed)
    portrait = Image.open(picture_file("astronaut.png")).convert("RGB")
    return tuple(_frame(portrait, HEIGHTS[number % len(HEIGHTS)], random) for number in range(count))


def _frame(portrait: Image.Image, height: int, random: np.random.Generator) -> Frame:
    scale = height / (_FACE[3] - _FACE[1])
    size = tuple(round((_CUT[side + 2] - _CUT[side]) * scale) for side in (0, 1))
    slant = random.uniform(-12.0, 12.0)
    head = portrait.rotate(slant, Image.Resampling.BILINEAR, center=_middle(_FACE)).crop(_CUT)
    head = head.resize((size[0], size[1]), Image.Resampling.LANCZOS)
    left = int(random.integers(0, max(WIDTH - size[0], 1)))
    top = int(random.integers(0, max(HEIGHT - size[1], 1)))
    canvas = _background(random)
    canvas.paste(head, (left, top))
    pixels = np.asarray(canvas, np.float32) * random.uniform(0.6, 1.2)
    pixels += random.normal(0.0, 8.0, pixels.shape)
    buffer = io.BytesIO()
    Image.fromarray(pixels.clip(0, 255).astype(np.uint8)).save(buffer, "JPEG", quality=50)
    face = [(left + (_FACE[0] - _CUT[0]) * scale) / WIDTH, (top + (_FACE[1] - _CUT[1]) * scale) / HEIGHT,
            (left + (_FACE[2] - _CUT[0]) * scale) / WIDTH, (top + (_FACE[3] - _CUT[1]) * scale) / HEIGHT]  # fmt: skip
    return Frame(buffer.getvalue(), (face[0], face[1], face[2], face[3]), height)


def _middle(box: tuple[int, int, int, int]) -> tuple[float, float]:
    return (box[0] + box[2]) / 2.0, (box[1] + box[3]) / 2.0


def _background(random: np.random.Generator) -> Any:
    """A piece of one of four pictures without faces."""
    ground = Image.open(picture_file(_GROUNDS[int(random.integers(len(_GROUNDS)))])).convert("RGB")
    width = min(ground.width, ground.height * WIDTH // HEIGHT)
    height = width * HEIGHT // WIDTH
    top = int(random.integers(0, ground.height - height + 1))
    return ground.crop((0, top, width, top + height)).resize((WIDTH, HEIGHT), Image.Resampling.BILINEAR)
