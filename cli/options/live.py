"""What shows a sweep as it goes, besides the terminal: `--metrics-out` and `--ui`."""

import functools
from collections.abc import Callable
from typing import Any, TypeVar, cast

from cli.live.address import parse_address
from cli.live.outputs import Outputs
from cli.options.basic import Parsed, option

_Function = TypeVar("_Function", bound=Callable[..., Any])
_live = functools.partial(option, group="Live")
_OPTIONS = (
    _live(
        "--metrics-out",
        metavar="FILE|URL",
        default=None,
        help="Write rate, latency, errors and time left to this file in OpenMetrics, about once a"
        " second; or send them to this URL by POST, such as"
        " http://host:8428/api/v1/import/prometheus.",
    ),
    _live(
        "--ui",
        type=Parsed("[host]:port", parse_address),
        default=None,
        help="Serve a page that shows the sweep as it goes, on this machine only unless a host is"
        " given; everybody who can connect to it can look. Port 0: a free one.",
    ),
)


def live_options(command: _Function) -> _Function:
    """Add the options of Outputs, which the command receives as one argument."""

    @functools.wraps(command)
    def gathered(**given: Any) -> Any:
        outputs = Outputs(given.pop("metrics_out"), given.pop("ui"))
        return command(outputs=outputs, **given)

    for add in reversed(_OPTIONS):
        gathered = add(gathered)
    return cast("_Function", gathered)
