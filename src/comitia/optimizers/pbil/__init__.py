"""Population-based incremental learning over conditional spaces."""
