"""The report as one HTML page that loads nothing from other hosts."""

import json
import re
from decimal import Decimal
from html import escape
from itertools import groupby
from typing import Any

from bullion_conformance.run import Report
from bullion_conformance.verdict import Finding, Verdict

_NOTHING_ELSE = "default-src 'none'; style-src 'unsafe-inline'"
_STYLE = """
:root { color-scheme: light dark; --line: #8884; --good: #18794e; --bad: #cd2b31; --none: #8a6d1d; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.15rem; margin-top: 2rem; border-bottom: 1px solid var(--line); }
code, pre { font: 13px/1.45 ui-monospace, monospace; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; background: #8881; padding: .6rem; border-radius: 4px; }
summary { cursor: pointer; padding: .25rem 0; } details { border-bottom: 1px solid var(--line); }
.v { display: inline-block; min-width: 6.5rem; font-weight: 600; }
.passed { color: var(--good); } .failed, .error { color: var(--bad); } .not-checked { color: var(--none); }
.why { margin: .3rem 0; } dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; }
dd { margin: 0; } .note { color: #888; }
"""


def as_html(report: Report) -> str:
    wrong = [each for each in report.findings if each.verdict in (Verdict.FAILED, Verdict.ERROR)]
    sections = groupby(report.findings, key=lambda finding: finding.requirement.section)
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f'<meta http-equiv="Content-Security-Policy" content="{_NOTHING_ELSE}">',
        f"<title>Conformance of {escape(report.service)}</title><style>{_STYLE}</style></head><body>",
        "<h1>Conformance report</h1>",
        _summary(report),
    ]
    if wrong:
        parts.append("<h2>What is wrong</h2><ul>")
        parts += [
            f'<li><a href="#{escape(each.requirement.id)}"><code>{escape(each.requirement.id)}</code></a> '
            f"{_with_code(each.why)}</li>"
            for each in wrong
        ]
        parts.append("</ul>")
    for section, findings in sections:
        parts.append(f"<h2>{escape(section)}</h2>")
        parts += [_finding(each) for each in findings]
    return "\n".join([*parts, "</body></html>", ""])


def _summary(report: Report) -> str:
    rows = {
        "Service": report.service,
        "Profile": report.profile.value,
        "Setup": "; ".join(report.setup) or "none",
        "Begun": f"{report.started_at:%Y-%m-%d %H:%M:%S} UTC, {report.seconds:.0f} s, {report.calls} calls",
        **{verdict.value.capitalize(): str(report.count(verdict)) for verdict in Verdict},
    }
    return (
        "<dl>"
        + "".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in rows.items())
        + "</dl>"
    )


def _finding(finding: Finding) -> str:
    wrong = finding.verdict in (Verdict.FAILED, Verdict.ERROR)
    kind = finding.verdict.value.replace(" ", "-")
    id_, words = escape(finding.requirement.id), _with_code(finding.requirement.words)
    parts = [
        f'<details id="{id_}"{" open" if wrong else ""}>',
        f'<summary><span class="v {kind}">{finding.verdict.value}</span> {words}',
        f'<code class="note">{id_}</code></summary>',
    ]
    if finding.why:
        parts.append(f'<p class="why {kind}">{_with_code(finding.why)}</p>')
    if finding.desk_steps:
        parts.append(f"<p>At the desk:</p><pre>{escape(chr(10).join(finding.desk_steps))}</pre>")
    left_out, exchanges = finding.deciding()
    if left_out:
        parts.append(f'<p class="note">{left_out} earlier calls are left out.</p>')
    parts += [_exchange(each.shown()) for each in exchanges]
    return "\n".join([*parts, "</details>"])


def _with_code(text: str) -> str:
    """Show text in backticks as code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))


def _exchange(shown: dict[str, Any]) -> str:
    asked, answered = shown["request"], shown["answer"]
    request = [f"{asked['method']} {asked['target']}", *_headers(asked["headers"]), "", asked["body"]]
    answer = [f"{answered['status']}", *_headers(answered["headers"]), "", _pretty(answered["body"])]
    return "".join(f"<pre>{escape(chr(10).join(lines).strip())}</pre>" for lines in (request, answer))


def _headers(headers: dict[str, str]) -> list[str]:
    return [f"{name}: {value}" for name, value in headers.items()]


def _pretty(body: str) -> str:
    """Indent JSON; numbers stay as they were written."""
    try:
        return _laid_out(json.loads(body, parse_float=Decimal), "")
    except (ValueError, ArithmeticError, RecursionError):
        return body


def _laid_out(value: Any, indent: str) -> str:
    deeper = f"{indent}  "
    match value:
        case dict() if value:
            lines = [f"{deeper}{json.dumps(name)}: {_laid_out(each, deeper)}" for name, each in value.items()]
            return "{\n" + ",\n".join(lines) + f"\n{indent}}}"
        case list() if value:
            lines = [f"{deeper}{_laid_out(each, deeper)}" for each in value]
            return "[\n" + ",\n".join(lines) + f"\n{indent}]"
        case Decimal():
            return str(value)
        case _:
            return json.dumps(value, ensure_ascii=False)
