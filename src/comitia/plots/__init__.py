"""Figures of studies: every function returns a plotly figure."""
