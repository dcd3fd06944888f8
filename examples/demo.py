"""The main job on a bundled dataset, by the command line: what `make demo` runs.

`python examples/demo.py [SECONDS]`; everything is written to `demo-output/`.
"""

import shutil
import subprocess
import sys
from pathlib import Path

from sklearn.datasets import load_breast_cancer
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
test.to_csv(FOLDER / "test.csv", index=False)
test.drop(columns="target").to_csv(FOLDER / "new.csv", index=False)

model = str(FOLDER / "model")
comitia(
    "fit", str(FOLDER / "train.csv"), "--target", "target", "--time-limit", SECONDS, "--jobs", "2", "--seed", "0",
    "--also", "roc_auc", "--also", "log-loss", "--output", model,
)  # fmt: skip
comitia("leaderboard", model, "--most", "8")
comitia("predict", model, str(FOLDER / "new.csv"), output=FOLDER / "predictions.csv")

print(f"\nHow good it is on {len(test)} rows that were never used:")
comitia("evaluate", model, str(FOLDER / "test.csv"))

clf = load(model)
print(f"Its {len(clf.members_)} members:")
for member in clf.members_:
    settings = ", ".join(f"{name.split(':')[-1]}={value}" for name, value in member.config.items())
    print(f"  weight {member.weight:.2f}: {settings}")
comitia("report", model, "--test", str(FOLDER / "test.csv"), "--output", str(FOLDER / "report.html"))
print(f"The model is in {model}; load it with comitia.load({model!r}).")
print(f"The report is {FOLDER / 'report.html'}: open it in a browser.")
