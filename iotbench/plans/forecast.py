"""The forecast of a plan: the rows, time and size of its items, estimated from earlier results."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from iotbench.config.input.quantities import format_time
from iotbench.machine.tables import CellKind, TextTable, draw
from iotbench.measurements.shared.plan import PlannedRun, estimate_s, rows_of
from iotbench.plans.items import Pair
from iotbench.plans.plan import Plan
from iotbench.plans.settings import Setting
from iotbench.plans.tables import absences
from iotbench.results.result import Result
from simulator.errors import counted

_COUNTS = ("repeats", "measured")


@dataclass(frozen=True, slots=True)
class Forecast:
    """The expected rows, time and size of each item of a pair."""

    pair: Pair
    rows: int | None
    """Number of rows; None: the item inserts for a set duration."""
    seconds: float | None
    """Time; None: no duration is set, and no earlier result has this workload and batch size."""
    size_bytes: float | None
    repeats: int = 1
    measured: int = 0
    """Number of repeats with complete results."""
    is_least: bool = False
    """True if `seconds` is only the set duration, so that the item takes longer."""

    @property
    def left_s(self) -> float | None:
        """Expected duration of the remaining items; None: unknown."""
        return None if self.seconds is None else (self.repeats - self.measured) * self.seconds


def forecast(
    pair: Pair,
    planned: Sequence[PlannedRun],
    earlier: Iterable[Result],
    repeats: int = 1,
    measured: int = 0,
) -> Forecast:
    """Return the forecast for a pair; `earlier` has results of the same target."""
    rows = sum(rows_of(each.spec) for each in planned)
    seconds = size = None
    last = _find_most_alike(pair, earlier)
    done = last.runs[-1].metrics if last else None
    timed_s = pair.setting.inserting.timed_s
    if last and done:
        mixed = pair.setting.mixed
        seconds = estimate_s(planned, last)
        if seconds is not None and mixed:
            seconds += mixed.warmup_s + mixed.duration_s
        stored = done.rows_per_s * timed_s if timed_s else rows
        size = None if done.bytes_per_row is None else done.bytes_per_row * stored
    is_least = seconds is None and bool(timed_s)
    if is_least:
        seconds = pair.setting.inserting.warm_s + timed_s
    shown = None if timed_s else rows
    return Forecast(pair, shown, seconds, size, repeats, measured, is_least)


def _find_most_alike(pair: Pair, earlier: Iterable[Result]) -> Result | None:
    """Return the newest insert with this workload and batch size, preferably with these options."""
    insert, options = pair.setting.inserting, pair.target.options.public()
    alike = [
        result
        for result in earlier
        if result.status == "done"
        and (result.configuration.get("workload"), result.configuration.get("batch"))
        == (insert.workload, insert.batch)
    ]
    return min(
        alike,
        key=lambda each: (
            each.target_options != options,
            abs(each.runs[-1].workers - insert.most_workers),
        ),
        default=None,
    )


def forecast_text(
    title: str,
    plan: Plan,
    found: Sequence[Forecast],
    not_measured: Mapping[str, str],
    width: int,
) -> str:
    """Return a forecast as text; `not_measured`: pair -> the reason."""
    repeats = counted(plan.repeats, "repeat")
    head = f"plan of {title}: {repeats} of each setting; nothing is started"
    tables: list[TextTable | str] = [_draw_settings(plan, found), "", _draw_targets(found), ""]
    return draw([head, *tables, *_list_notes(plan, found, not_measured)], width)


def _draw_settings(plan: Plan, found: Sequence[Forecast]) -> TextTable:
    mixes = any(setting.mixed for setting in plan.settings)
    titles = ("Setting", "Workers", "Batch", "Tables", "Rows", "Queries")
    table = _new_table(*titles, *(["Mixed"] if mixes else []))
    rows = {(each.pair.setting.name, each.pair.setting.inserting.tables): each.rows
            for each in found}  # fmt: skip
    for setting in plan.settings:
        insert = setting.inserting
        shards = f"1 to {setting.shards}" if setting.shards else ""
        counts = sorted({count for (name, _), count in rows.items()
                         if name == setting.name and count is not None})  # fmt: skip
        shown = " to ".join(dict.fromkeys(f"{count:,}" for count in (*counts[:1], *counts[-1:])))
        if insert.timed_s:
            shown = f"for {format_time(insert.timed_s)}"
        asked = setting.query
        queries = len(asked.types) + len(asked.own) or "all" if asked else "-"
        mixed = f"for {format_time(setting.mixed.duration_s)}" if setting.mixed else "-"
        table.add_row(
            setting.name, shards or str(insert.most_workers), _format_batch(setting),
            shards or str(insert.tables), shown or "-", str(queries), *([mixed] if mixes else []),
        )  # fmt: skip
    return table


def _format_batch(setting: Setting) -> str:
    if setting.batches:
        return f"1,000 to {setting.batches:,}"
    return f"best of {setting.batch_of}" if setting.batch_of else f"{setting.inserting.batch:,}"


def _draw_targets(found: Sequence[Forecast]) -> TextTable:
    table = _new_table("Target", "Items", "Measured", "Time of the rest", "Disk, at most")
    for target in dict.fromkeys(each.pair.target.name for each in found):
        own = [each for each in found if each.pair.target.name == target]
        items, measured = (sum(getattr(each, n) for each in own) for n in _COUNTS)
        table.add_row(target, f"{items:,}", f"{measured:,}", _format_time(own), _format_size(own))
    return table


def _new_table(*titles: str) -> TextTable:
    table = TextTable()
    for title in titles:
        table.add_column(title, CellKind.NAME if title == titles[0] else CellKind.FIGURE)
    return table


def _format_time(found: Sequence[Forecast]) -> str:
    left = [each for each in found if each.measured < each.repeats]
    seconds = [each.left_s for each in left if each.left_s is not None]
    if left and not seconds:
        return "unknown"
    is_least = len(seconds) < len(left) or any(each.is_least for each in left)
    return f"{'at least ' * is_least}{format_time(sum(seconds))}"


def _format_size(found: Sequence[Forecast]) -> str:
    largest = max((each.size_bytes for each in found if each.size_bytes is not None), default=None)
    if largest is None:
        return "-"
    return f"{largest / 1e9:,.1f} GB" if largest >= 1e9 else f"{largest / 1e6:,.1f} MB"


def _list_notes(
    plan: Plan, found: Sequence[Forecast], not_measured: Mapping[str, str]
) -> Iterator[str]:
    unknown = [each for each in found if each.seconds is None or each.is_least]
    items, measured = (sum(getattr(each, name) for each in found) for name in _COUNTS)
    yield (
        f"{counted(items, 'item')}, {measured:,} measured before; time of the rest:"
        f" {_format_time(found)}"
    )
    if plan.until_within is not None:
        yield (
            f"until_within: more repeats, up to {plan.most_repeats}, where the mean rate is not"
            f" known to within {plan.until_within:.0%}; their time is not included"
        )
    yield (
        "time and disk space follow from earlier inserts in --output of the same workload and batch"
        " size, such as those of --size demo; queries are not included"
    )
    if any(setting.change for setting in plan.settings):
        yield "change: its time is not included"
    if any(setting.mixed for setting in plan.settings):
        yield "mixed: its time is included, and the space of the rows that it adds is not"
    if any(each.pair.setting.search for each in found):
        yield "shards, batches: a search raises their number, and may end before the largest one"
    if unknown:
        names = dict.fromkeys(
            f"{each.pair.target.name}, {each.pair.setting.name}" for each in unknown
        )
        yield f"no earlier insert: {'; '.join(names)}"
    yield from absences(not_measured)
