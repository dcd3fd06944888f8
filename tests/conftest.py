"""What all tests share."""

from hypothesis import HealthCheck, settings

# examples differ from run to run, so that the suite keeps exploring; a failing one is printed and kept
settings.register_profile("comitia", deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("comitia")
