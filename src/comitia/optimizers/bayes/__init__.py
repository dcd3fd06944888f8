"""Bayesian optimisation: surrogates, what they believe, and maximisers of what they promise."""
