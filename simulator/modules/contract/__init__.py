"""The contract between the benchmark and a database: what a module implements and receives.

Import it from here; its files are its own.
"""

from simulator.modules.contract.acknowledged import RowCountMismatch, expect_rows
from simulator.modules.contract.addresses import (
    Address,
    addresses,
    all_addresses,
    explain_unrelayed,
    redirect,
)
from simulator.modules.contract.aggregates import AggregateOptions, intervals
from simulator.modules.contract.alike import Alike
from simulator.modules.contract.base import Database, Session
from simulator.modules.contract.changes import BY_SERIES, CORRECT, Changes
from simulator.modules.contract.existing import MOST_COUNTED, Contents, Existing
from simulator.modules.contract.options import Options
from simulator.modules.contract.products import Product, recognize
from simulator.modules.contract.query_plans import QueryPlan
from simulator.modules.contract.records import (
    BATCH,
    DRIVER,
    DRIVER_COPY,
    IMPORT,
    OWN,
    PREFILL_ROWS,
    SINGLE,
    Capabilities,
    Encoder,
    Envelope,
    Failure,
    MixedEncoder,
    Payload,
    ReadCounters,
    Server,
    Unsupported,
)
from simulator.modules.contract.signature import Columns, comment, signature
from simulator.modules.contract.texts import StatementLanguage, TextLanguage
from simulator.modules.contract.waits import Waits
from simulator.modules.contract.wording import EXISTS
