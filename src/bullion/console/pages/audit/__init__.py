"""The audit trail: who did what, what it was before and after, and whether the trail is whole."""

from bullion.console.page import Page

from . import checking, listing
from .addresses import PAGE_NAME

PAGE = Page(PAGE_NAME, "Audit", listing.render, live_s=3, actions=(checking.CHECK,))
