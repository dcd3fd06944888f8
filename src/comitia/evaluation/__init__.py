"""A trial in, an observation out: splits, fits, scores, and what is kept of predictions."""
