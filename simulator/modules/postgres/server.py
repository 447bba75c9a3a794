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
