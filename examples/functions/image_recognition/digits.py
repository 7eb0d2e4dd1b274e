"""Pictures of digits: how they are drawn, and what the network takes."""

from __future__ import annotations

import random

import numpy as np
from PIL import Image, ImageDraw, ImageFont

EDGE = 24
"""Pixels of a picture's edge."""


def draw(digit: int, chance: random.Random) -> Image.Image:
    """A digit of a random size, place and slant, with noise."""
    picture = Image.new("L", (EDGE, EDGE), 0)
    font = ImageFont.load_default(chance.uniform(15.0, 21.0))
    place = (EDGE / 2 + chance.uniform(-2.0, 2.0), EDGE / 2 + chance.uniform(-2.0, 2.0))
    ImageDraw.Draw(picture).text(place, str(digit), fill=255, font=font, anchor="mm")
    picture = picture.rotate(chance.uniform(-12.0, 12.0), Image.Resampling.BILINEAR)
    noise = Image.frombytes("L", picture.size, chance.randbytes(EDGE * EDGE))
    return Image.blend(picture, noise, 0.2)


def tensor(pictures: list[Image.Image]) -> np.ndarray:
    """The network's input: (pictures, pixels) from 0 to 1."""
    grey = [picture.convert("L").resize((EDGE, EDGE)) for picture in pictures]
    return np.stack([np.asarray(each, np.float32).ravel() / 255.0 for each in grey])
