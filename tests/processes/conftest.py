"""What tests of processes share."""

import pytest

from comitia.execution import starters


@pytest.fixture
def bare_nurseries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let nurseries import nothing: seconds are saved where workers need little, and nothing else depends on it."""
    monkeypatch.setattr(starters, "heavy_modules", set)
