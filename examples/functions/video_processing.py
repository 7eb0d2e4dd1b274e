"""Video processing (FaaSRank Table II, VP): decode a clip, grey it, put a mark on it, encode it again.

args: size (48 frames), folder. FFmpeg's libraries come in PyAV's wheel. The input is a bar that moves over the
picture, encoded first; the paper keeps objects in CouchDB, here the result goes to a folder.
"""

from __future__ import annotations

import io
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import av
import numpy as np

WIDTH, HEIGHT, RATE = 320, 240, 24
BAR, MARK = 40, 32
"""Pixels: how wide the bar is, and the edge of the white mark in the upper left corner."""


def clip(frames: int) -> Iterator[np.ndarray]:
    """Pictures of a green bar that moves four pixels to the right with every frame."""
    for number in range(frames):
        picture = np.zeros((HEIGHT, WIDTH, 3), np.uint8)
        left = (4 * number) % (WIDTH - BAR)
        picture[:, left : left + BAR, 1] = 255
        yield picture


def encode(pictures: Iterable[np.ndarray]) -> bytes:
    """MPEG-4 in a Matroska file; one thread and no identity of its own, so the same pictures give the same bytes."""
    buffer = io.BytesIO()
    with av.open(buffer, "w", format="matroska", options={"fflags": "+bitexact"}) as container:
        stream = container.add_stream("mpeg4", rate=RATE, options={"flags": "+bitexact"})
        stream.width, stream.height, stream.pix_fmt = WIDTH, HEIGHT, "yuv420p"
        stream.codec_context.thread_count = 1
        for picture in pictures:
            container.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
        container.mux(stream.encode())
    return buffer.getvalue()


def decode(video: bytes) -> Iterator[np.ndarray]:
    """The pictures of a video."""
    with av.open(io.BytesIO(video)) as container:
        for frame in container.decode(video=0):
            yield frame.to_ndarray(format="rgb24")


def marked(picture: np.ndarray) -> np.ndarray:
    """Grey, with a white square in the corner."""
    grey = picture.mean(axis=2).astype(np.uint8)
    grey[:MARK, :MARK] = 255
    return np.repeat(grey[:, :, np.newaxis], 3, axis=2)


def main(args: dict[str, Any]) -> dict[str, Any]:
    """Convert a clip of ``size`` frames, and keep the result."""
    size = int(args.get("size", 48))
    if not 1 <= size <= 10_000:
        return {"error": f"size = {size}, must be 1 to 10000"}
    source = encode(clip(size))
    result = encode(marked(picture) for picture in decode(source))
    kept = Path(args.get("folder", tempfile.gettempdir())) / "marked.mkv"
    kept.write_bytes(result)
    brightness = [float(picture.mean()) for picture in decode(result)]
    return {
        "object": kept.name,
        "frames": len(brightness),
        "bytes": len(result),
        "mean_brightness": round(sum(brightness) / len(brightness), 2),
    }
