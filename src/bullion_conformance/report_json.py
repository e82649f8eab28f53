"""The report for programs."""

import json
from typing import Any

from bullion_conformance.run import Report
from bullion_conformance.verdict import Verdict


def as_json(report: Report) -> str:
    return json.dumps(_whole(report), indent=2, ensure_ascii=False) + "\n"


def _whole(report: Report) -> dict[str, Any]:
    return {
        "service": report.service,
        "profile": report.profile.value,
        "means": report.setup,
        "started_at": report.started_at.isoformat(),
        "seconds": round(report.seconds, 1),
        "calls": report.calls,
        "answered_429_unasked": report.throttled,
        "counts": {verdict.value: report.count(verdict) for verdict in Verdict},
        "requirements": [
            {
                "id": finding.requirement.id,
                "section": finding.requirement.section,
                "profile": finding.requirement.profile.value,
                "words": finding.requirement.words,
                "verdict": finding.verdict.value,
                "why": finding.why,
                "seconds": round(finding.seconds, 2),
                "desk": finding.desk_steps,
                "exchanges_left_out": finding.deciding()[0],
                "exchanges": [exchange.shown() for exchange in finding.deciding()[1]],
            }
            for finding in report.findings
        ],
    }
