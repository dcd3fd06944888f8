"""Named combinations of the four choices: comitia's own, and those of the papers."""

from comitia.methods.registry import METHODS, Method, get_method

__all__ = ["METHODS", "Method", "get_method"]
