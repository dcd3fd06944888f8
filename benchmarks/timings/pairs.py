"""Two versions of a timing in turn, so that other programs disturb both alike: the median ratio of each line.

    python benchmarks/timings/pairs.py 10 "cd before && python benchmarks/timings/bench_loop.py" \
        "cd after && python benchmarks/timings/bench_loop.py"

Lines of the two outputs are paired by their text before the first time, which ends in ms, us or s.
"""

import re
import statistics
import subprocess
import sys

TIME = re.compile(r"(?P<label>.*?)(?P<time>\d+(?:\.\d+)?) ?(?:ms|us|s)\b")
ROW = re.compile(r"(?P<label>[a-z][a-z-]+ +\d+) +(?P<time>\d+\.\d+) ")
"""The first time of a table's line, as `bench_suggest.py` prints it."""


def times_of(command: str) -> dict[str, float]:
    """Run a command and return the first time of each line that it prints."""
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=True)
    matches = [ROW.match(line) or TIME.match(line) for line in done.stdout.splitlines()]
    return {" ".join(m["label"].split()): float(m["time"]) for m in matches if m is not None}


def main() -> None:
    n_pairs, before, after = int(sys.argv[1]), sys.argv[2], sys.argv[3]
    ratios: dict[str, list[float]] = {}
    for _ in range(n_pairs):
        old, new = times_of(before), times_of(after)
        for label in old.keys() & new.keys():
            ratios.setdefault(label, []).append(new[label] / old[label])
    for label, found in sorted(ratios.items()):
        print(f"{statistics.median(found):6.3f}  ({min(found):.2f} to {max(found):.2f}, {len(found)} pairs)  {label}")
    print(f"{statistics.median(statistics.median(found) for found in ratios.values()):6.3f}  median of all lines")


if __name__ == "__main__":
    main()
