"""What an experiment gave, one row per cell and iteration."""
