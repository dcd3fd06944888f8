"""Gradient boosting that finds its number of trees on rows set aside inside the fit; the libraries behind one face."""
