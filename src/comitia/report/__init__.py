"""The page that shows what was found: `summary_of` gathers it, `page_of` makes one HTML file of it."""

from comitia.report.pages import check_report, page_of, save_page, write_report
from comitia.report.summarise import summary_of

__all__ = ["check_report", "page_of", "save_page", "summary_of", "write_report"]
