"""The sums of row hashes: computed by a database, and from the dataset's rows."""

from collections.abc import Sequence

from simulator.data.dataset import Dataset
from simulator.data.query import Answer, RowsQuery, answer
from simulator.data.schema import Table
from simulator.modules.contract import Database, Session, Unsupported
from simulator.protocol.verdict import Check
from simulator.verify.truth.folding import Folding, truths

HASHES = "hashes of rows"
_MODULUS = 2**64


class RowHashes:
    """The number of rows and the sum of their hashes, for each table, from the database."""

    def __init__(self, database: Database, session: Session, tables: Sequence[Table]) -> None:
        self._queries = [RowsQuery(table, hashed=database.row_hash) for table in tables]
        self._answers: list[Answer] = []
        self.why_not = ""
        """Why the database computes no hashes; empty: it does."""
        try:
            self.why_not = self._probe(database, session)
        except Unsupported as error:
            self.why_not = str(error)
        except Exception as error:  # noqa: BLE001  # of any driver: older servers lack functions
            self.why_not = f"the server computes none: {database.explain(error)}"

    def _probe(self, database: Database, session: Session) -> str:
        hashing = database.row_hash
        if hashing is None:
            return database.no_row_hash
        statements = [database.render(query) for query in self._queries]
        ((*found,),) = session.run(database.probe())
        if [int(value) % _MODULUS for value in found] != [
            v % _MODULUS for v in hashing.hash_known()
        ]:
            return "the functions of the server return other numbers than those of this program"
        self._answers = [answer(each.outputs, session.run(each)) for each in statements]
        return ""

    def checks(self, dataset: Dataset, fold: Folding) -> list[Check]:
        """Compare with the rows of a dataset: two checks for each table."""
        found, checks = truths(self._queries, dataset, fold), list[Check]()
        for query, stored in zip(self._queries, self._answers, strict=True):
            ((rows, total),) = found[query].answer.rows
            ((stored_rows, sums),) = stored.rows
            pairs = (("count", rows, stored_rows), (HASHES, total, (sums or 0) % _MODULUS))
            checks += [
                Check(
                    name=f"{query.table.name}: {label}",
                    expected=str(expected),
                    found=str(value),
                    ok=expected == value,
                )
                for label, expected, value in pairs
            ]
        return checks
