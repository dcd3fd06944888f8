"""The harness: comparisons of search methods as small files, run, recorded, tested and drawn.

`plan.py` reads an experiment, `problems.py` finds its data, `run.py` runs its cells, `rows.py` keeps what they gave,
`statistics.py` tests, `tables.py`, `figures.py` and `page.py` show. `peers/` speaks to other tools.
"""
