"""Programs whose names could be taken for something else, through all that is made of them: jobs, explanations, rows of
no events.
"""

from __future__ import annotations

import time
import traceback
from functools import cache
from random import Random
from typing import Final

from cepc.api import check_sources
from cepc.codegen.compiling import job_of
from cepc.errors import CepcError
from cepc.explaining import as_dot, as_html, as_json, as_svg, as_text
from cepc.explaining.explanation import explain
from cepc.shared_plans import Options, plan_shared
from cepc_grammar.source import Source
from cepc_grammar.tokens import tokenize
from tests.fuzz import valid
from tests.fuzzing import Answered, patience
from tests.generators import KEYWORDS
from tests.test_job_names import assert_apart

SYLLABLES: Final = (
    "a", "f", "t", "job", "sys", "events", "rows", "results", "types", "plan", "letters", "classes", "stream", "streams", "build",
    "print", "None", "class", "_", "__", "2", "${", "}", "`", "'", '"', "\\", "'''", "\x1b[2J", "\u202e", "é", "名", "\U0001f600", ".",
    "*", "%2E", "{}", "{0}", " ", "-- ", "/*", "*/", ";", "$(", "</script>", "&amp;", "<b>", "[bold]", "select", "_letters_0", "Batch",
)  # fmt: skip


@cache
def _right() -> tuple[str, ...]:
    """Those that are right, and small: a program of a hundred queries is no better than one of two."""
    checked = ((text, check_sources((Source("fuzz.cep", text),)).program) for text in valid() if len(text) < 3000)
    return tuple(text for text, program in checked if program is not None and program.queries)


def renamed(random: Random) -> str:
    """A valid program in which a few names are others, everywhere alike."""
    text = random.choice(_right())
    tokens = tokenize(Source("", text)).tokens
    known = sorted({t.text for t in tokens if t.kind == "WORD" and t.upper not in KEYWORDS})
    names = {
        old: "".join(random.choices(SYLLABLES, k=random.choice((1, 1, 2, 3))))
        for old in random.sample(known, min(len(known), random.choice((1, 2, 4))))
    }
    parts, end = [], 0
    for token in tokens:
        parts.append(text[end : token.start])
        plain = token.text.strip("'")
        if token.kind == "WORD" and token.text in names:
            parts.append("`" + names[token.text].replace("`", "``") + "`")
        elif token.kind == "STRING" and plain in names:
            parts.append("'" + names[plain].replace("\\", "\\\\").replace("'", "\\'") + "'")
        else:
            parts.append(token.text)
        end = token.end
    return "".join([*parts, text[end:]])


def answer(text: str) -> bool:
    """Whether the program is right, and so was made into everything; raises what is no diagnostic."""
    checked = check_sources((Source("fuzz.cep", text),))
    checked.text()
    if checked.program is None or not checked.program.queries:
        return False
    try:
        assert_apart(job_of(checked.program, checked.sources).text)
        found = explain(checked.program, plan_shared(checked.program, Options(seconds=None)))
        shown = as_text.to_text(checked.program, found), as_dot.to_dot(found)
        as_json.to_json(found).encode()
        as_svg.to_svg(found).encode()
        as_html.to_html(checked.program, found, {"fuzz.cep": text}, "").encode()
    except CepcError as error:
        str(error).encode()
        return True
    for one in shown:
        acting = {c for c in one if c < " " and c != "\n"} | {c for c in one if "\x7f" <= c <= "\x9f" or c == "\u202e"}
        if acting:
            raise AssertionError(f"{acting} reaches the terminal")
    return True


def run(seed: str, seconds: float) -> Answered:
    """Those that are right went all the way."""
    until, answered, most = time.time() + seconds, Answered(), patience()
    while time.time() < until and len(answered.failures) < 10:
        text, started = renamed(Random(f"{seed} {answered.examples}")), time.process_time()
        try:
            answered.through += answer(text)
            if time.process_time() - started > most:
                raise TimeoutError(f"more than {most:.1f} seconds")
        except Exception:
            answered.failures.append(f"program {answered.examples} of `{seed}`: {traceback.format_exc(limit=-4)}")
        answered.examples += 1
    return answered
