"""Named combinations of the four choices: comitia's own, and those of the papers."""

from comitia.methods.method import Method, kept_by
from comitia.methods.registry import METHODS, get_method

__all__ = ["METHODS", "Method", "get_method", "kept_by"]
