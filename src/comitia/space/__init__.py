"""Search spaces: a ConfigSpace `ConfigurationSpace` compiled to arrays."""

from comitia.space.config import Config
from comitia.space.space import Space

__all__ = ["Config", "Space"]
