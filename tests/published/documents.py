"""The reference documents at demo size, each on the databases that it compares."""

from collections.abc import Mapping, Sequence

from iotbench.config.targets.advice import SettingsChoice
from tests.published import DOCUMENTS
from tests.published.measuring import configured, program
from tests.published.records import folder_of
from tests.published.targets import OTHERS
from tests.servers import SERVERS
from tests.settings import Place, places


def measure_document(name: str, hours: float) -> None:
    """Measure what a document has left on its databases, all of which run at the same time."""
    with configured(_find_places(DOCUMENTS[name])) as (config, environment, _):
        program("reproduce", name, f"--targets={','.join(DOCUMENTS[name])}",
                f"--config={config}", f"--output={folder_of(name)}", "--timeout=10m",
                f"--stop-after={3600 * hours:.0f}s", environment=environment)  # fmt: skip


def _find_places(targets: Sequence[str]) -> Mapping[str, Place]:
    """Return target -> its place with the settings as installed."""
    own = {name: name if name in SERVERS else "" for name in targets}
    found = {name: Place(server, name, SettingsChoice.INSTALLED) for name, server in own.items()}
    return found | {name: each for name, each in places(*OTHERS) if name in targets}
