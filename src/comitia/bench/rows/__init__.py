"""The results of an experiment, one row per cell and iteration."""
