"""Options of the module `mysql`."""

from pydantic import Field, SecretStr

from simulator.modules.shared.sql.transactions import TransactionOptions


class MySqlOptions(TransactionOptions):
    """Options of the module `mysql`."""

    host: str = Field(description="where the server listens")
    port: int = Field(3306, ge=1, le=65535, description="its port")
    user: str = Field(description="the user")
    password: SecretStr | None = Field(None, description="the user's password")
    database: str = Field(description="the database of the tables; it must exist")
    engine: str = Field(
        "InnoDB",
        pattern="^[A-Za-z]+$",
        description="the tables' storage engine: InnoDB, MyISAM, Aria, ...; an engine without "
        "transactions keeps the rows of a batch that precede a refused row",
    )
    tls: bool = Field(
        default=False,
        description="encrypt, and check the server's certificate against the system's authorities",
    )
    ca_file: str | None = Field(
        None,
        description="encrypt, and check the server's certificate against the authority in this "
        "file (PEM)",
    )
    ca: SecretStr | None = Field(
        None,
        description="that certificate as text; pods can read it from a Secret: "
        "ca_from: {secret: NAME, key: ca.crt}",
    )
    insecure: bool = Field(
        default=False,
        description="encrypt, but accept any certificate, without a check of its host",
    )
    connect_timeout_s: float = Field(10, gt=0, description="how long to wait for a connection")

    @property
    def encrypted(self) -> bool:
        """True if the connection is encrypted."""
        return self.tls or self.insecure or bool(self.ca_file) or self.ca is not None
