"""What Fathom raises: one line that says what is wrong, where, and what to do."""
import errno
import os


class Error(Exception):
    """Something Fathom cannot do. Its text is one line; `where`, `problem` and `hint` are its parts.

    Of input it is a ValueError, of files an OSError, too.
    """

    where: str = ""
    problem: str = ""
    hint: str = ""


class InputError(Error, ValueError):
    """What was given cannot be used."""


class FileError(Error, OSError):
    """A file cannot be read or written."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""  # an OSError would say its number and no reason


class MissingFileError(FileError, FileNotFoundError):
    """There is no such file."""


def make_error(where: str, problem: str, hint: str) -> Error:
    """The error of a message in parts, of the class that fits."""
    text = (f"{where}: " if where else "") + problem + (f". {hint}" if hint else "")
    code = _file_problem(where)
    kind = MissingFileError if code == errno.ENOENT else FileError if code else InputError
    error = kind(text)
    error.where, error.problem, error.hint = where, problem, hint
    if code and isinstance(error, OSError):
        error.errno, error.filename = code, where
        error.args = (text,)
    return error


def _file_problem(path: str) -> int:
    if "/" not in path and "." not in path:
        return 0  # not the name of a file
    if os.path.isdir(path):
        return errno.EISDIR
    try:
        os.stat(path)
    except OSError as problem:
        return problem.errno or 0
    return 0 if os.access(path, os.R_OK) else errno.EACCES
