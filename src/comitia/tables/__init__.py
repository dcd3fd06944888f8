"""Tables of the user: reading files, and cleaning columns into one matrix of numbers."""
