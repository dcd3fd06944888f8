"""Named combinations of the four choices: comitia's own, and those of the papers."""

from comitia.methods.method import Method, kept_by
from comitia.methods.options import for_budget
from comitia.methods.registry import METHODS, get_method, is_method

__all__ = ["METHODS", "Method", "for_budget", "get_method", "is_method", "kept_by"]
