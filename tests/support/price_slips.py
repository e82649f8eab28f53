"""A broker whose prices can slip, and the slips of its dealers in the console."""

from datetime import UTC, datetime, timedelta

from .console import ConsoleProcess
from .console_client import console_client
from .desk import SYMBOL, Office, nothing_changed

RATE = {"bid": "150463", "ask": "150480.50"}
SILVER = {"bid": "180000", "ask": "180100"}
TERMS = {"buy_premium": "60.50", "sell_premium": "-463"}
STAFF = {"buy_premium": "-500", "sell_premium": "-600"}
LANDED = {
    "kind": "landed",
    "spot": "XAUUSD",
    "currency": "USDINR",
    "premium_usd": "1",
    "interbank": "0.01",
    "conversion": "0.3215",
    "duty": "customs",
    "margin": "0",
}
FIXED = {"kind": "fixed", "buy": "151000", "sell": "150000"}
NEVER_STALE = SYMBOL | {"rate_age_s_max": None, "freeze_after_s": None}


def india(days: int = 0) -> str:
    return (datetime.now(UTC) + timedelta(hours=5, minutes=30, days=days)).date().isoformat()


def set_up(office: Office) -> None:
    """A gold symbol on a rate, one at a fixed price, one landed, and a client with both premiums."""
    desk = office.desk
    for instrument, rate in {
        "GOLD": RATE,
        "SILVER": SILVER,
        "XAUUSD": {"bid": "4800", "ask": "4801"},
        "USDINR": {"bid": "92", "ask": "92.01"},
    }.items():
        desk.do("PUT", f"/rates/{instrument}", rate)
    desk.do("PUT", "/duties/customs", [{"from": india(-9), "rupees": "8350"}])
    desk.do("PUT", "/symbols/GOLD", NEVER_STALE)
    desk.do("PUT", "/symbols/COIN", NEVER_STALE | {"pricing": FIXED})
    desk.do("PUT", "/symbols/GOLDLANDED", NEVER_STALE | {"pricing": LANDED})
    desk.do("PUT", "/groups/retail", {"default_terms": TERMS})
    desk.do("PUT", "/groups/staff", {"terms": {"COIN": STAFF}})
    desk.account("aurum")


CONSOLE_SLIPS: dict[str, tuple[str, dict[str, str], str]] = {
    "a duty with a digit too many": (
        f"market/change-duty?name=customs&from={india(-9)}",
        {"rupees": "83,500"},
        "75150.00",
    ),
    "a margin with a minus": (
        "market/edit-terms?group=retail",
        {"sell_premium": "-463"},
        "463.00",
    ),
    "fixed prices the wrong way round": (
        "market/edit-symbol?code=COIN",
        {"buy": "1,46,000", "sell": "1,51,000"},
        "5000.00",
    ),
    "silver on gold": ("market/edit-symbol?code=GOLD", {"instrument": "SILVER"}, "29537.00"),
    "the price of 10 g for 1 g": ("market/edit-symbol?code=GOLD", {"quoted_weight": "1"}, "135000.00"),
    "a tolerance of 50 percent": ("market/tolerance", {"price_tolerance_percent": "50"}, "75500.00"),
    "a limit of moves of 50 percent": (
        "market/price-guard",
        {"price_move_percent_max": "50"},
        "75500.00",
    ),
    "an account in the wrong group": ("accounts/edit?login=aurum", {"group": "staff"}, "500.00"),
    "a rate with a digit too few": (
        "market/set-rate?instrument=GOLD",
        {"bid": "15046.30", "ask": "15048.05"},
        "135432.45",
    ),
}
"""Each with its form, what is typed, and the loss that the console names."""


def check_console_slips(console: ConsoleProcess, office: Office) -> None:
    """Every slip asks, names the loss, does nothing without it, and is done with it."""
    set_up(office)
    with console_client(console, office) as at:
        with nothing_changed(office.desk):
            for name, (action, typed, loss) in CONSOLE_SLIPS.items():
                form = {**at.ask(action), **typed}
                question = at.send(action, form).json()["ask_again"]
                again = {**form, **at.fields(question)}
                assert again["loss"] == loss, name
                for wrong in ("", "1", f"1{loss}"):
                    refused = at.send(action, {**again, "typed_loss": wrong})
                    assert refused.status_code == 422, name
                    assert "typed_loss" in refused.json()["fields"], name
        done = at.send(action, {**again, "typed_loss": loss})
        assert "15,046.30" in done.json()["done"]
        number = office.desk.do("GET", "/audit?limit=1")["items"][0]["ordinal"]
        assert f"/actions/market/undo?number={number}" in at.see("market/rates")
        assert at.send(f"market/undo?number={number}", {}).json()["done"].startswith("Taken back")
        assert f"undo?number={number}" not in at.see("market/rates")
        gold = {each["instrument"]: each["bid"] for each in office.desk.all("/rates")}["GOLD"]
        assert gold == "150463.000000"
