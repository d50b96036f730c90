"""What Fathom says of a trace, as plain data."""
import json
from typing import Any, Callable, Optional

from .html import cell, framed, table


class Report(dict):  # type: ignore[type-arg]
    """The fields that the command's `--json` has, as a dict whose keys are attributes, too.

    `str()` is the text that the command prints; a notebook shows the page.
    """

    def __init__(self, fields: "dict[str, Any]", text: Optional[Callable[[], str]] = None,
                 page: Optional[Callable[[], str]] = None) -> None:
        super().__init__(fields)
        object.__setattr__(self, "_text", text)
        object.__setattr__(self, "_page", page)

    def __getattr__(self, name: str) -> Any:
        try:
            return wrapped(self[name])
        except KeyError:
            raise AttributeError(f"this report has no {name!r}; it has: {', '.join(self)}") from None

    def __dir__(self) -> "list[str]":
        return [*super().__dir__(), *self]

    def __str__(self) -> str:
        text = object.__getattribute__(self, "_text")
        return str(text()) if text is not None else dict.__repr__(self)

    def __reduce__(self) -> Any:
        return Report, (dict(self),)

    def to_html(self) -> str:
        """The page: one HTML file, to write and pass on."""
        page = object.__getattribute__(self, "_page")
        if page is None:
            raise ValueError("there is no page of this part of a report")
        return str(page())

    def _repr_html_(self) -> str:
        rows = [{"": name, "value": value} for name, value in self.items() if not isinstance(value, (dict, list))]
        plain = table(rows, ["", "value"])
        page = object.__getattribute__(self, "_page")
        return framed(page(), plain) if page is not None else plain


def wrapped(value: Any) -> Any:
    """Nested dicts with keys as attributes."""
    if isinstance(value, dict) and not isinstance(value, Report):
        return Report(value)
    if isinstance(value, list):
        return [wrapped(each) for each in value]
    return value


def parse(document: str, text: Optional[Callable[[], str]] = None, page: Optional[Callable[[], str]] = None) -> Report:
    """A report of the JSON that a command writes."""
    return Report(json.loads(document), text, page)


__all__ = ["Report", "cell", "parse", "wrapped"]
