"""From rows to results: statistics, tables, figures, the page."""
