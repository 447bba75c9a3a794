"""Redacts credentials in strings, in every form in which a driver or a server may repeat them.

A form is the credential unchanged, escaped (percent, JSON, Python, SQL, HTML, in any mixture), in
base64 (alone or within `user:secret`), or in hex. Case is ignored. Matching takes linear time. A
message may be truncated within a credential, so the first and the last characters of a credential
are redacted, too.
"""

import base64
import json
import re
from collections.abc import Callable, Iterable
from html.entities import codepoint2name
from itertools import groupby
from typing import Any, TextIO
from urllib.parse import quote

HIDDEN = "***"
WORD_CHARACTERS = 4
"""Length below which a credential is redacted only as a whole word: "a" would garble all texts."""
CUT_CHARACTERS = 8
"""Minimum number of characters of a truncated credential that are redacted."""

_BACKSLASH = r"(?:\\|%(?:25){0,3}5c|&#0{0,4}92;|&#x0{0,4}5c;|&bsol;)"
_PLAIN, _GAP, _OTHER = "plain", "gap", "other"
_LAST_ASCII, _LAST_LATIN_1, _LAST_BMP = 0x7F, 0xFF, 0xFFFF
_PREFIX = _BACKSLASH + "{0,8}"
_BLANK_LETTERS = "nrtvf"  # \n, \r, \t, \v, \f
_HTML_MORE = {"'": "apos"}
_CONTROL_LETTERS = {"\0": "0", "\a": "a", "\b": "b", "\x1b": "e"}
_BASE64_ESCAPED = {"+": r"(?:\+|-|%(?:25){0,3}2b)", "/": r"(?:\\{0,8}/|_|%(?:25){0,3}2f)"}
_NO_WORDS = re.compile(r"[0-9]|[a-z][A-Z]|[^\w\s.:/-]")
_MOSTLY_PUBLIC = re.compile(r"\s|://")
SECRET_KEY = re.compile(
    r"(?i)pass|pwd|secret|token|credential|properties|signature|\bsig\b|(?:access|api)[_-]?key"
)
"""password, passwd, PWD, sslpassword; authMechanismProperties may hold a session token."""
_URL = re.compile(
    r"(?i)(?:(?:(?<![+.-])\b(?P<web>https?)|[a-z][a-z0-9+.-]{1,30}):/+|//)(?P<login>[^\s'\"`]*@)?"
    r"[^\s'\"`?#]*(?P<more>[?#][^\s'\"`]+)?"
)
_STEPS = 64
_SEPARATORS = re.compile(r"[\s@/:;,?#&='\"\\]+")


class Redactor:
    """Replaces credentials in strings; it is compiled once for a set of credentials."""

    def __init__(self, secrets: Iterable[str]) -> None:
        """Store the credentials without surrounding blanks; empty credentials are ignored."""
        found = sorted({text for secret in secrets if (text := secret.strip())}, key=len)
        forms = [form for secret in reversed(found) for form in _list_forms(secret)]
        self._whole = re.compile("|".join(forms), re.IGNORECASE) if forms else None
        cuts = [form for secret in found for form in _match_cut(secret)]
        self._cuts = [re.compile(form, re.IGNORECASE) for form in cuts]

    def __call__(self, text: str) -> str:
        """Return the text with each form of each credential replaced."""
        text = self._whole.sub(HIDDEN, text) if self._whole else text
        spans = sorted(match.span() for cut in self._cuts for match in cut.finditer(text))
        kept, at = "", 0
        for start, end in spans:
            if start > at or not kept:
                kept += text[at:start] + HIDDEN
            at = max(at, end)
        return kept + text[at:]


class RedactedStream:
    """A text stream in which credentials are redacted, such as the log of a process."""

    def __init__(self, stream: TextIO, redact: Callable[[str], str]) -> None:
        self._stream = stream
        self._redact = redact

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Write a text with its credentials redacted."""
        self._stream.write(self._redact(text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Write several texts as one, because a credential may be split between them."""
        self.write("".join(lines))


def hide_urls(text: str) -> str:
    """Return a text, such as a command, without the credentials of the URLs in it."""
    for secret in list_url_secrets(text):
        hidden = f"{HIDDEN}@" if secret.endswith("@") else f"{secret[0]}{HIDDEN}"
        text = text.replace(secret, hidden)
    return text


def list_url_secrets(text: str) -> list[str]:
    """Return the parts of the URLs in a text that may be credentials: `user:secret@`, `?a=secret`.

    The user alone, and a query without a key of credentials, are public in the URLs of targets.
    """
    found = []
    for url in _URL.finditer(text):
        login, more = url["login"] or "", url["more"] or ""
        if login and (url["web"] or ":" in login):
            found.append(login)
        if more and (url["web"] or SECRET_KEY.search(more)):
            found.append(more)
    return found


def parts_of(password: str) -> set[str]:
    """Return the parts of a password that a driver repeats if it cannot parse the password."""
    return set(filter(None, _SEPARATORS.split(password)))


def _list_forms(secret: str) -> list[str]:
    if len(secret) < WORD_CHARACTERS:
        return [rf"(?<!\w){_escape(secret)}(?!\w)"]
    contents = {_encode(secret)}
    if not secret.isascii():
        contents.add(secret.encode("latin-1", "replace"))
    encoded = [_match_base64(content, offset) for content in contents for offset in range(3)]
    return [_escape(secret), *(content.hex() for content in contents), *encoded]


def _match_base64(content: bytes, offset: int) -> str:
    """Return the pattern of bytes in base64 that begin at `offset` in a group of three bytes."""
    known = _strip_base64(content, offset)
    core = "".join(_BASE64_ESCAPED.get(letter, letter) for letter in known)
    return rf"{core}[\w+/-]?(?:=|%3d){{0,2}}"


def _strip_base64(content: bytes, offset: int) -> str:
    """Return the characters of base64 that contain no bits of neighbouring bytes."""
    encoded = base64.b64encode(bytes(offset) + content).decode()
    return encoded[-(-8 * offset // 6) : 8 * (offset + len(content)) // 6]


def _match_cut(secret: str) -> list[str]:
    """Return patterns for the first and for the last characters of a credential.

    There are none for connection strings and certificates, because most of their text is public.
    There are none for words either: if the "password" of "password1" were redacted, messages would
    be garbled, and the beginning of the credential would be revealed.
    """
    if len(secret) <= CUT_CHARACTERS or _MOSTLY_PUBLIC.search(secret):
        return []
    content = _encode(secret)
    escaped = [json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1]]
    encoded = [content.hex(), *(_strip_base64(content, offset) for offset in range(3))]
    percent = quote(secret, safe="", errors="surrogatepass")
    spellings = sorted({secret, percent, *escaped, *encoded})
    return [pattern for text in spellings for pattern in (*_match_first(text), *_match_last(text))]


def _match_first(text: str) -> list[str]:
    """Return patterns for the start of a text; none if it cannot be distinguished from words."""
    least = _find_least(text)
    if least == len(text):
        return []
    following = ""
    for step in reversed(_split(text[least:])):
        following = f"(?:{re.escape(step)}{following})?"
    return [re.escape(text[:least]) + following]


def _match_last(text: str) -> list[str]:
    """Return patterns for the end of a text; none if it cannot be distinguished from words."""
    least = _find_least(text[::-1])
    if least == len(text):
        return []
    leading = ""
    for step in _split(text[:-least]):
        leading = f"(?:{leading}{re.escape(step)})?"
    return [leading + re.escape(text[-least:])]


def _find_least(text: str) -> int:
    """Return the minimum number of first characters that cannot be words of a message."""
    ends = range(CUT_CHARACTERS, len(text))
    return next((end for end in ends if _NO_WORDS.search(text, 0, end)), len(text))


def _split(text: str) -> list[str]:
    """Return the steps by which a match may grow; regular expressions limit the number of steps."""
    size = -(-len(text) // _STEPS) or 1
    return [text[start : start + size] for start in range(0, len(text), size)]


def _escape(secret: str) -> str:
    """Return a pattern for a text; any character of the text may be escaped in any way."""
    runs = [(kind, "".join(letters)) for kind, letters in groupby(secret, _classify)]
    pattern = prefix = ""
    for kind, run in runs:
        pattern += _match_run(kind, run, prefix or ("" if pattern else _PREFIX))
        # A backslash belongs either to a gap or to what follows it: one way to match a text.
        prefix = "" if kind == _GAP and "\\" in run else _PREFIX
    return pattern


def _classify(letter: str) -> str:
    """Return the kind of a character; neighbours of the same kind are escaped together."""
    if letter.isspace() or letter == "\\":
        return _GAP
    if letter.isascii():
        return _PLAIN if letter.isalnum() else letter
    return _OTHER


def _match_run(kind: str, run: str, prefix: str) -> str:
    """Return the pattern of characters of one kind, including the backslashes before them."""
    if kind == _PLAIN:
        return run
    if kind == _GAP:
        return _match_gap(run)
    if kind == _OTHER:
        letters = _PREFIX.join(_match_any(_list_ways(letter)) for letter in run)
        lost = rf"[?\N{{REPLACEMENT CHARACTER}}]{{{len(run)},{4 * len(run)}}}"
        return f"{prefix}(?:{letters}|{lost})"
    way, more = _match_any(_list_ways(kind)), 2 * len(run) - 1  # SQL doubles quotes
    return f"{prefix}{way}(?:{_PREFIX}{way}){{{len(run) - 1},{more}}}"


def _match_gap(run: str) -> str:
    """Return the pattern of a run of backslashes and blanks; messages may change the blanks."""
    slashes = run.count("\\")
    if slashes == len(run):
        return f"{_BACKSLASH}{{{slashes},{_limit_gap(run)}}}"
    blanks = sorted(set(run) - {"\\"})
    alone = "|".join(way for letter in blanks for way in _list_plain_ways(letter))
    escaped = "|".join(way for letter in blanks for way in _list_escapes(letter))
    if slashes:  # one of them alone, or with a letter
        escape = rf"{_BACKSLASH}(?:[{_BLANK_LETTERS}]|{escaped})?"
    else:
        escape = rf"{_BACKSLASH}{{1,8}}(?:[\s{_BLANK_LETTERS}]|{escaped})"
    return rf"(?:[\s+]|{alone}|{escape}){{1,{_limit_gap(run)}}}"


def _limit_gap(run: str) -> int:
    """Return the maximum number of characters of an escaped gap; the limit keeps matching fast."""
    return min(16 * len(run), 16 + 2 * len(run))


def _match_any(ways: Iterable[str]) -> str:
    return f"(?:{'|'.join(ways)})"


def _list_ways(letter: str) -> list[str]:
    """Return the patterns of all ways to write a character, without the backslash before it."""
    return [re.escape(letter), *_list_plain_ways(letter), *_list_escapes(letter)]


def _list_plain_ways(letter: str) -> list[str]:
    """Return the patterns without a backslash for a character: percent, HTML, wrongly decoded."""
    code, octets = ord(letter), _encode(letter)
    ways = [_match_percent(octets), f"&#0{{0,4}}{code};", f"&#x0{{0,4}}{code:x};"]
    ways += [f"&{name};" for name in (codepoint2name.get(code), _HTML_MORE.get(letter)) if name]
    if code > _LAST_ASCII:
        wrong = {octets.decode("latin-1"), octets.decode("cp1252", "replace")}
        ways += map(re.escape, sorted(wrong))
    if _LAST_ASCII < code <= _LAST_LATIN_1:
        ways.append(_match_percent(bytes([code])))
    return ways


def _list_escapes(letter: str) -> list[str]:
    """Return the patterns of the text that follows the backslash in an escaped character."""
    code, octets = ord(letter), _encode(letter)
    ways = [
        _join_escapes(f"x{octet:02x}" for octet in octets),
        _join_escapes(f"{octet:03o}" for octet in octets),
        f"x{code:02x}",
        f"u{code:04x}",
        f"U{code:08x}",
        rf"u\{{0{{0,4}}{code:x}\}}",
    ]
    if code > _LAST_BMP:
        units = letter.encode("utf-16-be").hex()
        ways.append(_join_escapes(f"u{unit}" for unit in (units[:4], units[4:])))
    return [*ways, *filter(None, [_CONTROL_LETTERS.get(letter)])]


def _match_percent(octets: bytes) -> str:
    return "".join(rf"%(?:25){{0,3}}{octet:02x}" for octet in octets)


def _join_escapes(words: Iterable[str]) -> str:
    return f"{_BACKSLASH}{{1,8}}".join(words)


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
