"""The configuration that a result keeps: the options of the command and of the target."""

from cli.commands.common import configured
from cli.config import Target
from simulator.modules import database_class


def test_an_option_of_the_target_never_replaces_one_of_the_command():
    options = database_class("questdb").options_model(url="http://127.0.0.1:9000", timeout_s=30)
    target = Target("q", "questdb", "local", options, {})
    kept = configured({"timeout_s": 7.0, "workers": [1]}, target)

    assert (kept["timeout_s"], kept["target_timeout_s"]) == (7.0, 30)
    assert kept["query_timeout_s"] == options.query_timeout_s
    assert list(kept)[:2] == ["timeout_s", "workers"]
