"""The catalogue of PostgreSQL, and the durability that its settings imply."""

KINDS = {
    "f": "foreign table",
    "c": "composite type",
    "i": "index",
    "I": "index",
    "m": "materialized view",
    "p": "table",
    "r": "table",
    "v": "view",
    "S": "sequence",
    "type b": "type",
    "type d": "domain",
    "type e": "enum type",
    "type m": "multirange type",
    "type p": "type",
    "type r": "range type",
}
RELATIONS = """
SELECT relname::text, relkind::text, nullif(nspname::text, current_schema()::text)
FROM pg_class AS relation JOIN pg_namespace AS space ON space.oid = relnamespace
WHERE relname::text = ANY(%s) AND pg_table_is_visible(relation.oid)
"""
# A table also makes a type of its name. The server renames conflicting types of arrays.
TYPES = """
SELECT name, typtype::text
FROM unnest(%s) AS name
JOIN pg_type AS type ON typname = name::name AND typrelid = 0
JOIN pg_namespace AS space ON space.oid = typnamespace AND nspname = current_schema()
WHERE NOT EXISTS (SELECT 1 FROM pg_type AS element WHERE element.typarray = type.oid)
"""
NAMESAKES_OF_INDICES = (
    "SELECT relation.relname::text, CASE relation.relkind "
    "WHEN 'i' THEN 'index' WHEN 'v' THEN 'view' "
    "WHEN 'S' THEN 'sequence' WHEN 'm' THEN 'materialized view' WHEN 'c' THEN 'composite type' "
    "ELSE 'table' END, indexed.relname::text FROM pg_class AS relation "
    "JOIN pg_namespace AS space ON space.oid = relation.relnamespace "
    "AND nspname = current_schema() LEFT JOIN pg_index ON indexrelid = relation.oid "
    "LEFT JOIN pg_class AS indexed ON indexed.oid = indrelid"
)
ATTACHED = """
WITH RECURSIVE ours (class, id) AS (
    SELECT 'pg_class'::regclass::oid, to_regclass(quote_ident(name))::oid
    FROM unnest(ARRAY[{names}]) AS name
    UNION SELECT classid, objid FROM pg_depend JOIN ours ON refclassid = class AND refobjid = id
    WHERE deptype IN ('a', 'i')
), theirs AS (
    SELECT classid, objid, objsubid FROM pg_depend JOIN ours ON refclassid = class AND refobjid = id
    WHERE deptype = 'n' AND (classid, objid) NOT IN (SELECT class, id FROM ours)
    UNION SELECT 'pg_class'::regclass, inhrelid, 0
    FROM pg_inherits JOIN ours ON class = 'pg_class'::regclass AND inhparent = id
    JOIN pg_class ON pg_class.oid = inhrelid AND relkind IN ('r', 'p', 'f')
    UNION SELECT class, id, 0 FROM ours JOIN pg_depend AS of ON of.classid = class AND of.objid = id
    JOIN pg_class ON pg_class.oid = id AND relkind = 'S'
    WHERE class = 'pg_class'::regclass AND of.deptype = 'a' AND NOT EXISTS (
        SELECT FROM pg_depend AS by WHERE by.refclassid = class AND by.refobjid = id
        AND by.deptype = 'n' AND (by.classid, by.objid) IN (SELECT class, id FROM ours)
    )
)
SELECT DISTINCT replace(pg_describe_object(classid, objid, objsubid), 'rule _RETURN on ', '')
FROM theirs ORDER BY 1
"""
"""Lists a user's objects that make DROP TABLE fail, or are dropped with the tables.

`ours` are the parts of the tables. DROP TABLE also drops partitions and sequences of columns.
"""

STORED_AS = """
WITH RECURSIVE held AS (
    SELECT oid FROM pg_class WHERE relname::text = ANY(%s) AND pg_table_is_visible(oid)
    UNION SELECT inhrelid FROM pg_inherits JOIN held ON inhparent = held.oid
)
SELECT relname::text, relkind::text, relpersistence::text FROM pg_class JOIN held USING (oid)
ORDER BY relname
"""
"""Lists tables with their partitions and children: name, kind, persistence."""


def is_synchronous(settings: dict[str, str]) -> bool:
    """Return whether commits wait for standbys."""
    waits = settings.get("synchronous_commit") not in ("off", "local")
    return bool(settings.get("synchronous_standby_names")) and waits


def durability(settings: dict[str, str]) -> tuple[bool, str]:
    """Return whether an acknowledged row survives a power cut, and the reason in a sentence."""
    shown = ("fsync", "synchronous_commit", "full_page_writes", "wal_sync_method")
    found = ", ".join(f"{name}={settings[name]}" for name in shown if name in settings)
    commit = settings.get("synchronous_commit")
    if settings.get("fsync") == "off":
        meaning = "survives a crash of the server, but not of the machine: nothing is synced"
        return False, f"an acknowledged row {meaning} ({found})"
    if commit == "off":
        return False, f"an acknowledged row may be lost in a crash: it is synced later ({found})"
    with_standbys = "on disk here and with the synchronous standbys"
    where = with_standbys if is_synchronous(settings) else "on disk"
    return True, f"an acknowledged row is in the write-ahead log {where} ({found})"
