"""Connection strings of libpq and MongoDB, without their passwords.

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


def redacted(connection_string: str) -> tuple[str, list[str]]:
    """Return a connection string with its passwords hidden, and the passwords.

    Hides too much rather than too little: the string may be one that no driver can parse.
    """
    hidden: list[str] = []

    def hide(match: re.Match[str]) -> str:
        hidden.append(match[2])
        return f"{match[1]}***"

    is_url = _URL.match(connection_string)
    for pattern in (_QUERY_PASSWORD, _USER_PASSWORD) if is_url else (_WORD_PASSWORD,):
        connection_string = pattern.sub(hide, connection_string)
    return connection_string, hidden


def redacted_words(words: str, secrets: Iterable[str]) -> str:
    """Return a message without the secrets and without parts of them.

    A password that is not escaped correctly reaches libpq, and its messages, in parts.
    """
    whole = [form for secret in secrets for form in (secret, unquote(secret))]
    parts = {part for text in whole for part in (text, *re.split(r"[\s@/:'\\]+", text)) if part}
    for part in sorted(parts, key=len, reverse=True):
        words = re.sub(rf"(?<!\w){re.escape(part)}(?!\w)", "***", words)
    return words
