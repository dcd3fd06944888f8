"""The benchmark harness: the papers' experiments as data, run at full size or scaled down, and their statistics."""
