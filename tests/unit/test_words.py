"""Retired words stay out of code, documentation, messages, chart and install guides.

`python -m tests.unit.test_words [FOLDER...]` lists every use.
"""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from tests import ROOT

RETIRED = {
    r"blot(s|ted|ting)?": "redact",
    r"scrub(s|bed|bing)?": "redact",
    r"stretch(es)?": "block",
    r"tell(s|ing)?|told|untold": "the verb that fits: print, report, return, list, show, name",
    r"whoever": "name the person or process",
    r"(be|been|is|are|was|were) had": "available, tested, found",
    r"(in )?(its|their|the server's) own words": "the server's message",
    r"(come|comes|came|coming) to light": "appear",
    r"(?<!line )feeds?": "dataset reader",
    r"rights|a right(?= )": "permissions",
    r"(a|one|rows per) send": "batch",
    r"sends of": "batches of",
    r"(is|are|was|were|has|have|that|be) (there|here) already|already there": "exists",
    r"deal(s|t|ing)?(?! with)": "spread, distribute",
    r"know(s)? (neither|no|of no)": "say what is missing",
    r"of those that": "say which",
    r"anew": "again",
    r"quieten(s|ed)?": "stop other work on",
    r"ceas(e|es|ed)": "stop",
    r"[Ww]ho makes": "how it is generated",
    r"what (came|comes) of": "outcome",
    r"upkeep|tenure|gist": "what it is: the work on a database, a time, an outline",
    r"(?<!there )(is|are) no (?!longer|more|less|faster|slower|other)[a-z]+": "is not a",
    r"(lest|thereof|therein|whence|hitherto)": "plain words",
}
"""Pattern -> what to write instead. Case does not matter; `_` separates words."""

BEGINS = re.compile(
    r"(Of|In|At|By|To|For|With|Without|From|Over|Among|Beside|As|So|If|Also|Has|Have|Is|Are|Does"
    r"|What|Whether|Take) "
)
"""A docstring does not begin like this: it names what a thing is or does."""
TURNS = re.compile(
    r"\b((that|those) of|whose|says?|said|saying|so (many|long|much|often|far)|besides?|stands?"
    r"|of (its|their) own|(some|no|any|every)body|goe?s? on)\b"
)
"""Turns of docstrings that a reader often has to read twice."""
MOST_TURNS = 6
"""No more than when they were counted last; lower it with them."""
PARTICIPLE = re.compile(r"_*[a-z]*(ed|wn|tten|ven|ken)(_|$)")
MOST_PARTICIPLES = 35
"""Functions that are named by a participle, where a verb would name what they do."""

EXCEPTIONS = {
    "LICENSE": "",
    "tests/unit/test_words.py": "",
    "simulator/records/formats.py": r"def tell\(",
    "tests/unit/output/page/test_page.py": r"self\.feed\(text\)",
    "tests/files/ohlcv.py": r"sink\.tell\(\)",
}
"""File -> a regular expression of the lines that may use a retired word; empty: all of them."""

_TEXT = re.compile(r"\.(py|ipynb|md|ya?ml|json|toml|tpl|txt|sh|conf|go|sql)$|/[A-Z]\w+$|^[A-Z]\w+$")
_SKIPPED = re.compile(
    r"recordings/|tests/files/results/|\.sum$|simulator/modules/evidence/.*\.json$|^results/published/"
)
_PATTERNS = {
    re.compile(rf"(?<![A-Za-z])({pattern})(?![A-Za-z])", re.IGNORECASE): better
    for pattern, better in RETIRED.items()
}
_FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef
_ANY = re.compile(f"(?<![a-z])({'|'.join(RETIRED).lower()})(?![a-z])")
"""Most files have none of them: one search in small letters is enough."""


@dataclass(frozen=True)
class Use:
    """A retired word in a line of a file."""

    path: str
    line: int
    word: str
    better: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.word!r} -> {self.better}"


def uses() -> Iterator[Use]:
    """Every retired word in the files of the repository."""
    listing = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listing, capture_output=True, text=True, check=True, cwd=ROOT).stdout
    for name in names.splitlines():
        path = ROOT / name
        if not _TEXT.search(name) or _SKIPPED.search(name) or not path.is_file():
            continue
        text = path.read_text(encoding="utf-8")
        if not _ANY.search(text.lower()):
            continue
        for number, line in enumerate(text.splitlines(), 1):
            if name in EXCEPTIONS and re.search(EXCEPTIONS[name], line):
                continue
            for pattern, better in _PATTERNS.items():
                for match in pattern.finditer(line):
                    yield Use(name, number, match.group(), better)


def test_no_retired_word_is_used():
    found = list(uses())

    assert not found, "\n" + "\n".join(map(str, found))


def test_every_exception_is_a_file():
    assert [name for name in EXCEPTIONS if not (ROOT / name).is_file()] == []


@cache
def product() -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """Return the docstrings of the product, and its functions but properties, with their places."""
    texts, functions = [], []
    paths = [path for folder in ("iotbench", "simulator") for path in (ROOT / folder).rglob("*.py")]
    for path in sorted(paths):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Module | ast.ClassDef | _FUNCTIONS):
                continue
            place = f"{path.relative_to(ROOT)}:{getattr(node, 'lineno', 1)}"
            for child in node.body:
                match child:
                    case ast.Expr(value=ast.Constant(value=str(text))):
                        texts.append((place, text.strip()))
            if isinstance(node, _FUNCTIONS) and not any(
                "property" in ast.unparse(each) for each in node.decorator_list
            ):
                functions.append((place, node.name))
    return texts, functions


def test_no_docstring_begins_with_a_preposition_or_question():
    assert [place for place, text in product()[0] if BEGINS.match(text)] == []


def test_turns_that_are_read_twice_do_not_become_more():
    found = [f"{place}: {turn.group()}" for place, text in product()[0]
             for turn in [TURNS.search(text)] if turn]  # fmt: skip

    assert len(found) <= MOST_TURNS, "\n".join(found)


def test_participles_as_names_of_functions_do_not_become_more():
    found = [f"{place}: {name}" for place, name in product()[1] if PARTICIPLE.match(name)]

    assert len(found) <= MOST_PARTICIPLES, "\n".join(found)


if __name__ == "__main__":
    for use in uses():
        if use.path.startswith(tuple(sys.argv[1:]) or ""):
            print(use)
