"""What a write concern makes sure of.

https://www.mongodb.com/docs/manual/reference/write-concern/#acknowledgment-behavior
"""

from collections.abc import Mapping
from typing import Any

MAJORITY = "majority"
_FLAG = "writeConcernMajorityJournalDefault"


def durability(
    concern: Mapping[str, Any], hello: Mapping[str, Any], config: Mapping[str, Any]
) -> tuple[bool | None, str]:
    """Return whether an acknowledged row survives a power cut, and the reason in a sentence.

    `concern` is what the client asks for, `hello` and `config` (of replSetGetConfig) what the
    server tells; `config` is empty where the user may not ask.
    """
    w, j = concern["w"], concern.get("j")
    is_set = "setName" in hello or hello.get("msg") == "isdbgrid"
    whose = _members(w) if is_set else "the only server"
    told = f"w={w}" if j is None else f"w={w}, j={str(j).lower()}"
    if j is None and w == MAJORITY:
        # The flag belongs to a replica set; a server alone journals such a write.
        j = config.get(_FLAG) if is_set else True
        if j is None:
            return None, (
                f"an acknowledged row is in the memory of {whose}, and in their journals on disk "
                f"unless {_FLAG} is off, which this user or this server does not tell; set j=true "
                f"to be sure ({told})"
            )
        told += f", {_FLAG}={str(j).lower()}" if is_set else ""
    if j:
        return True, f"an acknowledged row is in the journal on disk of {whose} ({told})"
    return False, (
        f"an acknowledged row is in the memory of {whose}; the journal is synced up to 100 ms "
        f"later ({told})"
    )


def _members(w: int | str) -> str:
    if w == MAJORITY:
        return "a majority of the members"
    if w == 1:
        return "the primary"
    return f"{w} members" if isinstance(w, int) else f"the members that {w!r} names"
