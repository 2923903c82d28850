"""Attributes that are computed when they are first asked for."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

T = TypeVar("T")


class lazy(Generic[T]):  # noqa: N801  a decorator
    """An attribute that a method computes at its first use, and that is kept in the instance.

    functools.cached_property of Python 3.10 and 3.11 holds a lock meanwhile: where another thread forks, the child has
    it locked for ever. Without one two threads may compute the same at once; the first result is that of both."""

    def __init__(self, compute: Callable[[Any], T]):
        self._compute, self.__doc__ = compute, compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> lazy[T]: ...

    @overload
    def __get__(self, instance: object, owner: type) -> T: ...

    def __get__(self, instance: Any, owner: type) -> Any:
        """The value, from now on an entry of the instance, which comes before this."""
        return self if instance is None else vars(instance).setdefault(self._name, self._compute(instance))


class remade(lazy[T]):  # noqa: N801  a decorator
    """A lazy attribute that pickles and copies of the instance are without, and make anew at its first use: machine
    code, addresses and the memory that these name belong to one process and one instance.

    It gives its class a `__getstate__`, by which copies do not share dicts and lists either."""

    def __set_name__(self, owner: type, name: str) -> None:
        super().__set_name__(owner, name)
        if "__getstate__" not in vars(owner):
            owner.__getstate__ = _given     # type: ignore[attr-defined]

    def forget(self, instance: object) -> None:
        """Have it made anew at the next use."""
        vars(instance).pop(self._name, None)


def _given(instance: Any) -> dict[str, Any]:
    """All attributes but those that are made anew."""
    kind = type(instance)
    return {name: x.copy() if type(x) in (dict, list) else x for name, x in vars(instance).items()
            if not isinstance(getattr(kind, name, None), remade)}
