"""What is searched on: tables, generators, black boxes, and tabulated results."""
