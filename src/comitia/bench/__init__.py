"""The harness: comparisons of search methods as small files, run, recorded, tested and drawn.

`plan/` reads an experiment, `problems/` finds its data, `cells/` runs it, `rows/` keeps its results, `report/`
tests and shows it. `peers/` speaks to other tools.
"""
