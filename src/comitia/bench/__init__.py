"""Experiments: problems, methods, seeds and budgets in; rows and tables out. `peers` runs other tools beside ours."""
