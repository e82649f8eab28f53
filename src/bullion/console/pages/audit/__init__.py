"""The audit trail: who did what, before and after, and whether the trail is intact."""

from bullion.console.page import Page
from bullion.console.paths import AUDIT

from . import audit_list, trail_check

PAGE = Page(AUDIT, "Audit", {"": audit_list.render}, live_s=3, actions=(trail_check.CHECK,))
