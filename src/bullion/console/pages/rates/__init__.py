"""Rates: what clients pay, by symbol and group, the margins to step, and a chart for each symbol."""

from bullion.console.page import Page
from bullion.console.paths import RATES

from .board_page import board_page
from .margin_step import STEP
from .rate_chart import chart_page

PAGE = Page(RATES, "Rates", {"": board_page, "/{symbol_code}": chart_page}, live_s=1, actions=(STEP,))
