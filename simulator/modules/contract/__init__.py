"""The contract between the benchmark and a database: the classes that a module implements.

A module has one Database and one Session. The collector uses the Database to prepare, compact and
measure the tables; each worker opens a Session from it to insert or to query. Import from here.
"""

from simulator.modules.contract.abilities import AggregateOptions, intervals
from simulator.modules.contract.addresses import (
    Address,
    addresses,
    all_addresses,
    explain_unrelayed,
    redirect,
)
from simulator.modules.contract.database import REFUSED_LOGIN, Database, all_or_none
from simulator.modules.contract.options import Options
from simulator.modules.contract.products import Product, list_products, recognize
from simulator.modules.contract.records import (
    BATCH,
    BY_SERIES,
    CORRECT,
    DRIVER,
    DRIVER_COPY,
    EXISTS,
    IMPORT,
    MISSING,
    MOST_COUNTED,
    OWN,
    PREFILL_ROWS,
    SINGLE,
    Alike,
    Capabilities,
    Changes,
    Contents,
    Encoder,
    Envelope,
    Existing,
    Failure,
    MixedEncoder,
    Payload,
    ReadCounters,
    RowCountMismatch,
    Unsupported,
    expect_rows,
)
from simulator.modules.contract.session import Session, Waits
from simulator.modules.contract.signature import Columns, comment, signature
from simulator.modules.contract.texts import StatementLanguage, TextLanguage
from simulator.protocol.events import QueryPlan, Server
