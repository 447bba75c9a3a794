"""Targets that are URLs: SCHEME://USER@HOST:PORT/DATABASE or SCHEME:PATH.

They need no entry in a configuration, and contain no credentials.
"""

import os
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit, urlunsplit

import click

from iotbench.machine.streams import can_ask
from simulator.errors import ConfigError, nearest
from simulator.modules import MODULES, database_class
from simulator.modules.contract import Database, Options
from simulator.modules.shared.conninfo import redact_address

VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_FORM = re.compile(
    r"(?P<scheme>[a-z][a-z0-9+]*):(?://(?P<user>[A-Z]+@)?HOSTS?(?::(?P<port>\d+))?"
    r"(?:/(?P<path>[A-Z_]+))?(?:\?.*)?|(?P<file>PATH)?)"
)
_OVER_HTTP = re.compile(r"\+https?$")
WAYS = ("url", "connection_string", "hosts", "host", "uri")
"""Options that can hold the address; each module with a server has one of these options."""
_NO_LOGINS = (*WAYS, "ca")
"""Options that are kept like credentials, but are not part of a login."""
_LONGEST_NAME = 100


@dataclass(frozen=True, slots=True)
class UrlForm:
    """A form of URLs that a module declares."""

    text: str
    scheme: str
    module: str
    port: int | None
    path: str
    """Option that the path sets; empty if there is no such option."""
    is_file: bool

    @property
    def model(self) -> type[Options]:
        """The options of the module."""
        return database_class(self.module).options_model

    @property
    def base(self) -> str:
        """The scheme without its transport; names of variables for credentials begin with it."""
        return _OVER_HTTP.sub("", self.scheme)

    @property
    def variables(self) -> dict[str, str]:
        """Option -> environment variable, for each credential of a login."""
        logins = (each for each in self.model.credentials() if each not in _NO_LOGINS)
        return {each: variable(self.base, each) for each in logins}


def is_url(name: str) -> bool:
    """Return whether the name of a target is a URL."""
    return ":" in name


@cache
def url_forms() -> Mapping[str, UrlForm]:
    """Return scheme -> URL form, for all modules."""
    return {each.scheme: each for module in MODULES for each in forms_of(database_class(module))}


def forms_of(cls: type[Database]) -> Iterator[UrlForm]:
    """Yield the URL forms of a module; a module with an HTTP interface also has SCHEME+https."""
    for text in cls.urls:
        match = _FORM.fullmatch(text)
        assert match, f"{cls.name}: {text}"
        port = int(match["port"]) if match["port"] else None
        path = (match["path"] or "").lower()
        scheme, is_file = match["scheme"], "//" not in text
        names = {scheme}
        if "url" in cls.options_model.model_fields:
            base = _OVER_HTTP.sub("", scheme)
            names = {base, f"{base}+http", f"{base}+https"}
        for name in names:
            yield UrlForm(text, name, cls.name, port, path, is_file)


def variable(name: str, option: str) -> str:
    """Return the name of the environment variable that holds a credential."""
    return re.sub(r"\W", "_", f"{name}_{option}").upper()


def name_of(url: str) -> str:
    """Return the name of a target that is a URL, as stored in results: scheme, host and path."""
    scheme, _, rest = url.partition(":")
    place = rest.partition("?")[0].removeprefix("//").rpartition("@")[2]
    words = re.sub(r"[^A-Za-z0-9._]+", "-", f"{_OVER_HTTP.sub('', scheme)}-{place}").strip("-.")
    if len(words) > _LONGEST_NAME:
        words = f"{words[:20]}-{words[-_LONGEST_NAME + 21 :].lstrip('-.')}"
    return words


def form_of(url: str) -> UrlForm:
    """Return the URL form with the scheme of a URL; ConfigError if the scheme is unknown."""
    scheme = url.partition(":")[0]
    if scheme not in url_forms():
        known = sorted(each for each in url_forms() if not _OVER_HTTP.search(each))
        hint = nearest(scheme, known)
        hint = hint if "did you mean" not in hint else f"{hint}; known: {', '.join(known)}"
        raise ConfigError(f"--target {scheme[:40]}:...: unknown scheme ({hint})")
    return url_forms()[scheme]


def options_in(url: str, form: UrlForm) -> dict[str, Any]:
    """Return the options in the URL of a target; ConfigError if the URL is not valid."""
    where, model = f"--target {form.text}", form.model
    if form.is_file:
        path, _, query = url.partition(":")[2].partition("?")
        if path.startswith("//") or (not path and form.text.endswith("PATH")):
            raise ConfigError(f"{where}: expected a path, such as {form.base}:rooms.db")
        given = {"path": path} if path else {}
        return {**given, **_parse_query(where, query, form.base, model)}
    _, found, rest = url.partition("://")
    if not found:
        raise ConfigError(f"{where}: expected // after the scheme")
    wire = form.scheme
    if "url" in model.model_fields:
        with_tls = (form.text if form.scheme == form.base else form.scheme).partition(":")[0]
        wire = "https" if with_tls.endswith("+https") else "http"
    elif "connection_string" in model.model_fields and not wire.startswith("mongodb"):
        wire = "postgresql"
    elif "uri" in model.model_fields:
        wire = "qdb"
    return options_of(f"{wire}://{rest}", where, form.base, model, form)


def options_of(
    url: str, where: str, name: str, model: type[Options], form: UrlForm | None = None
) -> dict[str, Any]:
    """Return the options in the URL of a server; ConfigError if the URL is not valid.

    `name`: first part of the names of variables for credentials. Without a form, the URL must have
    a port, and its path is part of the address of an HTTP interface.
    """
    try:
        parts = urlsplit(url)
        port = parts.port or (form.port if form else None)
    except ValueError:  # its text may contain a credential
        raise ConfigError(f"{where}: not a URL of a host, or its port is not a number") from None
    fields = model.model_fields
    way = next((each for each in WAYS if each in fields), "")
    if not way:
        raise ConfigError(f"{where}: the module has no server that could run elsewhere")
    login, _, hosts = parts.netloc.rpartition("@")
    user, _, password = login.partition(":")
    refusal = _format_refusal(where, variable(name, "token" if "token" in fields else "password"))
    is_shown = bool(password) and not ("password" in fields and VARIABLE.fullmatch(password))
    if is_shown or ":" in unquote(user):
        raise ConfigError(refusal)
    found = {"password": password} if password else {}
    if way == "connection_string":  # the driver reads URLs
        netloc = _add_port(hosts, port if form else None)
        shown = urlunsplit(parts._replace(netloc=f"{user}@{netloc}" if user else netloc))
        keys = {key for key, _ in parse_qsl(parts.query, keep_blank_values=True)}
        if redact_address(shown)[1] or keys & {*fields}:  # the driver has no key of this name
            raise ConfigError(refusal)
        return {way: shown, **found}
    own = next((each for each in ("username", "user") if each in fields), "")
    if user and not own:
        raise ConfigError(f"{where}: the module has no user; {refusal.partition(': ')[2]}")
    found |= {own: unquote(user)} if user else {}
    found |= _parse_place(way, parts, hosts, port, form)
    return {**found, **_parse_query(where, parts.query, name, model)}


def _parse_place(
    way: str, parts: SplitResult, hosts: str, port: int | None, form: UrlForm | None
) -> dict[str, Any]:
    """Return the options for the address and the path."""
    path = unquote(parts.path.strip("/"))
    named = form.path if form else "" if way == "url" else "database"
    options: dict[str, Any] = {named: path} if named and path else {}
    if way in {"url", "uri"}:
        end = "" if named or way == "uri" else parts.path
        place = f"{parts.scheme}://{_add_port(hosts, port if form else None)}{end}"
        return {way: place, **options}
    bare = ",".join(re.sub(r":\d+$", "", each) for each in hosts.split(","))
    return {way: unquote(bare).strip("[]"), **({"port": port} if port else {}), **options}


def _add_port(hosts: str, port: int | None) -> str:
    named = re.compile(r":\d+$")
    each_host = hosts.split(",") if hosts and port else []
    return ",".join(h if named.search(h) else f"{h}:{port}" for h in each_host) or hosts


def _parse_query(where: str, query: str, name: str, model: type[Options]) -> dict[str, str]:
    """Return the options in the query of a URL."""
    options = dict(parse_qsl(query, keep_blank_values=True))
    for key in {*options} & {*model.credentials()}:
        if not VARIABLE.fullmatch(options[key]):
            raise ConfigError(_format_refusal(where, variable(name, key)))
    return options


def _format_refusal(where: str, name: str) -> str:
    return (
        f"{where}: no password on a command line, where other users of this machine can read it;"
        f" set the environment variable {name}, or leave it out and type it when asked"
    )


def entry_of(url: str) -> dict[str, Any]:
    """Return the entry of a target that is a URL; ConfigError if the URL is not valid.

    Credentials come from the environment, or from a prompt on a terminal.
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
        if typed:  # for later readings of the entry
            os.environ[name] = typed
            options[asked] = f"${{{name}}}"
    return {"module": form.module, "runner": "local", **options}


def entry_for_file(url: str) -> dict[str, Any]:
    """Return the entry that a URL has in a configuration, with variables for credentials."""
    form = form_of(url)
    options = options_in(url, form)
    if wanted := _find_wanted(url, options, form.model):
        options[wanted] = f"${{{variable(form.base, wanted)}}}"
    return {"module": form.module, "runner": "local", **options}


def variables_of(
    name: str, model: type[Options], given: Collection[str], environment: Collection[str]
) -> dict[str, str]:
    """Return credential -> reference to the variable, for each variable in the environment."""
    names = {option: variable(name, option) for option in model.credentials()}
    return {
        option: f"${{{found}}}"
        for option, found in names.items()
        if option not in given and found in environment
    }


def _find_wanted(url: str, options: Mapping[str, Any], model: type[Options]) -> str:
    """Return the credential that a URL needs, password or token; empty if it needs none."""
    wanted = "password" if "@" in url.partition("?")[0] else "token"
    places = model.driver_finds
    is_found = any(os.environ.get(each) or Path(each).expanduser().is_file() for each in places)
    is_known = wanted in options or "token" in options or is_found
    return wanted if wanted in model.credentials() and not is_known else ""
