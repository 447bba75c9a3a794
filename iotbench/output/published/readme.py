"""The README of a bundle: contents, results, and how to check and repeat them."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from iotbench.figures.rows import describe_verdict
from iotbench.figures.verdicts import describe_result
from iotbench.machine.cleaning import escape_markdown, in_shell, line_of, plain, quote_markdown_code
from iotbench.output.published.configuration import Targets, left_out
from iotbench.output.published.folder import RESULTS
from iotbench.output.published.gather import BundledResults
from iotbench.results.command import GivenCommand
from iotbench.results.names import id_of
from iotbench.results.result import Result
from iotbench.store.export import export
from iotbench.store.gathered import Gathered, Outline
from simulator import __version__
from simulator.errors import counted

FILE = "README.md"
COMMANDS = "commands.sh"
"""File with the commands of all sweeps that belong to a record."""
_REPEATED = "../repeated"
"""Folder outside the bundle, to which the commands write."""
_FILES = {
    "results.zip": "the result files, unchanged: configuration, runs, histograms, verdicts",
    "site/index.html": "the same as pages: databases side by side, and a page for each",
    "config.yaml": "the targets as they were measured, without credentials",
    "versions.json": "versions of program, packages and server, settings of the server, machine",
    "SHA256SUMS": "a checksum of each file",
}
"""File -> content of the file."""
_OF_COMMANDS = "the commands of results that plans or searches measured"
_WIDTH = 120
"""Width of a table in the README, in characters."""


def format_readme(
    found: BundledResults,
    targets: Targets,
    versions: list[dict[str, Any]],
    left: Mapping[Path, GivenCommand],
) -> str:
    """Return the README as Markdown."""
    return "\n".join(_list_lines(found, targets, versions, left)) + "\n"


def list_files(found: BundledResults) -> Mapping[str, str]:
    """Return the files of a bundle, each with its content."""
    return _FILES | ({COMMANDS: _OF_COMMANDS} if found.parts else {})


def format_commands(found: BundledResults, targets: Targets) -> str:
    """Return the commands of the results that belong to a record, one command per line."""
    lines = (
        "# in this folder; README.md says what they need",
        *_list_commands(found.parts, targets),
    )
    return "".join(f"{line}\n" for line in lines)


def _list_lines(
    found: BundledResults,
    targets: Targets,
    versions: list[dict[str, Any]],
    left: Mapping[Path, GivenCommand],
) -> Iterator[str]:
    yield f"# Benchmark results: {escape_markdown(found.title)}\n"
    yield (
        "Measured by iotbench, which compares stored rows and answers with rows that it computes"
        f" itself. `iotbench publish` {__version__} wrote this folder.\n"
    )
    yield "## Verdict\n"
    for path, result in found.singles:
        about = escape_markdown(f"{result.kind} on {result.target}")
        yield f"- {_format_file(path)}: {about}: **{escape_markdown(describe_result(result))}**"
        for warning in result.warnings:
            yield f"  - warning: {escape_markdown(warning)}"
    for path, kind, record in found.records:
        yield from _describe_verdict(path, kind, record, found)
    yield "\n## Figures\n"
    if found.singles:
        named = [(id_of(path) or result.sweep_id, result) for path, result in found.singles]
        yield export(named, "markdown").rstrip()
    for path, kind, record in found.records:
        yield f"### {_format_title(kind.outline(record))}\n"
        text = plain(kind.text(record, f"{RESULTS}/{path.name}", _WIDTH))
        yield "\n".join(f"    {line}".rstrip() for line in text.splitlines()) + "\n"
    yield "\n## Measured with\n"
    yield from dict.fromkeys(_describe_measured_with(each) for each in versions)
    yield "\n## Files\n"
    yield "| File | Content |\n|---|---|"
    yield from (f"| `{name}` | {content} |" for name, content in list_files(found).items())
    yield ""
    yield "The program reads the archive as it is, without unpacking it:\n"
    yield f"    iotbench results list --output {RESULTS}"
    yield f"    iotbench show {RESULTS}/last\n"
    yield "## Check\n"
    yield "    sha256sum -c SHA256SUMS"
    yield "    iotbench publish --check .\n"
    yield (
        "The first command compares every file with its checksum. The second one does the same, and"
        " also reads each result file: its format, its figures and its verdict.\n"
    )
    yield "## Repeat\n"
    yield from _describe_repetition(found, targets, left)


def _format_title(outline: Outline) -> str:
    return escape_markdown(f"{outline.what} on {', '.join(outline.targets)}")


def _format_file(path: Path) -> str:
    return quote_markdown_code(path.name)


def _describe_verdict(
    path: Path, kind: Gathered, record: Any, found: BundledResults
) -> Iterator[str]:
    """Yield a line with the verdict of a record, and a line for each warning of its results."""
    outline, names = kind.outline(record), {*kind.files(record)}
    judged = describe_verdict(outline.verdict, outline.verify)
    own = [result for each, result in found.parts if each.name in names]
    warnings = Counter(warning for result in own for warning in result.warnings)
    yield (
        f"- {_format_file(path)}: {_format_title(outline)}: **{escape_markdown(judged)}**,"
        f" {counted(len(own), 'result file')}"
    )
    for warning, n in warnings.items():
        yield f"  - warning of {counted(n, 'result')}: {escape_markdown(warning)}"


def _describe_measured_with(each: dict[str, Any]) -> str:
    server, machine = each["server"], each["machine"]
    words = [f"iotbench {each['program']}", f"module {each['module']}"]
    words += [f"server {server['version']} ({server['durability']})"] if server else []
    words += [f"{name} {version}" for name, version in each["packages"].items()]
    words += [f"{name} {value}" for name, value in each["cluster"].items()]
    memory = f"{machine['memory_bytes'] / 2**30:.0f} GiB"
    words += [f"{machine['processor']}, {machine['cores']} cores, {memory}, {machine['system']}"]
    return f"- {escape_markdown('; '.join([*words, 'Python ' + machine['python']]))}"


def _describe_repetition(
    found: BundledResults, targets: Targets, left: Mapping[Path, GivenCommand]
) -> Iterator[str]:
    versions = ", ".join({result.program_version: 0 for _, result in found.sweeps})
    program = f"version {escape_markdown(versions)} of the program"
    yield f"With {program}, in this folder, in this order:\n"
    for variable, option in targets.variables.items():
        yield f"    export {variable}=...       # {line_of(option)}"
    for line in _list_commands(found.singles, targets):
        yield f"    {line}"
    yield ""
    if found.parts:
        whose = "of the other results" if found.singles else "of all results"
        n = counted(len(found.parts), "result file")
        yield f"`{COMMANDS}` has the commands {whose}, {n}.\n"
    for path, result in found.sweeps:
        if not targets.command(path, result):
            yield f"- The file {_format_file(path)} does not hold the command that measured it."
        if path in left and (words := left_out(left[path])):
            yield (
                f"- {_format_file(path)} was measured with further options, which the command omits"
                f" since they run, reach or write something: {quote_markdown_code(in_shell(words))}"
            )
    yield from _list_needed_files(found)
    yield (
        "\nIn a checkout, `python run.py` stands for `iotbench`. The commands write to"
        f" `{_REPEATED}`; `iotbench compare FILE FILE` compares two result files.\n"
        "\nThe rows are the same. The machine, its load and the versions above are not part of a"
        " command: another machine gives other rates."
    )


def _list_commands(sweeps: Sequence[tuple[Path, Result]], targets: Targets) -> Iterator[str]:
    for path, result in sweeps:
        if words := targets.command(path, result):
            yield f"iotbench {in_shell([*words, '--output', _REPEATED])}"


def _list_needed_files(found: BundledResults) -> Iterator[str]:
    for _, result in found.sweeps:
        if isinstance(result.command, GivenCommand) and "data" in result.command.options:
            digest = result.configuration.get("sha256") or result.dataset.params.get("sha256")
            file = Path(str(result.configuration.get("data"))).name
            sha = escape_markdown(str(digest))
            yield (
                f"- The rows come from {quote_markdown_code(file)}, SHA-256 {sha}, which is not"
                " included."
            )
