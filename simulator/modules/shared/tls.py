"""What every connection over TCP has in common: who the server is, and when it is gone."""

import socket
import ssl

from pydantic import Field, SecretStr

from simulator.errors import SetupError

CONNECT_S = 10.0

# The options of a module that has TLS, which say what `tls_context` takes.
CA_FILE: str | None = Field(
    None,
    description="file with the certificate (PEM) of the authority that signed the server's, if the "
    "system does not trust it anyway",
)
CA: SecretStr | None = Field(
    None,
    description="that certificate itself, which pods can take from a Secret: "
    "ca_from: {secret: NAME, key: ca.crt}",
)
INSECURE: bool = Field(
    default=False, description="take any certificate: nobody checks who the server is"
)


def socket_options() -> list[tuple[int, int, int]]:
    """Return options for a socket, as far as the system at hand has them; Linux has all.

    A server that is gone without a word, with its node, is missed within 30 s by the system itself,
    so that an answer may still take an hour.
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
    """Return what checks a server's certificate, against a CA or the system's; SetupError if none.

    `ca` is the text of the CA's certificate; `insecure` takes any certificate.
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
