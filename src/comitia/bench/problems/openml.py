"""Tables of OpenML by number: fetched once over its HTTP interface, checked, and kept in a cache folder.

The network is reached only when such a problem is asked for and its file is not in the cache.
"""

import hashlib
import json
import os
import urllib.error
import urllib.request
from pathlib import Path

import pandas as pd

from comitia.arrays import Json
from comitia.bench.files import replacing
from comitia.errors import ExperimentError, TableError
from comitia.evaluation.scoring import Task
from comitia.tables.reading import read_table

SERVER_VARIABLE = "COMITIA_OPENML"
"""Environment variable with another server that speaks OpenML's interface, such as a mirror."""
CACHE_VARIABLE = "COMITIA_CACHE"
SERVER = "https://www.openml.org"
SECONDS = 60.0


def cache_folder() -> Path:
    """Return where downloads are kept: COMITIA_CACHE, else the user's cache folder."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(os.environ.get(CACHE_VARIABLE) or Path(home) / "comitia")


def fetch_table(number: str) -> tuple[pd.DataFrame, pd.Series, Task]:
    """Return the features, the target and the task of a dataset; from the cache if it is there."""
    folder = cache_folder() / "openml" / number
    description_path, data_path = folder / "description.json", folder / "data.arff"
    if not (description_path.is_file() and data_path.is_file()):
        _download(number, folder)
    description = json.loads(description_path.read_text(encoding="utf-8"))
    _check(number, data_path.read_bytes(), description)
    try:
        table = read_table(str(data_path))
    except TableError as error:
        raise ExperimentError(f"OpenML dataset {number} could not be read: {error}") from error
    return _split(number, table, description)


def _download(number: str, folder: Path) -> None:
    server = os.environ.get(SERVER_VARIABLE) or SERVER
    answer = json.loads(_get(f"{server}/api/v1/json/data/{number}", number))
    description = answer["data_set_description"]
    data = _get(description["url"], number)
    _check(number, data, description)
    # the checksum of what came, kept even where OpenML names none
    description["sha256"] = hashlib.sha256(data).hexdigest()
    folder.mkdir(parents=True, exist_ok=True)
    # the description last: with it the dataset is there
    for name, content in (("data.arff", data), ("description.json", json.dumps(description, indent=1).encode())):
        with replacing(folder / name) as beside:
            beside.write_bytes(content)


def _get(url: str, number: str) -> bytes:
    try:
        with urllib.request.urlopen(url, timeout=SECONDS) as response:
            return bytes(response.read())
    except (urllib.error.URLError, TimeoutError, ConnectionError) as error:
        raise ExperimentError(
            f"OpenML dataset {number} must be fetched from the network the first time. Got: {error}. "
            f"Check the number and the connection, or set {CACHE_VARIABLE} to a folder that has it."
        ) from error


def _check(number: str, data: bytes, description: Json) -> None:
    """Compare with the checksums that are known."""
    for name, digest in (("md5_checksum", hashlib.md5), ("sha256", hashlib.sha256)):
        expected = description.get(name)
        if expected and digest(data).hexdigest() != expected:
            raise ExperimentError(
                f"OpenML dataset {number} must have the {name.split('_')[0]} checksum {expected}. Got "
                f"{digest(data).hexdigest()}: the file is damaged. Remove it from the cache and try again."
            )


def _split(number: str, table: pd.DataFrame, description: Json) -> tuple[pd.DataFrame, pd.Series, Task]:
    target = description.get("default_target_attribute")
    if not target or target not in table.columns:
        raise ExperimentError(f"OpenML dataset {number} must name its target. Got {target!r}. Use another number.")
    ignored = description.get("ignore_attribute") or []
    ignored = ignored if isinstance(ignored, list) else [ignored]
    identifier = description.get("row_id_attribute")
    left_out = [name for name in {*ignored, identifier, target} if name in table.columns]
    column = table[str(target)]
    is_numbers = column.dtype.kind in "fi" and column.nunique() > 50
    return table.drop(columns=left_out), column, "regression" if is_numbers else "classification"
