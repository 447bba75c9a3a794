"""The forms in which a driver or a server may repeat a credential, not written by our code."""

import base64
import html
import json
from contextlib import suppress
from urllib.parse import quote, quote_plus

FORMS = {
    "as it is": str,
    "percent, upper": lambda s: quote(s, safe=""),
    "percent, lower": lambda s: quote(s, safe="").lower(),
    "percent, path": quote,
    "form": quote_plus,
    "percent, twice": lambda s: quote(quote(s, safe=""), safe=""),
    "percent of Latin-1": lambda s: quote(s, safe="", encoding="latin-1"),
    "JSON": lambda s: json.dumps(s)[1:-1],
    "JSON of UTF-8": lambda s: json.dumps(s, ensure_ascii=False)[1:-1],
    "JSON of Go": lambda s: (
        json.dumps(s)[1:-1]
        .replace("<", "\\u003c")
        .replace(">", "\\u003e")
        .replace("&", "\\u0026")
        .replace("'", "\\u0027")
    ),
    "JSON with slashes": lambda s: json.dumps(s)[1:-1].replace("/", "\\/"),
    "JSON in JSON": lambda s: json.dumps(json.dumps(s))[1:-1],
    "repr": lambda s: repr(s)[1:-1],
    "repr in double quotes": lambda s: repr("'" + s)[2:-1],
    "ascii": lambda s: ascii(s)[1:-1],
    "repr of bytes": lambda s: repr(s.encode())[2:-1],
    "repr of repr": lambda s: repr(repr(s))[2:-2],
    "SQL": lambda s: s.replace("'", "''"),
    "SQL with backslashes": lambda s: s.replace("\\", "\\\\").replace("'", "\\'"),
    "libpq": lambda s: "".join("\\" + c if c in " '\\" else c for c in s),
    "HTML": html.escape,
    "XML": lambda s: html.escape(s).replace("&#x27;", "&apos;"),
    "base64": lambda s: base64.b64encode(s.encode()).decode(),
    "base64 of Latin-1": lambda s: base64.b64encode(s.encode("latin-1")).decode(),
    "base64 for URLs": lambda s: base64.urlsafe_b64encode(s.encode()).decode().rstrip("="),
    "base64, escaped": lambda s: quote(base64.b64encode(s.encode()).decode(), safe=""),
    "hex": lambda s: s.encode().hex(),
    "HEX": lambda s: s.encode().hex().upper(),
    "one line": lambda s: " ".join(s.split()),
    "lower case": lambda s: s.lower() if s.isascii() else s,
    "upper case": lambda s: s.upper() if s.isascii() else s,
}


def forms_in(text: str, secret: str) -> list[str]:
    """Return the forms of a secret that stand in a text."""
    found = []
    for form, write in FORMS.items():
        with suppress(UnicodeEncodeError):  # not in Latin-1
            if write(secret) in text:
                found.append(form)
    login = base64.b64encode(b"u:" + secret.encode()).decode()
    return [*found, *(["login"] if login in text else [])]
