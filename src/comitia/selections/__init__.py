"""Selections: what is handed to the user at the end."""
