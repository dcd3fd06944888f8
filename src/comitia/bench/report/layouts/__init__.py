"""Tables in the layouts of the papers, from results: one file per layout, one line in `registry.py`."""
