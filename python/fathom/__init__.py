"""Fathom in Python: scopes at the speed of C, and every analysis of the program `fathom`."""
from ._scopes import version as __version__
from .torch_compile import CompileResult, GraphBreak, TorchCompileAnalyzer

__all__ = ["CompileResult", "GraphBreak", "TorchCompileAnalyzer", "__version__"]
