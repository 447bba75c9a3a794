"""Compares each different answer to each instance of a query with its truth."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, TypeAlias

from simulator.data.answer import Answer
from simulator.data.dataset import Dataset
from simulator.data.own_query import TextQuery
from simulator.data.query import Query, Statement
from simulator.data.query_type import QueryType
from simulator.errors import counted
from simulator.modules.contract import Database, Unsupported
from simulator.protocol.events import AnswerDigest, QueryVerdict, ShownAnswer
from simulator.protocol.messages import digest_of
from simulator.protocol.spec import QueryLoad
from simulator.protocol.verdict import Check, Status, Verdict
from simulator.verify.truth.folding import truths
from simulator.verify.truth.needed import SharedFolding, fold_alone, names_of_instances
from simulator.verify.truth.oracle import Truth

Answers: TypeAlias = Callable[[str], Iterable[tuple[int, Answer]]]
"""Query type -> instance and answer, for each different answer."""
Rows: TypeAlias = Sequence[tuple[Any, ...]]
_SHOWN_ROWS = 20
_MOST_OWN_VALUES = 1 << 18
"""Maximum number of values in kept answers to own queries, by which targets are compared."""
_NO_TRUTH = "the answers to own queries are not checked: no truth of them is known"
_LISTED = 5
"""Maximum number of wrong answers of a query type that a verdict describes."""


class Judge:
    """Judges the answers of one run."""

    def __init__(
        self,
        database: Database,
        dataset: Dataset,
        load: QueryLoad,
        fold: SharedFolding = fold_alone,
    ) -> None:
        self._database, self._dataset, self._load = database, dataset, load
        self._fold = fold
        self._own_values_left = _MOST_OWN_VALUES

    def judge(self, types: Mapping[str, QueryType], answers: Answers) -> tuple[QueryVerdict, ...]:
        """Return the verdict on each type, after computing the truths of all instances at once."""
        asked: dict[str, dict[int, Query]] = {
            name: {i: each.instance(i) for i in dict.fromkeys(i for i, _ in answers(name))}
            for name, each in types.items()
        }
        queries = [query for instances in asked.values() for query in instances.values()]
        fold = partial(self._fold, names_of_instances(asked))
        found = truths(queries, self._dataset, fold)
        return tuple(
            self._judge(name, types[name], asked[name], found, answers(name)) for name in types
        )

    def _judge(
        self,
        name: str,
        query_type: QueryType,
        asked: Mapping[int, Query],
        truth_of: Mapping[Query, Truth],
        answers: Iterable[tuple[int, Answer]],
    ) -> QueryVerdict:
        try:
            first = self._statement(name, query_type.instance(0))
        except Unsupported as error:
            verdict = Verdict(status=Status.UNKNOWN, reason=f"not supported: {error}")
            return QueryVerdict(name=name, verdict=verdict)
        wrong: list[Check] = []
        shown: list[ShownAnswer] = []
        digests: list[AnswerDigest] = []
        compared = right = open_ones = 0
        for instance, answer in answers:
            truth = truth_of[asked[instance]]
            ok = truth.verdict(answer)
            compared, right = compared + 1, right + (ok is True)
            open_ones += ok is None
            listed = not ok and len(wrong) < _LISTED
            if listed:
                true, got = _find_difference(truth.answer, answer)
                which = f"answer {instance}" if query_type.varies else "answer"
                true += f" ({truth.undecided})" if ok is None else ""
                wrong.append(Check(name=f"{name}: {which}", expected=true, found=got, ok=ok))
            if len(shown) < self._load.shown_answers or (listed and self._load.digests):
                statement = self._statement(name, asked[instance])
                shown.append(_format(instance, statement, answer, truth))
            if self._load.digests:
                digest = digest_of(answer.rows)
                digests.append(AnswerDigest(instance=instance, digest=digest, ok=ok))
        checks = [_summarize(name, compared, right, open_ones), *wrong] if compared else []
        return QueryVerdict(
            name=name,
            statement=first.text,
            tuned=first.tuned,
            verdict=Verdict.of(checks),
            answers=compared,
            shown=tuple(shown),
            digests=tuple(digests),
        )

    def list_unchecked(
        self, types: Mapping[str, QueryType[Query | TextQuery]], answers: Answers
    ) -> tuple[QueryVerdict, ...]:
        """Return the answers to own queries, unchecked because their truth is unknown."""
        found: list[QueryVerdict] = []
        for name, query_type in types.items():
            first, count = self._database.statement(query_type.instance(0)), 0
            digests: list[AnswerDigest] = []
            shown: list[ShownAnswer] = []
            for instance, answer in answers(name):
                count += 1
                if len(shown) < self._load.shown_answers:
                    statement = self._database.statement(query_type.instance(instance))
                    shown.append(_format(instance, statement, answer))
                if self._load.digests:
                    digests.append(self._digest_own(instance, answer))
            found.append(
                QueryVerdict(
                    name=name,
                    statement=first.text,
                    own=True,
                    columns=tuple(output.name for output in first.outputs),
                    verdict=Verdict(status=Status.UNCHECKED, reason=_NO_TRUTH),
                    answers=count,
                    shown=tuple(shown),
                    digests=tuple(digests),
                )
            )
        return tuple(found)

    def _statement(self, name: str, query: Query) -> Statement:
        return self._database.statement(query, self._load.queries[name])

    def _digest_own(self, instance: int, answer: Answer) -> AnswerDigest:
        """Return the digest of an answer to an own query, with its rows while there is room."""
        self._own_values_left -= len(answer.rows) * len(answer.names)
        rows = answer.rows if self._own_values_left >= 0 else None
        return AnswerDigest(instance=instance, digest=digest_of(answer.rows), ok=None, rows=rows)


def _format(
    instance: int, statement: Statement, answer: Answer, truth: Truth | None = None
) -> ShownAnswer:
    """Return the first rows of an answer; if it is wrong, the rows from the first difference on."""
    ok = truth.verdict(answer) if truth else None
    true_rows = truth.answer.rows if truth and not ok else None
    skipped = 0 if true_rows is None else _count_equal(true_rows, answer.rows)
    part = slice(skipped, skipped + _SHOWN_ROWS)
    return ShownAnswer(
        instance=instance,
        statement=statement.text,
        columns=answer.names,
        rows=answer.rows[part],
        skipped=skipped,
        all_rows=len(answer.rows),
        ok=ok,
        truth=None if true_rows is None else true_rows[part],
    )


def _summarize(name: str, compared: int, right: int, undecided: int) -> Check:
    is_right = right + undecided == compared
    return Check(
        name=f"{name}: answers",
        expected=f"{counted(compared, 'answer')} equal to the truth",
        found=f"{right:,}",
        ok=None if is_right and undecided else is_right,
    )


def _count_equal(true: Rows, found: Rows) -> int:
    """Return the number of equal rows before the first difference."""
    pairs = enumerate(zip(true, found, strict=False))
    return next((i for i, (a, b) in pairs if a != b), min(len(true), len(found)))


def _find_difference(true: Answer, found: Answer) -> tuple[str, str]:
    """Return the first rows that differ, or the sizes of the answers."""
    at = _count_equal(true.rows, found.rows)
    if at < min(len(true.rows), len(found.rows)):
        return str(true.rows[at]), str(found.rows[at])
    return counted(len(true.rows), "row"), counted(len(found.rows), "row")
