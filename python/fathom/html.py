"""How figures look in a notebook."""
from html import escape
from typing import Any, Iterable, Sequence


def cell(value: Any) -> str:
    """A figure as people read it; what is not known is a dash."""
    if value is None:
        return "–"
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return escape(str(value))
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:,.3f}".rstrip("0").rstrip(".")


def table(rows: Iterable["dict[str, Any]"], columns: Sequence[str]) -> str:
    """Rows as an HTML table."""
    head = "".join(f"<th style='text-align:left'>{escape(name.replace('_', ' '))}</th>" for name in columns)
    body = "".join("<tr>" + "".join(f"<td style='text-align:left'>{cell(row.get(name))}</td>" for name in columns) + "</tr>"
                   for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def framed(page: str, plain: str, height: int = 600) -> str:
    """A page in a frame, and below it a plain table for where frames and scripts are taken out."""
    return (f'<iframe srcdoc="{escape(page)}" style="width:100%;height:{height}px;border:0" '
            f'sandbox="allow-scripts allow-downloads" title="Fathom"></iframe>'
            f"<details><summary>As a table</summary>{plain}</details>")
