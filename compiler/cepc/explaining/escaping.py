"""Names that users chose, inside XML and HTML."""

from __future__ import annotations

from html import escape


def escaped(text: str) -> str:
    """For an element's text and for an attribute's value in double quotes. Characters that XML forbids become the
    replacement character.

    >>> escaped('</script> "a" & \\x00')
    '&lt;/script&gt; &quot;a&quot; &amp; �'
    """
    return escape("".join(c if _is_allowed(c) else "\ufffd" for c in text))


def _is_allowed(c: str) -> bool:
    return c in "\t\n" or (
        c >= " " and not "\x7f" <= c <= "\x9f" and not "\ud800" <= c <= "\udfff" and c not in "\ufffe\uffff"
    )
