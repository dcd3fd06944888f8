"""The picture of a report in the README: fit a bundled table, write the report, and photograph it with Chromium.

`make screenshot` runs it; it takes a minute or two.
"""

import io
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from comitia import AutoClassifier

ROOT = Path(__file__).parents[2]
PICTURE = ROOT / "docs" / "img" / "report.png"
WIDTH, HEIGHT = 1280, 900
N_COLORS = 256
FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--hide-scrollbars",
    "--virtual-time-budget=5000",
)


def main() -> None:
    """Write the picture."""
    browser = shutil.which("chromium")
    if browser is None:
        sys.exit("Needs Chromium: apt-get install chromium")
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    labels = y.map({0: "malignant", 1: "benign"}).rename("diagnosis")
    X_train, X_test, y_train, y_test = train_test_split(X, labels, random_state=0)
    model = AutoClassifier(n_trials=60, n_jobs=1, random_state=0).fit(X_train, y_train)
    with tempfile.TemporaryDirectory() as folder:
        page = model.report(f"{folder}/report.html", X=X_test, y=y_test)
        shot = Path(folder) / "shot.png"
        size = f"--window-size={WIDTH},{HEIGHT}"
        profile = f"--user-data-dir={folder}/profile"
        subprocess.run(
            [browser, *FLAGS, size, profile, f"--screenshot={shot}", page.absolute().as_uri()],
            check=True,
            capture_output=True,
        )
        picture = Image.open(io.BytesIO(shot.read_bytes())).convert("RGB").quantize(N_COLORS)
    picture.save(PICTURE, optimize=True)
    print(f"{PICTURE.relative_to(ROOT)}: {PICTURE.stat().st_size / 1000:.0f} KB")


if __name__ == "__main__":
    main()
