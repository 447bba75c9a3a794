"""The catalogue of PostgreSQL: which names are in use, and by what."""

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
SELECT name, relkind::text, nullif(nspname::text, current_schema()::text)
FROM unnest(%s, %s) AS asked (name, quoted)
JOIN pg_class AS relation ON relation.oid = to_regclass(quoted)
JOIN pg_namespace AS space ON space.oid = relnamespace
"""
# A table is a type, too. The server renames the type of arrays that is in a table's way.
TYPES = """
SELECT name, typtype::text
FROM unnest(%s) AS name
JOIN pg_type AS type ON typname = name::name AND typrelid = 0
JOIN pg_namespace AS space ON space.oid = typnamespace AND nspname = current_schema()
WHERE NOT EXISTS (SELECT FROM pg_type AS element WHERE element.typarray = type.oid)
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
SELECT CASE dependent.relkind WHEN 'm' THEN 'materialized view ' ELSE 'view ' END
    || ev_class::regclass::text || ' on ' || refobjid::regclass::text
FROM pg_depend
JOIN pg_rewrite AS rule ON rule.oid = objid
JOIN pg_class AS dependent ON dependent.oid = ev_class
WHERE classid = 'pg_rewrite'::regclass AND refclassid = 'pg_class'::regclass
AND ev_class <> refobjid AND refobjid IN (SELECT to_regclass(name) FROM unnest(%s) AS name)
UNION SELECT 'foreign key of ' || conrelid::regclass::text || ' to ' || confrelid::regclass::text
FROM pg_constraint WHERE contype = 'f' AND conrelid <> confrelid
AND confrelid IN (SELECT to_regclass(name) FROM unnest(%s) AS name)
UNION SELECT
    'table ' || inhrelid::regclass::text || ', which inherits from ' || inhparent::regclass::text
FROM pg_inherits WHERE inhparent IN (SELECT to_regclass(name) FROM unnest(%s) AS name)
ORDER BY 1
"""
"""Lists objects on which DROP TABLE fails; takes the quoted names of tables three times."""

STORED_AS = """
WITH RECURSIVE held AS (
    SELECT oid FROM pg_class WHERE relname::text = ANY(%s) AND pg_table_is_visible(oid)
    UNION SELECT inhrelid FROM pg_inherits JOIN held ON inhparent = held.oid
)
SELECT relname::text, relkind::text, relpersistence::text FROM pg_class JOIN held USING (oid)
ORDER BY relname
"""
"""Lists tables of these names with their partitions and children: name, kind, persistence."""
