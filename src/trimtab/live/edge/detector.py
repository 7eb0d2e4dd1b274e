"""BlazeFace in three sizes: a picture in, faces out, with no more work around the network than needed.

A network gives, for each of its anchors, a score and a box relative to the anchor. Anchors sit in the middle of the
cells of one or two grids, several to a cell. Only anchors whose score is above 0 (a probability above one half)
are decoded; boxes that overlap are merged, weighted by their scores.
"""

from __future__ import annotations

import io
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image

from trimtab.errors import unknown
from trimtab.live.edge.weights import detector_file

Floats = npt.NDArray[np.float32]

_SAME = 0.3
"""Overlap (intersection over union) above which two boxes are of one face."""


@dataclass(frozen=True)
class Model:
    """A network: its file, the edge of its input, and its grids as (cells of an edge, anchors a cell)."""

    file: str
    edge: int
    grids: tuple[tuple[int, int], ...]


MODELS = {
    "face-small": Model("face_detection_short_range.tflite", 128, ((16, 2), (8, 6))),
    "face-medium": Model("face_detection_full_range.tflite", 192, ((48, 1),)),
    "face-large": Model("face_detection_back.tflite", 256, ((16, 2), (8, 6))),
}


@dataclass(frozen=True)
class Face:
    """A box in shares of the picture's width and height, and how sure the network is."""

    left: float
    top: float
    right: float
    bottom: float
    score: float


def overlap(one: tuple[float, ...], other: tuple[float, ...]) -> float:
    """Intersection over union of two boxes (left, top, right, bottom)."""
    width = min(one[2], other[2]) - max(one[0], other[0])
    height = min(one[3], other[3]) - max(one[1], other[1])
    if width <= 0.0 or height <= 0.0:
        return 0.0
    both = width * height
    areas = ((box[2] - box[0]) * (box[3] - box[1]) for box in (one, other))
    return both / (sum(areas) - both)


def anchors(model: Model) -> Floats:
    """Centres (x, y) of all anchors in shares of the input, in the order of the network's outputs."""
    rows = []
    for cells, each in model.grids:
        middle = (np.arange(cells, dtype=np.float32) + 0.5) / cells
        y, x = np.meshgrid(middle, middle, indexing="ij")
        rows.append(np.repeat(np.stack([x.ravel(), y.ravel()], axis=1), each, axis=0))
    return np.concatenate(rows)


def merged(boxes: Floats, scores: Floats) -> list[tuple[list[float], float]]:
    """One box a face: the best box and those that overlap it, weighted by their scores."""
    left = list(np.argsort(-scores, kind="stable"))
    found = []
    while left:
        best = left[0]
        same = [each for each in left if each == best or overlap(tuple(boxes[best]), tuple(boxes[each])) > _SAME]
        box: list[float] = np.average(boxes[same], axis=0, weights=scores[same]).tolist()
        found.append((box, float(scores[best])))
        left = [each for each in left if each not in same]
    return found


class Detector:
    """One network on ``cores`` threads."""

    def __init__(self, name: str, cores: int = 1) -> None:
        if name not in MODELS:
            raise unknown("model", name, MODELS)
        from ai_edge_litert.interpreter import Interpreter

        model = MODELS[name]
        self.edge, self._anchors = model.edge, anchors(model)
        self._network: Any = Interpreter(str(detector_file(model.file)), num_threads=cores)
        self._network.allocate_tensors()
        self._input = self._network.get_input_details()[0]["index"]
        boxes, scores = self._network.get_output_details()[:2]
        self._boxes, self._scores = boxes["index"], scores["index"]
        # bars around a picture of another shape stay black, -1, from one picture to the next of the same shape
        self._tensor = np.full((1, model.edge, model.edge, 3), -1.0, np.float32)
        self._shape = (0, 0)

    def detect(self, picture: bytes) -> list[Face]:
        """Faces in a JPEG file, the surest first."""
        left, top, width, height = self._fill(picture)
        self._network.set_tensor(self._input, self._tensor)
        self._network.invoke()
        raw = self._network.get_tensor(self._scores)[0, :, 0]
        sure = np.flatnonzero(raw > 0.0)
        if len(sure) == 0:
            return []
        boxes = self._decode(self._network.get_tensor(self._boxes)[0, sure, :4], sure)
        boxes -= np.array([left, top, left, top], np.float32)
        boxes /= np.array([width, height, width, height], np.float32)
        scores = 1.0 / (1.0 + np.exp(-np.minimum(raw[sure], 80.0)))
        return [Face(box[0], box[1], box[2], box[3], score) for box, score in merged(boxes, scores)]

    def _fill(self, picture: bytes) -> tuple[int, int, int, int]:
        """Put a picture into the middle of the input; where it is there: left, top, width and height in pixels."""
        image: Any = Image.open(io.BytesIO(picture))
        ratio = self.edge / max(image.size)
        width, height = (max(1, math.floor(each * ratio + 0.5)) for each in image.size)
        # a JPEG file can be decoded at half, a quarter or an eighth of its size for less work
        image.draft("RGB", (width, height))
        pixels = np.asarray(image.convert("RGB").resize((width, height), Image.Resampling.BILINEAR))
        if (width, height) != self._shape:
            self._tensor.fill(-1.0)
            self._shape = (width, height)
        left, top = (self.edge - width) // 2, (self.edge - height) // 2
        window = self._tensor[0, top : top + height, left : left + width]
        np.multiply(pixels, np.float32(2.0 / 255.0), out=window)
        window -= 1.0
        return left, top, width, height

    def _decode(self, raw: Floats, index: npt.NDArray[np.int64]) -> Floats:
        """Boxes (left, top, right, bottom) in pixels of the input, from centres and sizes relative to anchors."""
        centre = raw[:, :2] + self._anchors[index] * self.edge
        half = raw[:, 2:] / 2.0
        return np.concatenate([centre - half, centre + half], axis=1)
