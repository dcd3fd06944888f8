"""Sets of images: an archive NAME.npz of the data folder with `x_train`, `y_train`, `x_test`, `y_test`.

`images:NAME` is all of it; `images:NAME:1500` its first 1,500 training images, `images:NAME:1500:16` the same with 16 x
16 pixels, each the mean of several. All test images are kept, and the division is the same in every repetition.
"""

import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from comitia.arrays import AnyArray
from comitia.errors import ExperimentError

ARRAYS = ("x_train", "y_train", "x_test", "y_test")


@dataclass(frozen=True, eq=False)
class ImageProblem:
    """Images to search on, in the order of the file, and to test on."""

    name: str
    X: AnyArray
    y: AnyArray
    X_test: AnyArray
    y_test: AnyArray


def images_file(name: str, folder: Path | None) -> Path:
    """Return the archive of a set of images, named without its kind."""
    if folder is None:
        raise ExperimentError(f"The images {name!r} must be in a folder. Got no folder. Use --data.")
    path = folder / f"{name.split(':')[0]}.npz"
    if not path.is_file():
        raise ExperimentError(f"Images must be an archive NAME.npz of the data folder. There is no {path.name!r}.")
    return path


def read_images(name: str, folder: Path | None) -> ImageProblem:
    """Read a set of images, named without its kind."""
    path = images_file(name, folder)
    _, n, side = [*name.split(":"), "", ""][:3]
    if not all(text == "" or (text.isdigit() and int(text)) for text in (n, side)):
        raise ExperimentError(f"Images must be named as images:NAME:1500:16. Got {name!r} instead.")
    try:
        with np.load(path, allow_pickle=False) as archive:
            x_train, y_train, x_test, y_test = (archive[key] for key in ARRAYS)
    except (OSError, KeyError, ValueError, zipfile.BadZipFile) as error:
        raise ExperimentError(f"{path.name!r} must have the arrays {', '.join(ARRAYS)}. Got: {error}.") from error
    if n and int(n) > len(x_train):
        raise ExperimentError(f"{path.name!r} must have {n} training images. Got {len(x_train)}. Name fewer.")
    first = slice(int(n) if n else None)
    x_train, y_train = x_train[first], y_train[first]
    if side:
        x_train, x_test = shrunk(x_train, int(side)), shrunk(x_test, int(side))
    return ImageProblem(f"images:{name}", x_train, y_train, x_test, y_test)


def shrunk(X: AnyArray, side: int) -> AnyArray:
    """Return images of `side` x `side` pixels, each the mean of a square of pixels, (n, side, side, channels)."""
    n, height, width, channels = X.shape
    if height != width or height % side:
        raise ExperimentError(f"Images can be made {side} pixels wide where that divides them. Got {height} x {width}.")
    block = height // side
    means = X.reshape(n, side, block, side, block, channels).mean(axis=(2, 4))
    return np.asarray(means.round() if X.dtype.kind in "ui" else means).astype(X.dtype)
