"""TCP connections: TLS, and keepalive, which detects the loss of a server."""

import re
import socket
import ssl

from pydantic import Field, SecretStr

from simulator.errors import SetupError

CONNECT_S = 10.0

# The options of a module with TLS: the arguments of `tls_context`.
CA_FILE: str | None = Field(
    None,
    description="file with the certificate (PEM) of the authority that signed the server's, if the "
    "system does not trust it",
)
CA: SecretStr | None = Field(
    None,
    description="that certificate as text; pods can read it from a Secret: "
    "ca_from: {secret: NAME, key: ca.crt}",
)
INSECURE: bool = Field(
    default=False, description="accept any certificate, without a check of the server's identity"
)

CERTIFICATES = {
    "certificate has expired": "renew the server's certificate, or correct the clock of this "
    "machine",
    "certificate is not yet valid": "correct the clock of this machine, or of the one that issued "
    "the server's certificate",
    "(Hostname|IP address) mismatch|does not match host name": "connect by a name in the server's "
    "certificate, or have one issued for this name",
}
"""Pattern of the reason why a trusted authority's certificate is refused -> remedy."""
UNTRUSTED = "name its authority's certificate in ca_file, or set insecure=true"


def certificate_remedy(reason: str) -> str:
    """Return the remedy for a refused certificate."""
    found = (remedy for cause, remedy in CERTIFICATES.items() if re.search(cause, reason))
    return next(found, UNTRUSTED)


def socket_options() -> list[tuple[int, int, int]]:
    """Return the socket options that this system supports; Linux supports all.

    They detect within 30 s that the server's node is gone, while an answer may take an hour.
    """
    wanted = {"TCP_KEEPIDLE": 10, "TCP_KEEPINTVL": 5, "TCP_KEEPCNT": 4, "TCP_USER_TIMEOUT": 30_000}
    options = [
        (socket.IPPROTO_TCP, socket.TCP_NODELAY, 1),
        (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1),
    ]
    for name, value in wanted.items():
        if hasattr(socket, name):
            options.append((socket.IPPROTO_TCP, getattr(socket, name), value))
    return options


def tls_context(ca_file: str | None, ca: SecretStr | None, *, insecure: bool) -> ssl.SSLContext:
    """Return the context that checks a server's certificate; SetupError if the CA is unreadable.

    `ca` is the CA's certificate as text; `insecure` accepts any certificate.
    """
    text = ca.get_secret_value() if ca else None
    try:
        context = ssl.create_default_context(cafile=ca_file, cadata=text)
    except (OSError, ValueError) as error:
        where = f"ca_file {ca_file}" if ca_file else "ca"
        reason = getattr(error, "strerror", None) or str(error)
        raise SetupError(f"{where}: expected a certificate in PEM: {reason}") from error
    if insecure:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context
