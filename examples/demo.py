"""The main job on a bundled dataset, by the command line: what `make demo` runs.

`python examples/demo.py [SECONDS]`; everything is written to `demo-output/`.
"""

import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import accuracy_score
from sklearn.model_selection import train_test_split

from comitia import load

FOLDER = Path("demo-output")
SECONDS = sys.argv[1] if len(sys.argv) > 1 else "30"


def comitia(*arguments: str, output: Path | None = None) -> None:
    """Run a command as a person would, and show it."""
    print("\n$ comitia " + " ".join(arguments) + (f" > {output}" if output else ""), flush=True)
    done = subprocess.run(
        [sys.executable, "-m", "comitia.cli", *arguments], check=True, stdout=subprocess.PIPE if output else None
    )
    if output:
        output.write_bytes(done.stdout)


shutil.rmtree(FOLDER, ignore_errors=True)
FOLDER.mkdir()
data = load_breast_cancer(as_frame=True)
table = data.frame.assign(target=data.target_names[data.target])
train, test = train_test_split(table, test_size=0.3, stratify=table["target"], random_state=0)
train.to_csv(FOLDER / "train.csv", index=False)
test.drop(columns="target").to_csv(FOLDER / "new.csv", index=False)

model = str(FOLDER / "model")
comitia(
    "fit", str(FOLDER / "train.csv"), "--target", "target", "--time-limit", SECONDS, "--jobs", "2", "--seed", "0",
    "--output", model,
)  # fmt: skip
comitia("leaderboard", model, "--most", "8")
comitia("predict", model, str(FOLDER / "new.csv"), output=FOLDER / "predictions.csv")

predicted = pd.read_csv(FOLDER / "predictions.csv")["prediction"]
score = accuracy_score(test["target"], predicted)
print(f"\nAccuracy on {len(test)} rows that were never used: {score:.3f}")

clf = load(model)
print(f"Its {len(clf.members_)} members:")
for member in clf.members_:
    settings = ", ".join(f"{name.split(':')[-1]}={value}" for name, value in member.config.items())
    print(f"  weight {member.weight:.2f}: {settings}")
print(f"Validation loss of the committee {-clf.validation_score_:.4f}, of the best single model {-clf.best_score_:.4f}")
print(f"The model is in {model}; load it with comitia.load({model!r}).")
