"""Fathom in Python: scopes at the speed of C, and every analysis of the program `fathom`."""
from ._scopes import version as __version__

__all__ = ["__version__"]
