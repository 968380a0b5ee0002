"""To how many events a match binds a variable, in words."""

from __future__ import annotations

from cepc_grammar.pattern import Or, Repeat, Some, fold

from .. import model
from ..resolve import written

HowMany = tuple[int, int | None]
"""The fewest and the most; None where there is no end."""


def numbers(pattern: model.Pattern | written.Written) -> dict[str, HowMany]:
    """For each variable; for a negated one, of a match of its NOT.

    >>> from cepc_grammar.pattern import Seq
    >>> numbers(Seq((model.Event("a"), Repeat(model.Event("b"), 2, None))))
    {'a': (1, 1), 'b': (2, None)}
    """

    def bound(node: model.Pattern | written.Written, parts: tuple[dict[str, HowMany], ...]) -> dict[str, HowMany]:
        if isinstance(node, model.Event | written.Event):
            return {node.variable: (1, 1)}
        if isinstance(node, Repeat):
            return {name: (node.least * least, _times(node.most, most)) for name, (least, most) in parts[0].items()}
        found = {}
        for name in dict.fromkeys(name for part in parts for name in part):
            least, most = zip(*(part.get(name, (0, 0)) for part in parts), strict=True)
            one_of = isinstance(node, Or)
            found[name] = (
                min(least) if one_of or isinstance(node, Some) else sum(least),
                None if None in most else max(most) if one_of else sum(most),
            )
        return found

    return fold(pattern, bound)


def _times(number: int | None, most: int | None) -> int | None:
    if number == 0 or most == 0:
        return 0
    return None if number is None or most is None else number * most


def number_words(number: HowMany) -> str:
    """What stands before the events.

    >>> [number_words(n) for n in ((1, 1), (0, 1), (0, None), (1, None), (2, None), (3, 3), (2, 5), (0, 3))]
    ['one', 'at most one', 'any number of', 'one or more', '2 or more', '3', '2 to 5', 'at most 3']
    """
    match number:
        case 0, None:
            return "any number of"
        case 0, most:
            return f"at most {'one' if most == 1 else most}"
        case 1, 1:
            return "one"
        case least, None:
            return f"{'one' if least == 1 else least} or more"
        case least, most:
            return str(least) if least == most else f"{least} to {most}"
