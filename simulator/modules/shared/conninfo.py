"""Connection strings of libpq and MongoDB, without their passwords.

https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING
https://www.mongodb.com/docs/manual/reference/connection-string/

Strings that no driver can parse are redacted, too: rather too much than too little.
"""

import re
from urllib.parse import unquote, unquote_plus

from simulator.redaction import HIDDEN, SECRET_KEY, parts_of

_URL = re.compile(r"(\s*(?:[a-z][\w+.-]{0,40}:){1,3}//)(.*)", re.IGNORECASE | re.DOTALL)
_AUTHORITY = re.compile(r"[^/?#]*")
_PORT = re.compile(r"[0-9]{0,5}")
_GAP = re.compile(r"[\s;]+")
_KEY = re.compile(r"(\w+)\s*[=:]\s*")
_VALUE = re.compile(r"'(?:\\.|[^'\\])*'?|(?:\\.|[^\s;\\])*\\?", re.DOTALL)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_SETTING = re.compile(r"([\w.-]+)=")
_SETTINGS = re.compile(r"\s*(?:(?:-c\s*|--)?[\w.-]+=\S*(?:\s+|\Z))*")
"""Settings of a session, such as `-c search_path=app`."""
_NEXT_KEY = re.compile(r"(?<![\s;])[\s;]+\w+\s*=")


def redact_address(connection_string: str) -> tuple[str, set[str]]:
    """Return a connection string without passwords, and the forms in which drivers repeat them."""
    hidden: list[str] = []
    url = _URL.fullmatch(connection_string)
    shown = (
        url[1] + _redact_url(url[2], hidden) if url else _redact_words(connection_string, hidden)
    )
    bare = [_ESCAPED.sub(r"\1", password.strip("'")) for password in hidden]
    whole = {form for password in (*hidden, *bare) for form in (password, unquote(password))}
    return shown, whole.union(*map(parts_of, whole))


def _redact_url(rest: str, hidden: list[str]) -> str:
    """Return the part of a URL after `//` without passwords, which are added to `hidden`."""
    rest, question, query = rest.partition("?")
    pairs = [pair.partition("=") for pair in query.split("&")]
    query = "&".join(
        f"{key}{equals}{_hide(value, hidden) if _is_secret(key, unquote_plus(value)) else value}"
        for key, equals, value in pairs
    )
    rest = f"{rest}{question}{query}"
    login, at, address = rest.rpartition("@")
    user, colon, password = login.partition(":")
    if colon:
        return f"{user}:{_hide(password, hidden)}@{address}"
    if at:  # a user without a password may be a password typed in the wrong place
        return f"{HIDDEN}@{address}" if user else rest
    return _redact_port(rest, hidden)


def _is_secret(key: str, value: str) -> bool:
    """Return whether a value is secret: by its key, or in `options` by the settings in it."""
    if key != "options":
        return SECRET_KEY.search(key) is not None
    names = _SETTING.findall(value)
    return not _SETTINGS.fullmatch(value) or any(map(SECRET_KEY.search, names))


def _redact_port(rest: str, hidden: list[str]) -> str:
    """Hide text in the place of a port that is not a number: `user:secret` without a host."""
    authority = _AUTHORITY.match(rest)
    start = 0
    for host in authority[0].split(",") if authority else ():
        _, colon, port = host.rpartition("]")[2].partition(":")
        if colon and not _PORT.fullmatch(port):
            at = start + len(host) - len(port)
            return rest[:at] + _hide(rest[at:], hidden)
        start += len(host) + 1
    return rest


def _redact_words(text: str, hidden: list[str]) -> str:
    """Return key=value words without passwords, and without words that have no key."""
    shown, at = "", 0
    while at < len(text):
        gap, key = _GAP.match(text, at), _KEY.match(text, at)
        is_secret = key is not None and SECRET_KEY.search(key[1]) is not None
        if key and not is_secret and "=" not in key[0]:
            key = None
        start = gap.end() if gap else key.end() if key else at
        shown += text[at:start]
        value = None if gap else _VALUE.match(text, start)
        at = value.end() if value else start
        if is_secret:
            if not text.startswith("'", start):  # it may contain blanks that are not quoted
                following = _NEXT_KEY.search(text, start)
                at = following.start() if following else len(text)
            shown += _hide(text[start:at], hidden)
        else:
            is_shown = key and not _is_secret(key[1], text[start:at].strip("'"))
            shown += text[start:at] if is_shown else _hide(text[start:at], hidden)
    return shown


def _hide(password: str, hidden: list[str]) -> str:
    if not password.strip("' \t\n;"):
        return password
    hidden.append(password)
    return HIDDEN
