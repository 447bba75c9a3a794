"""Connection strings of libpq and MongoDB, and what may be shown of them.

https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING
https://www.mongodb.com/docs/manual/reference/connection-string/
"""

import re
from collections.abc import Iterable
from urllib.parse import unquote

# sslpassword, tlsCertificateKeyFilePassword; authMechanismProperties may hold a session token.
_QUERY_PASSWORD = re.compile(r"([?&][^=&]*(?:password|properties)=)([^&]*)", re.IGNORECASE)
_USER_PASSWORD = re.compile(r"(://[^:@/?]*:)(.*)(?=@)", re.DOTALL)
_WORD_PASSWORD = re.compile(
    r"((?:ssl)?password\s*=\s*)('(?:\\.|[^'\\])*'?|.*?(?=\s+\w+\s*=|\s*$))",
    re.IGNORECASE | re.DOTALL,
)

_URL = re.compile(r"\s*[a-z][\w+.-]*://", re.IGNORECASE)


def redacted(reach: str) -> tuple[str, list[str]]:
    """Return a connection string with its passwords hidden, and the passwords.

    What could be a password is taken as widely as it goes, since no driver may be able to read it.
    """
    hidden: list[str] = []

    def hide(match: re.Match[str]) -> str:
        hidden.append(match[2])
        return f"{match[1]}***"

    is_url = _URL.match(reach)
    for pattern in (_QUERY_PASSWORD, _USER_PASSWORD) if is_url else (_WORD_PASSWORD,):
        reach = pattern.sub(hide, reach)
    return reach, hidden


def scrubbed(words: str, secrets: Iterable[str]) -> str:
    """Return a message without the secrets or a piece of them.

    A password that is not escaped as it should be reaches libpq, and its messages, in pieces.
    """
    whole = [form for secret in secrets for form in (secret, unquote(secret))]
    pieces = {piece for text in whole for piece in (text, *re.split(r"[\s@/:'\\]+", text)) if piece}
    for piece in sorted(pieces, key=len, reverse=True):
        words = re.sub(rf"(?<!\w){re.escape(piece)}(?!\w)", "***", words)
    return words
