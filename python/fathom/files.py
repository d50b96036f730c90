"""Files that appear whole or not at all."""
import json
import os
import tempfile
from typing import Any, Union


def write_text(text: str, path: "Union[str, os.PathLike[str]]") -> str:
    """Writes a file beside its place and moves it there; returns its name."""
    name = os.fspath(path)
    descriptor, temporary = tempfile.mkstemp(dir=os.path.dirname(os.path.abspath(name)), prefix=".fathom-")
    try:
        with open(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(temporary, 0o666 & ~mask)
        os.replace(temporary, name)
    except BaseException:
        os.unlink(temporary)
        raise
    return name


def write_json(value: Any, path: "Union[str, os.PathLike[str]]") -> str:
    """The same for plain data."""
    return write_text(json.dumps(value, indent=1) + "\n", path)
