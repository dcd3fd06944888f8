"""The page that shows what was found: `summary_of` gathers it, `page_of` makes one HTML file of it."""

from comitia.report.pages import page_of, write_report
from comitia.report.summarise import summary_of

__all__ = ["page_of", "summary_of", "write_report"]
