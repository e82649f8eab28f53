"""What the endpoints have in common, to be looked up: headers, schemas and refusals."""

from html import escape

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
from .shapes import fields, type_words


def header_section(headers: Json) -> str:
    rows = [
        (own_anchor(name, "header-" + name), type_words(header["schema"]), prose(header["description"]))
        for name, header in headers.items()
    ]
    return f"""<section id="headers">
<h2>Headers of answers</h2>
{table(("Header", "Type", "Meaning"), rows)}
</section>"""


def schema_section(schemas: Json) -> str:
    parts = "\n".join(_schema(name, schema) for name, schema in schemas.items())
    return f'<section id="schemas">\n<h2>Schemas</h2>\n{parts}\n</section>'


def _schema(name: str, schema: Json) -> str:
    anchor = slug("schema-" + name)
    rows = list(fields(schema))
    examples = "".join(figure("Example", json_code(example)) for example in schema.get("examples", ()))
    return f"""<article id="{anchor}">
<h3><a href="#{anchor}">{escape(name)}</a></h3>
<p>{prose(schema.get("description", ""))}</p>
{table(("Field", "Type", "Meaning"), rows) if rows else ""}{examples}
</article>"""


def refusal_section(description: Json) -> str:
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
    return f"""<section id="refusals">
<h2>Refusals</h2>
<p>The checks are made in the order of this table: when a call is at fault in more than one way, the row that
stands highest answers. A refusal leaves the <code>Idempotency-Key</code> of an order free to be sent again,
unless it is marked {badge("settles key")}. What is marked {badge("addition")} is not in the API's own
specification.</p>
{table(("Code", "Status", "When", "What to do"), rows)}
</section>"""
