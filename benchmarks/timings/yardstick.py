"""What timings are printed beside: one default random forest on 1,000 rows, fitted here and now."""

from comitia.bench.cells.yardstick import forest_seconds, seconds_of

__all__ = ["forest_seconds", "report", "seconds_of"]


def report(what: str, seconds: float, forest: float, target: float | None = None) -> None:
    """Print one timing, its ratio to the yardstick, and its target where there is one."""
    aim = "" if target is None else f"   target {1000 * target:g} ms: {'met' if seconds <= target else 'MISSED'}"
    print(f"{what:<58} {1000 * seconds:9.3f} ms = {seconds / forest:8.5f} forests{aim}", flush=True)
