"""Other tools to compare with, each in an environment of its own so that its pins never touch ours.

`registry.py` lists them. A *sampler* proposes configurations and is run by the ordinary study loop, with our
evaluator, splits and budget (`sampler.py`). A *system* does everything from a table to predictions (`systems.py`).
What runs inside their environments are the files in `scripts/`, which know nothing of comitia; one of them is comitia
itself, to be compared on the same terms.
`python -m comitia.bench.peers NAME` builds an environment (`environments.py`).
"""
