"""`dataclass` for frozen classes, of which a start makes some four hundred.

The standard library compiles six methods for each, which was a third of the time of `cepc run` on a small file. To who
uses them (and to mypy) these are the same classes; but all methods save `__init__` are closures, and that is compiled
when the first instance is made.
"""

from __future__ import annotations

from dataclasses import MISSING, FrozenInstanceError, fields
from dataclasses import dataclass as standard_dataclass
from operator import attrgetter
from reprlib import recursive_repr
from types import MemberDescriptorType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from dataclasses import dataclass as dataclass

else:

    def dataclass(cls=None, /, *, frozen=False, order=False, eq=True, repr=True, **others):  # noqa: A002
        """As `dataclasses.dataclass`."""
        if not frozen or order:
            return standard_dataclass(cls, frozen=frozen, order=order, eq=eq, repr=repr, **others)
        return lambda cls: _frozen(cls, eq, repr, **others)


def _frozen(cls: type, eq: bool, repr: bool, slots: bool = False, kw_only: bool = False) -> type:  # noqa: A002
    own, doc = dict(cls.__dict__), cls.__doc__
    if own.get("__hash__", cls) is None:  # Python's own, where a class says what is equal
        del own["__hash__"]
    cls.__doc__ = doc or cls.__name__  # where there is none, the signature is written, which takes as long as a method
    made: type = standard_dataclass(init=False, repr=False, eq=False, slots=slots, kw_only=kw_only)(cls)
    made.__doc__ = doc
    methods = {"__init__": _init_at_first} | _guards(made)
    if eq:
        methods |= _comparisons(made)
    if repr:
        methods["__repr__"] = _repr
    if slots:
        methods |= {"__getstate__": _state, "__setstate__": _set_state}
    for name, method in methods.items():
        if name not in own:
            setattr(made, name, method)
    return made


def _init_at_first(self: Any, *arguments: Any, **named: Any) -> None:
    """Compiles the `__init__` of the class that has this one, and calls it."""
    owner: Any = next(cls for cls in type(self).__mro__ if cls.__dict__.get("__init__") is _init_at_first)
    made = _init(owner)
    owner.__init__ = made
    made(self, *arguments, **named)


def _init(cls: Any) -> Callable[..., None]:
    known: dict[str, Any] = {"_set": object.__setattr__, "_missing": MISSING}
    parameters, named, lines = ["self"], ["*"], list[str]()
    for field in fields(cls):
        name = value = field.name
        if field.default is not MISSING:
            known[f"_default_{name}"] = field.default
        elif field.default_factory is not MISSING:
            known[f"_default_{name}"], known[f"_new_{name}"] = MISSING, field.default_factory
            value = f"_new_{name}() if {name} is _missing else {name}" if field.init else f"_new_{name}()"
        elif not field.init:
            continue
        if field.init:
            place = named if field.kw_only else parameters
            place.append(f"{name}=_default_{name}" if f"_default_{name}" in known else name)
        slot = getattr(cls, name, None)
        if isinstance(slot, MemberDescriptorType):  # by itself in three quarters of the time
            known[f"_set_{name}"] = slot.__set__
            lines.append(f"_set_{name}(self, {value})")
        else:
            lines.append(f"_set(self, {name!r}, {value})")
    if hasattr(cls, "__post_init__"):
        lines.append("self.__post_init__()")
    body = "\n    ".join(lines or ["pass"])
    if len(named) > 1:
        parameters += named
    exec(f"def __init__({', '.join(parameters)}):\n    {body}", known)
    made: Callable[..., None] = known["__init__"]
    made.__qualname__, made.__module__ = f"{cls.__qualname__}.__init__", cls.__module__
    return made


def _guards(cls: Any) -> dict[str, Callable[..., Any]]:
    names = {field.name for field in fields(cls)}

    def guard(self: Any, name: str) -> None:
        if type(self) is cls or name in names:
            raise FrozenInstanceError(f"{cls.__name__} is frozen: {name} stays as it is")

    def __setattr__(self: Any, name: str, value: Any) -> None:  # noqa: N807
        guard(self, name)
        super(cls, self).__setattr__(name, value)

    def __delattr__(self: Any, name: str) -> None:  # noqa: N807
        guard(self, name)
        super(cls, self).__delattr__(name)

    return {"__setattr__": __setattr__, "__delattr__": __delattr__}


def _comparisons(cls: Any) -> dict[str, Callable[..., Any]]:
    names = [field.name for field in fields(cls) if field.compare]
    values: Callable[[Any], Any] = attrgetter(*names) if names else lambda _: ()

    def __eq__(self: Any, other: object) -> bool:  # noqa: N807
        if other.__class__ is not self.__class__:
            return NotImplemented
        ours, theirs = values(self), values(other)
        return ours is theirs or ours == theirs  # as in tuples, a NaN equals itself

    def __hash__(self: Any) -> int:  # noqa: N807
        return hash(values(self))

    return {"__eq__": __eq__, "__hash__": __hash__}


@recursive_repr()
def _repr(self: Any) -> str:
    shown = (f"{field.name}={getattr(self, field.name)!r}" for field in fields(self) if field.repr)
    return f"{self.__class__.__qualname__}({', '.join(shown)})"


def _state(self: Any) -> list[Any]:
    return [getattr(self, field.name) for field in fields(self)]


def _set_state(self: Any, state: list[Any]) -> None:
    for field, value in zip(fields(self), state, strict=True):
        object.__setattr__(self, field.name, value)
