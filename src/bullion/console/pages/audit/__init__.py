"""The audit trail: who did what, what it was before and after, and whether the trail is whole."""

from bullion.console.page import Page

from . import audit_list, trail_check
from .addresses import PAGE_NAME

PAGE = Page(PAGE_NAME, "Audit", audit_list.render, live_s=3, actions=(trail_check.CHECK,))
