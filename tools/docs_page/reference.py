"""What the endpoints have in common, to be looked up: headers, schemas and refusals."""

from .pieces import (
    Json,
    badge,
    environment_badge,
    figure,
    json_code,
    own_anchor,
    prose,
    slug,
    status_mark,
    table,
)
from .sections import Article, Section
from .shapes import fields, type_words


def header_section(headers: Json) -> Section:
    rows = [
        (own_anchor(name, "header-" + name), type_words(header["schema"]), prose(header["description"]))
        for name, header in headers.items()
    ]
    return Section("headers", "Headers of answers", table(("Header", "Type", "Meaning"), rows))


def schema_section(schemas: Json) -> Section:
    return Section("schemas", "Schemas", articles=[_schema(name, schema) for name, schema in schemas.items()])


def _schema(name: str, schema: Json) -> Article:
    rows = list(fields(schema))
    examples = "".join(figure("Example", json_code(example)) for example in schema.get("examples", ()))
    body = f"""<p>{prose(schema.get("description", ""))}</p>
{table(("Field", "Type", "Meaning"), rows) if rows else ""}{examples}"""
    return Article(slug("schema-" + name), name, body)


def refusal_section(description: Json) -> Section:
    advice = description["x-retry-advice"]
    rows = [
        (
            own_anchor(row["code"], "refusal-" + row["code"])
            + environment_badge(row["environment"])
            + badge("settles key" if row["settles_key"] else "")
            + badge("" if row["specified"] else "addition"),
            status_mark(str(row["status"])),
            prose(row["when"]),
            prose(advice[row["retry"]]),
        )
        for row in description["x-refusals"]
    ]
    words = f"""<p>The checks are made in the order of this table: when a call is at fault in more than one
way, the row that stands highest answers. A refusal leaves the <code>Idempotency-Key</code> of an order free
to be sent again, unless it is marked {badge("settles key")}. What is marked {badge("addition")} is not in
the API's own specification.</p>"""
    told = table(("Code", "Status", "When", "What to do"), rows)
    return Section("refusals", "Refusals", f"{words}\n{told}")
