"""Classes whose methods cost nothing to make are to who uses them those of the standard library."""

from __future__ import annotations

import ast
import copy
import dataclasses
import inspect
import pickle
from dataclasses import FrozenInstanceError, field, fields, replace
from functools import cached_property
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import pytest

from cepc_runtime import cheap_dataclass
from tests.sources import nodes

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[1]
T = TypeVar("T")
NAN = float("nan")


def classes(dataclass: Any) -> Any:
    """The same classes by the one or the other decorator."""

    @dataclass(frozen=True, slots=True)
    class Point:
        """A point."""

        x: int
        y: Any = 7
        where: str = field(default="here", compare=False, repr=False)

    @dataclass(frozen=True)
    class One:
        value: Any

        @cached_property
        def twice(self) -> Any:
            return 2 * self.value

    @dataclass(frozen=True, slots=True)
    class Empty:
        pass

    @dataclass(frozen=True)
    class Filled:
        items: list[int] = field(default_factory=list)
        total: int = field(init=False)
        seen: list[int] = field(init=False, default_factory=lambda: [1])

        def __post_init__(self) -> None:
            object.__setattr__(self, "total", sum(self.items))

    @dataclass(frozen=True, slots=True)
    class Below(Point):
        z: int = 0

    @dataclass(frozen=True, slots=True, eq=False, repr=False)
    class Itself:
        value: Any

    @dataclass(frozen=True, slots=True)
    class Own:
        value: Any

        def __repr__(self) -> str:
            return "mine"

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Own)

    @dataclass(frozen=True, slots=True)
    class Hashed:
        value: Any

        def __hash__(self) -> int:
            return 3

    @dataclass(frozen=True, slots=True)
    class Held(Generic[T]):
        value: T

    @dataclass(frozen=True, slots=True, order=True)
    class Ordered:
        value: int

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Named(Point):
        colour: str  # type: ignore[misc]
        size: int = 3

    @dataclass
    class Open:
        value: int

    class Plain(One):
        """A class that nothing decorates."""

    return SimpleNamespace(**locals())


STANDARD, OURS = classes(dataclasses.dataclass), classes(cheap_dataclass.dataclass)

SAID: dict[str, Callable[[Any], Any]] = {
    "a value as text": lambda of: repr(of.Point(1)).rpartition(".")[2],
    "a value with values in it as text": lambda of: repr(of.One([of.Empty(), of.Own(1)])).rpartition("locals")[2],
    "text of its own": lambda of: repr(of.Own(1)),
    "no text": lambda of: " object at " in repr(of.Itself(1)),
    "arguments": lambda of: of.Point(1, where="there", y=2).where,
    "defaults": lambda of: [getattr(of.Below(1), name) for name in ("x", "y", "where", "z")],
    "arguments by name alone": lambda of: [getattr(of.Named(1, colour="red"), name) for name in ("x", "y", "colour")],
    "what is made anew each time": lambda of: of.Filled().items is of.Filled().items,
    "what is worked out": lambda of: (of.Filled([1, 2]).total, of.Filled().seen),
    "equal values": lambda of: of.Point(1, 2, "a") == of.Point(1, 2, "b"),
    "other values": lambda of: of.Point(1, 2) == of.Point(1, 3),
    "another class": lambda of: (of.Point(1) == of.Below(1), of.Point(1) == of.One(1), of.Empty() == ()),
    "a NaN": lambda of: (of.One(NAN) == of.One(NAN), of.Point(1, NAN) == of.Point(1, NAN), of.One(NAN) == of.One(-NAN)),
    "no fields": lambda of: (of.Empty() == of.Empty(), hash(of.Empty()) == hash(of.Empty())),
    "what is equal to itself alone": lambda of: of.Itself(1) == of.Itself(1),
    "equality of its own": lambda of: of.Own(1) == of.Own(2),
    "as a key": lambda of: {of.Point(1, 2): "found"}.get(of.Point(1, 2, "there")),
    "a hash of its own": lambda of: hash(of.Hashed(1)),
    "of a hash that it lacks": lambda of: len({of.Own(1), of.Own(1)}),
    "an order": lambda of: sorted([of.Ordered(2), of.Ordered(1)])[0].value,
    "another value in one place": lambda of: replace(of.Point(1, 2, "a"), y=3).y,
    "fields": lambda of: [(each.name, each.init, each.compare) for each in fields(of.Filled)],
    "as a dictionary": lambda of: dataclasses.asdict(of.Filled([1])),
    "what a pattern matches": lambda of: of.Below.__match_args__,
    "a copy": lambda of: (copy.copy(of.Point(1)) == of.Point(1), copy.deepcopy(of.Filled([1])) == of.Filled([1])),
    "what a class of slots has": lambda of: hasattr(of.Point(1), "__dict__"),
    "a value that is kept": lambda of: of.One(2).twice,
    "a generic class": lambda of: of.Held(1).value,
    "its description": lambda of: of.Point.__doc__,
    "its parameters": lambda of: (of.Point(1), [*inspect.signature(of.Point).parameters])[1],
    "a class that may change": lambda of: setattr(of.Open(1), "value", 2),
    "a name that a class below adds": lambda of: setattr(of.Plain(1), "other", 2),
}


@pytest.mark.parametrize("said", SAID.values(), ids=SAID)
def test_they_say_what_those_of_the_standard_library_say(said: Callable[[Any], Any]) -> None:
    assert said(OURS) == said(STANDARD)


WRONG: dict[str, tuple[type[Exception], Callable[[Any], Any]]] = {
    "a field that is set": (FrozenInstanceError, lambda of: setattr(of.Point(1), "x", 2)),
    "a field that is deleted": (FrozenInstanceError, lambda of: delattr(of.One(1), "value")),
    "a name that is no field": (FrozenInstanceError, lambda of: setattr(of.One(1), "other", 2)),
    "a field that is set in a class below": (FrozenInstanceError, lambda of: setattr(of.Plain(1), "value", 2)),
    "an argument too few": (TypeError, lambda of: of.Point()),
    "an argument too many": (TypeError, lambda of: of.Empty(1)),
    "a name that is not given": (TypeError, lambda of: of.Named(1, 2, "here", "red")),
    "a name that it has not": (TypeError, lambda of: of.Point(1, colour=2)),
    "what is worked out given": (TypeError, lambda of: of.Filled(total=3)),
    "a value that has no hash": (TypeError, lambda of: hash(of.One([]))),
}


@pytest.mark.parametrize(("error", "does"), WRONG.values(), ids=WRONG)
def test_they_refuse_what_those_refuse(error: type[Exception], does: Callable[[Any], Any]) -> None:
    for each in (OURS, STANDARD):
        with pytest.raises(error):
            does(each)


def test_an_argument_is_missed_in_the_name_of_the_class() -> None:
    with pytest.raises(TypeError, match=r"Point\.__init__\(\) missing 1 required positional argument: 'x'"):
        OURS.Point()


@cheap_dataclass.dataclass(frozen=True, slots=True)
class Sent:
    """What goes to another process."""

    value: int
    of: tuple[Any, ...] = ()


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_they_go_to_another_process(protocol: int) -> None:
    sent = Sent(1, (Sent(2),))
    assert pickle.loads(pickle.dumps(sent, protocol)) == sent


def test_one_that_contains_itself_is_shown() -> None:
    endless: list[Any] = []
    endless.append(OURS.One(endless))
    assert "..." in repr(endless)


def test_nothing_is_compiled_before_the_first_instance() -> None:
    """Which is what makes a start short; bench/startup.py has the time."""
    here = classes(cheap_dataclass.dataclass)
    assert here.Point.__init__ is here.One.__init__
    assert (here.Point(1), here.Point.__init__ is here.One.__init__)[1] is False


@pytest.mark.xdist_group("sources")
def test_every_frozen_class_of_ours_is_made_so() -> None:
    left = {
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for folder in ("grammar", "compiler", "runtime")
        for path in (ROOT / folder).rglob("*.py")
        if path.stem != "cheap_dataclass"
        for node in nodes(path)
        if isinstance(node, ast.ImportFrom) and node.module == "dataclasses"
        if any(alias.name == "dataclass" for alias in node.names)
    }
    assert not left, "from cepc_runtime.cheap_dataclass import dataclass"
