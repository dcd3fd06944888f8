"""`import comitia` against what it is built on, in fresh processes, alternating; median of 9."""

import statistics
import subprocess
import sys
import time

OURS = "import comitia"
THEIRS = "import sklearn.ensemble, ConfigSpace"


def seconds(code: str) -> float:
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True)
    return time.perf_counter() - began


def main() -> None:
    seconds(OURS)
    pairs = [(seconds(OURS), seconds(THEIRS)) for _ in range(9)]
    ours, theirs = (statistics.median(times) for times in zip(*pairs, strict=True))
    ratio = ours / theirs
    print(f"{OURS}: {1000 * ours:.0f} ms; {THEIRS}: {1000 * theirs:.0f} ms; ratio {ratio:.2f}, target 1.2: ", end="")
    print("met" if ratio <= 1.2 else "MISSED")


if __name__ == "__main__":
    main()
