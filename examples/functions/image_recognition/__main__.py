"""Image recognition (FaaSRank Table II, IR): a small ONNX network reads digits in pictures.

args: size (64 pictures), seed (1), or pictures (a list of PNG files in base64). The paper runs a network of
torchvision; here it is ONNX Runtime with a network of 38,000 weights, ``digits.onnx`` beside this file, which
``train.py`` made. The paper keeps objects in CouchDB; here pictures come with the call, or are drawn.
"""

from __future__ import annotations

import base64
import binascii
import io
import random
from pathlib import Path
from typing import Any

import onnxruntime
from digits import draw, tensor
from PIL import Image

OPTIONS = onnxruntime.SessionOptions()
OPTIONS.intra_op_num_threads = OPTIONS.inter_op_num_threads = 1
MODEL = Path(__file__).parent / "digits.onnx"
SESSION = onnxruntime.InferenceSession(MODEL.read_bytes(), OPTIONS, providers=["CPUExecutionProvider"])


def classify(pictures: list[Image.Image]) -> list[int]:
    """The digit in each picture."""
    (scores,) = SESSION.run(None, {"pictures": tensor(pictures)})
    return [int(each) for each in scores.argmax(axis=1)]


def main(args: dict[str, Any]) -> dict[str, Any]:
    """Read the pictures that were sent; without any, draw ``size`` of them and tell how many were right."""
    if "pictures" in args:
        try:
            pictures = [Image.open(io.BytesIO(base64.b64decode(each, validate=True))) for each in args["pictures"]]
        except (OSError, TypeError, binascii.Error) as error:
            return {"error": f"pictures must be a list of PNG files in base64: {error}"}
        return {"digits": classify(pictures) if pictures else []}
    size, chance = int(args.get("size", 64)), random.Random(int(args.get("seed", 1)))
    if not 1 <= size <= 100_000:
        return {"error": f"size = {size}, must be 1 to 100000"}
    truth = [chance.randrange(10) for _ in range(size)]
    found = classify([draw(digit, chance) for digit in truth])
    return {"digits": found, "accuracy": sum(a == b for a, b in zip(truth, found, strict=True)) / size}
