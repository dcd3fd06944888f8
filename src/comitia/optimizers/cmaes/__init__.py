"""CMA-ES as a fold over the history, and how it handles uncertainty."""
