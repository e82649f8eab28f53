"""What the service is for, its conventions, authentication and versioning."""

from bullion_conformance.requirement import INSIDE, OF_CLIENTS, Row, rows

OVERVIEW = (
    *rows(
        "What the service does",
        Row(
            "overview.place-and-read",
            "A market order for a weight of one symbol can be placed and read back.",
        ),
        Row("overview.test.base-path", "The test environment answers under /api/trading/test/v1."),
        Row("overview.production.base-path", "The production environment answers under /api/trading/v1."),
        Row("overview.test.simulated", "An order of the test environment leaves no trace in production."),
        Row(
            "overview.test.on-request",
            "The desk opens the API for an account, and issues the test key that works.",
        ),
        Row(
            "overview.production.like-web",
            "Production orders are booked on the same way as those of the operator's web channel.",
            unchecked=INSIDE,
        ),
        Row(
            "overview.production.closed",
            "While production is closed, each of its orders is refused with 403 production_trading_disabled.",
        ),
        Row("overview.production.per-account", "The operator opens production for accounts one by one."),
        Row("overview.no-closing", "No call closes or cancels an order."),
        Row("overview.key-needed.test", "On the test path, every call without a key is answered 401."),
        Row(
            "overview.key-needed.production",
            "On the production path, every call without a key is answered 401.",
        ),
        Row(
            "overview.allocation", "Each account has a weight allocation for each metal, set by the operator."
        ),
        Row("overview.units", "Gold is measured in grams, silver in kilograms."),
    ),
    *rows(
        "Conventions",
        Row("conventions.json.answers", "Every answer of a call is JSON, and is labelled so."),
        Row("conventions.json.requests", "An order's body is JSON; anything else is refused."),
        Row("conventions.numbers-in", "Quantity and expected price are sent as JSON numbers."),
        Row(
            "conventions.strings-out",
            "Every amount and weight in an answer is a string that holds a plain decimal.",
        ),
        Row("conventions.weights", "A quantity is a weight in the symbol's unit, not a number of lots."),
        Row("conventions.times", "Times in answers are ISO 8601 and carry their offset from UTC."),
        Row("conventions.since-utc", "A `since` without a zone is taken as UTC."),
        Row("conventions.rupees", "Amounts are rupees.", unchecked="an answer does not name its currency"),
        Row(
            "conventions.refusals",
            "Every refusal has a `detail` with a `code` and a `message`, both strings.",
        ),
    ),
    *rows(
        "Authentication",
        Row("auth.only-scheme", "A key counts in the header X-API-Key, and nowhere else."),
        Row("auth.prefixes", "Test keys begin with key_test. and live keys with key_live."),
        Row("auth.test-key-on-production", "A test key on the production path is 401 wrong_environment."),
        Row("auth.live-key-on-test", "A live key on the test path is 401 wrong_environment."),
        Row("auth.other-broker", "A key of another broker is 401 wrong_tenant."),
        Row(
            "auth.scopes",
            "A key carries some of three scopes, and a call beyond them is 403 insufficient_scope.",
        ),
        Row("auth.api-access-off", "With API access off, the account's calls are 403 api_access_disabled."),
        Row("auth.inactive", "The calls of an account that is not active are 403 account_inactive."),
        Row("auth.revoked", "A revoked key is 401 credential_revoked."),
        Row("auth.overlap", "While a rotation's overlap lasts, the old key and the new one both work."),
        Row(
            "auth.rotated", "After the overlap the old key is 401 credential_rotated, and the new one works."
        ),
        Row("auth.expired", "A key past its expiry is 401 credential_expired."),
        Row(
            "auth.throttled",
            "After too many failed authentications even a valid key is 429 auth_throttled from that address.",
        ),
        Row(
            "auth.secret", "Clients may tell the operator a key's id, never its secret.", unchecked=OF_CLIENTS
        ),
    ),
    *rows(
        "Events",
        Row("events.by-reading", "Clients learn of changes by reading the order.", unchecked=OF_CLIENTS),
    ),
    *rows(
        "Versioning",
        Row("versioning.path", "The version is part of both base paths."),
        Row(
            "versioning.number",
            "The description of the interface has the version number 1.0.0.",
            unchecked="the specification does not say where a service keeps its description",
        ),
    ),
)
