"""The loss of each test row as one short text, for a column of the rows file: bits for zero-one, else 32-bit floats."""

import base64
import zlib

import numpy as np

from comitia.arrays import Array

BITS, FLOATS = "bits", "floats"


def packed(losses: Array) -> str:
    """Return losses as a text: their kind and number, then the compressed values.

    Losses that are all 0 or 1 come back exactly, others to the seven digits of a 32-bit float.

    Examples
    --------
    >>> unpacked(packed(np.array([0.0, 1.0, 1.0]))).tolist(), unpacked(packed(np.array([0.5, 2.25]))).tolist()
    ([0.0, 1.0, 1.0], [0.5, 2.25])
    """
    is_zero_one = bool(np.isin(losses, (0.0, 1.0)).all())
    data = np.packbits(losses.astype(bool)) if is_zero_one else losses.astype("<f4")
    text = base64.b64encode(zlib.compress(data.tobytes(), 9)).decode()
    return f"{BITS if is_zero_one else FLOATS}:{len(losses)}:{text}"


def unpacked(text: str) -> Array:
    """Return the losses of a text of `packed`."""
    kind, n, values = text.split(":")
    data = zlib.decompress(base64.b64decode(values))
    if kind == BITS:
        return np.unpackbits(np.frombuffer(data, dtype=np.uint8), count=int(n)).astype(np.float64)
    return np.frombuffer(data, dtype="<f4").astype(np.float64)
