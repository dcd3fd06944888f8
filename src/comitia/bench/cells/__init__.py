"""Cells: one study, or one system's answer, for one problem, method and repetition."""
