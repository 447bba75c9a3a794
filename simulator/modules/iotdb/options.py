"""Options of the module `iotdb`."""

from pydantic import Field, SecretStr, field_validator

from simulator.modules.shared.client.driver import DriverOptions
from simulator.modules.shared.http.tls import CA, CA_FILE, INSECURE


class IotDbOptions(DriverOptions):
    """Options of the module `iotdb`."""

    host: str = Field(description="address of a DataNode")
    port: int = Field(6667, ge=1, le=65535, description="its port for clients (dn_rpc_port)")
    username: str = Field("root", description="the user")
    password: SecretStr = Field(
        SecretStr("root"), description="the user's password; default: that of a new server"
    )
    database: str = Field(
        "benchmark", min_length=1, description="the database; created if it does not exist"
    )
    tls: bool = Field(default=False, description="use TLS")
    ca_file: str | None = CA_FILE
    ca: SecretStr | None = CA
    insecure: bool = INSECURE
    timeout_s: float = Field(30, gt=0, description="timeout for an acknowledgement")
    query_timeout_s: float = Field(3600, gt=0, description="timeout for the answer to a query")
    fetch_rows: int = Field(
        10_000, ge=1, le=1_000_000, description="rows of an answer that are fetched at once"
    )

    @field_validator("host")
    @classmethod
    def _host(cls, host: str) -> str:
        if not host or "/" in host:
            raise ValueError("expected a host name or address; the port is an option of its own")
        return host
