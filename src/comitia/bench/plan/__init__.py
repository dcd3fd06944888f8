"""An experiment: what it compares, on what, and how rows are split."""
