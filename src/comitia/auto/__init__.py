"""The scikit-learn face: from a raw table to a fitted model, and the folder it is saved in."""
