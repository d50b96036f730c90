"""Functions that are profiled each time they are called."""
import functools
import inspect
from typing import Any, Callable, ContextManager, Optional, TypeVar, overload

from ._scopes import ProfiledFunction, scope

F = TypeVar("F", bound=Callable[..., Any])


@overload
def profile_function(operation: F, device: str = "cpu") -> F: ...
@overload
def profile_function(operation: Optional[str] = None, device: str = "cpu") -> Callable[[F], F]: ...
def profile_function(operation: Any = None, device: str = "cpu") -> Any:
    """Profiles a function each time it is called; results, exceptions and its signature stay.

    >>> import fathom
    >>> @fathom.profile_function
    ... def half(x):
    ...     return x / 2
    >>> @fathom.profile_function(operation="twice")
    ... def double(x):
    ...     return x * 2
    >>> half(4), double(4)
    (2.0, 8)

    Of a coroutine or generator function each call is a scope, from its first step to its last.
    """
    if callable(operation):
        return wrap(operation, None, device, _global_scope)
    return lambda function: wrap(function, operation, device, _global_scope)


def _global_scope(name: str, device: str) -> ContextManager[object]:
    return scope(name) if device == "cpu" else scope(name, device=device)


def wrap(function: Any, operation: Optional[str], device: str, begin: Callable[[str, str], ContextManager[object]]) -> Any:
    """`function`, with a scope of `begin` around each call."""
    if isinstance(function, (staticmethod, classmethod)):
        return type(function)(wrap(function.__func__, operation, device, begin))
    name = operation or getattr(function, "__qualname__", None) or repr(function)
    wrapper: Any
    if inspect.isasyncgenfunction(function):
        wrapper = _around_async_generator(function, name, device, begin)
    elif inspect.iscoroutinefunction(function):

        async def wrapper(*args: Any, **kwargs: Any) -> Any:
            with begin(name, device):
                return await function(*args, **kwargs)

    elif inspect.isgeneratorfunction(function):

        def wrapper(*args: Any, **kwargs: Any) -> Any:
            with begin(name, device):
                return (yield from function(*args, **kwargs))

    elif begin is _global_scope and device == "cpu":
        wrapper = ProfiledFunction(function, name)
    else:

        def wrapper(*args: Any, **kwargs: Any) -> Any:
            with begin(name, device):
                return function(*args, **kwargs)

    return functools.update_wrapper(wrapper, function)


def _around_async_generator(function: Any, name: str, device: str, begin: Callable[[str, str], ContextManager[object]]) -> Any:
    async def wrapper(*args: Any, **kwargs: Any) -> Any:
        with begin(name, device):
            generator = function(*args, **kwargs)
            try:
                sent = None
                while True:
                    try:
                        value = await generator.asend(sent)
                    except StopAsyncIteration:
                        return
                    # What the consumer throws in is thrown in further; what comes out then is the next value.
                    while True:
                        try:
                            sent = yield value
                            break
                        except GeneratorExit:
                            raise
                        except BaseException as thrown:
                            try:
                                value = await generator.athrow(thrown)
                            except StopAsyncIteration:
                                return
            finally:
                await generator.aclose()

    return wrapper
