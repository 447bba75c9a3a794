"""The options of a target."""

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any, ClassVar, Self, get_args

from pydantic import (
    ConfigDict,
    PrivateAttr,
    SecretStr,
    ValidationInfo,
    create_model,
    field_validator,
)

from simulator.frozen import Frozen
from simulator.redaction import HIDDEN, Redactor, hide_urls

_LARGEST = 2**63 - 1
_LONGEST_S = 366 * 86_400
_ADDRESSES = ("host", "hosts", "uri", "url")
"""Last words of the names of options that are addresses, but are not credentials."""
_USERS = ("user", "username")


class _OfPods(SecretStr):
    """A credential that only pods can read; this process does not know its text."""

    def __bool__(self) -> bool:
        return True


class Options(Frozen):
    """A target's options: the keys of its entry in config.yaml and of --extra-option.

    Every field has a description, which the documentation shows. Credentials are SecretStr and
    are sent only to the database.
    """

    model_config = ConfigDict(allow_inf_nan=False, hide_input_in_errors=True)

    @field_validator("*")
    @classmethod
    def _bound(cls, value: Any, info: ValidationInfo) -> Any:
        """Refuse numbers that drivers or operating systems cannot represent."""
        name = info.field_name or ""
        if isinstance(value, int | float) and not isinstance(value, bool):
            least, most = -_LARGEST, _LARGEST
            if name == "port" or name.endswith("_port"):
                least, most = 1, 65535
            if name.endswith("_s"):
                least, most = 0, _LONGEST_S
            if not least <= value <= most:
                raise ValueError(f"expected {least:,} to {most:,}, got {value:,}")
        return value

    @field_validator("*")
    @classmethod
    def _without_login(cls, value: Any, info: ValidationInfo) -> Any:
        """Refuse `user:password@` in an address, because addresses are printed and stored."""
        kind = (info.field_name or "").rpartition("_")[2]
        if kind in _ADDRESSES and isinstance(value, str) and "@" in value:
            raise ValueError(
                "expected an address without '@'; credentials are options of their own"
            )
        return value

    _rotated: frozenset[str] = PrivateAttr(frozenset())
    """Texts of replaced credentials, which are still redacted."""

    columns: ClassVar[tuple[str, ...]] = ()
    """Options that name columns of the workload, which other tables do not have."""

    @property
    def sends_by(self) -> str:
        """The insert mode in which the vendor's driver sends rows; empty: this program does."""
        return ""

    @classmethod
    def credentials(cls) -> list[str]:
        """Return the names of the options that are credentials."""
        fields = cls.model_fields.items()
        return [name for name, field in fields
                if SecretStr in (field.annotation, *get_args(field.annotation))]  # fmt: skip

    driver_finds: ClassVar[tuple[str, ...]] = ()
    """Variables and files in which the driver finds the user's password by itself."""

    @classmethod
    def without(cls, names: Iterable[str]) -> "type[Self]":
        """Return the options without the credentials that only pods know."""
        unknown = {name: (SecretStr, _OfPods("")) for name in names}
        return create_model(cls.__name__, __base__=cls, **unknown) if unknown else cls  # type: ignore[call-overload]

    def public(self) -> dict[str, Any]:
        """Return the options as they may be printed and stored, with credentials hidden.

        A user without a password is hidden, too: it may be a password typed in the wrong place.
        """
        shown: dict[str, Any] = {}
        for name in type(self).model_fields:
            value = getattr(self, name)
            is_lone = name in _USERS and value and not self.secrets()
            value = hide_urls(value) if isinstance(value, str) else value
            shown[name] = HIDDEN if is_lone or isinstance(value, SecretStr) else value
        return shown

    def secrets(self) -> dict[str, str]:
        """Return the credentials in clear text, by option name."""
        values = {name: getattr(self, name) for name in type(self).model_fields}
        return {n: v.get_secret_value() for n, v in values.items() if isinstance(v, SecretStr)}

    def list_hidden(self) -> set[str]:
        """Return the texts to redact: the credentials, and passwords within them."""
        return set(self.secrets().values())

    def renew(self, credentials: Mapping[str, str]) -> Self:
        """Return the options with other credentials; ValidationError if they are invalid."""
        fields = {name: getattr(self, name) for name in type(self).model_fields}
        found = type(self).model_validate({**fields, **credentials})
        found._rotated = self._rotated | self.list_hidden()  # noqa: SLF001 - of its own class
        return found

    def redact(self, text: str) -> str:
        """Return a text with every form of each credential in it redacted."""
        return self._redactor(text)

    def redact_command(self, command: str) -> str:
        """Return a user's command without credentials, its URLs without logins and queries."""
        return hide_urls(self.redact(command))

    @cached_property
    def _redactor(self) -> Redactor:
        return Redactor(self.list_hidden() | self._rotated)
