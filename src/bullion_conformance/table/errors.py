"""Each code of the table of refusals, in each environment that has it; and the budgets."""

from bullion_conformance.codes import CODES, Code
from bullion_conformance.requirement import OF_CLIENTS, Row, rows


def _row(environment: str, code: Code) -> Row:
    words = f"{code.status} {code.name} on the {environment} path: {code.when}."
    return Row(f"errors.{environment}.{code.name}", words, code.unchecked)


ERRORS = (
    *rows("Errors: the test path", *(_row("test", code) for code in CODES if code.in_test)),
    *rows(
        "Errors: the production path",
        *(_row("production", code) for code in CODES),
        Row(
            "errors.reason.deploy",
            "The reason is `deploy` while the whole deployment is closed for production.",
        ),
        Row(
            "errors.reason.global",
            "The reason is `global` while the operator has production off for everybody.",
        ),
        Row("errors.reason.account", "The reason is `account` while production is off for the account."),
    ),
    *rows(
        "Errors: in general",
        Row("errors.retry-after", "Where the table promises Retry-After it is there, in whole seconds."),
        Row(
            "errors.statuses", "A code of the table is answered with the table's status, wherever it is met."
        ),
        Row("errors.unlisted", "What to do with a code that is not listed.", unchecked=OF_CLIENTS),
        Row(
            "errors.retry-same-key",
            "After a refusal that says so, the same key is judged anew and can succeed.",
        ),
        Row("errors.price-moved-new-key", "After price_moved a new key places the order."),
        Row("errors.wrong-path", "A path that does not exist is 404, without a code."),
    ),
    *rows(
        "Limits",
        Row("limits.reads", "The default budget takes 300 reads a minute from a key, and refuses the next."),
        Row("limits.orders.ten-seconds", "The default budget takes 10 orders in 10 seconds from a key."),
        Row("limits.orders.minute", "The default budget takes 60 orders a minute from a key."),
        Row(
            "limits.orders.account",
            "In production, 60 orders a minute from all keys of the account together.",
        ),
        Row("limits.failed-auth", "The default throttle lets 20 failed authentications a minute pass."),
        Row("limits.retry", "After Retry-After an order goes through with the same Idempotency-Key."),
        Row("limits.polling", "Clients poll every one or two seconds, for some 30.", unchecked=OF_CLIENTS),
    ),
)
