"""One rule for what is written: html or json."""
from typing import Any

from ..files import write_json, write_text
from ..report import Report


def export(report: Report, path: Any, form: str) -> str:
    """Writes the page or the fields of a report; returns the name of the file."""
    if form == "json":
        return write_json(report, path)
    if form == "html":
        return write_text(report.to_html(), path)
    raise ValueError(f"unknown format {form!r}: use html or json")
