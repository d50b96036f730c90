"""`python -m fathom …` is the program `fathom`."""
import os
import shutil
import sys

from .errors import Error


def program() -> str:
    """The program beside this package, else the one in PATH."""
    here = os.path.dirname(os.path.abspath(__file__))
    beside = [os.path.join(here, "bin", "fathom")]  # of a wheel
    beside += [os.path.join(here, *[os.pardir] * up, "bin", "fathom") for up in (2, 4)]  # of a build; of an installation
    chosen = os.environ.get("FATHOM_PROGRAM")
    for path in ([chosen] if chosen else []) + beside:
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return os.path.normpath(path)
    found = shutil.which("fathom")
    if found is None:
        raise Error("the program is not installed. Install the package, or set FATHOM_PROGRAM to where it is")
    return found


def main() -> None:
    """Becomes the program."""
    try:
        path = program()
    except Error as error:
        sys.exit(f"fathom: {error}")
    sys.stdout.flush()
    os.execv(path, [path, *sys.argv[1:]])


if __name__ == "__main__":
    main()
