"""Texts from data and names as a terminal may have them."""

from __future__ import annotations

import unicodedata


def visible(text: str) -> str:
    """The text with every character that a terminal would act on as the escape that stands for it, line ends too.

    >>> print(visible("a\\x1b[2Jb\\n\\u202e"), visible("é語"))
    a\\x1b[2Jb\\n\\u202e é語
    """
    return text if text.isprintable() else "".join(_shown(c) for c in text)


def visible_lines(text: str) -> str:
    """The same of each line."""
    return "\n".join(map(visible, text.split("\n")))


def _shown(character: str) -> str:
    acts = unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp") and character not in "\u200b\u200c\u200d"
    return character.encode("unicode_escape").decode() if acts else character
