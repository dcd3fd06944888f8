"""What all tests share."""

import signal

from hypothesis import HealthCheck, settings

# examples differ from run to run, so that the suite keeps exploring; a failing one is printed and kept
settings.register_profile("comitia", deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("comitia")

# a shell that runs the suite in the background has it ignore Ctrl-C, which is what some tests are about
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
