"""A URL as a target, which needs no entry in a configuration; its credentials are elsewhere."""

import os
from collections.abc import Collection, Mapping
from typing import Any

import click

from iotbench.config.targets.urls import form_of, name_of, options_in, variable
from iotbench.machine.streams import can_ask
from simulator.modules.contract import Options


def entry_of(url: str) -> dict[str, Any]:
    """Return the entry of a target that is a URL; ConfigError if it cannot be one.

    Credentials come from the environment, or from the person at the terminal.
    """
    form = form_of(url)
    options = options_in(url, form)
    options |= variables_of(form.base, form.model, options, os.environ)
    if can_ask() and (asked := _find_wanted(url, options, form.model)):
        name = variable(form.base, asked)
        typed = click.prompt(
            f"{asked} for {name_of(url)} (empty: none)", default="", hide_input=True,
            show_default=False, err=True,
        )  # fmt: skip
        if typed:  # in the environment, where each later reading of the entry finds it
            os.environ[name] = typed
            options[asked] = f"${{{name}}}"
    return {"module": form.module, "runner": "local", **options}


def entry_for_file(url: str) -> dict[str, Any]:
    """Return the entry of a URL for a configuration: credentials are variables to be set."""
    form = form_of(url)
    options = options_in(url, form)
    if wanted := _find_wanted(url, options, form.model):
        options[wanted] = f"${{{variable(form.base, wanted)}}}"
    return {"module": form.module, "runner": "local", **options}


def variables_of(
    name: str, model: type[Options], given: Collection[str], environment: Collection[str]
) -> dict[str, str]:
    """Return the credentials that are variables of the environment, as references to these."""
    names = {option: variable(name, option) for option in model.credentials()}
    return {
        option: f"${{{found}}}"
        for option, found in names.items()
        if option not in given and found in environment
    }


def _find_wanted(url: str, options: Mapping[str, Any], model: type[Options]) -> str:
    """Return the credential that a URL lacks: its user's password, or the token; empty: none."""
    wanted = "password" if "@" in url.partition("?")[0] else "token"
    is_known = wanted in options or "token" in options or model.finds_password()
    return wanted if wanted in model.credentials() and not is_known else ""
