"""The fields of everything that is answered, and the codes of a refusal's body."""

from bullion_conformance.requirement import OF_CLIENTS, Row, rows

RESOURCES = (
    *rows(
        "Order",
        Row("order.id", "`id` is a UUID in a string."),
        Row("order.environment", "`environment` names the environment."),
        Row("order.symbol_code", "`symbol_code` is the symbol as it was sent."),
        Row("order.trade_type", "`trade_type` is the side as it was sent."),
        Row("order.quantity", "`quantity` is the weight that was sent, as a decimal string."),
        Row("order.unit", "`unit` is g or kg, by the symbol's metal."),
        Row("order.price", "`price` is null or a decimal string with two decimals."),
        Row(
            "order.price.quoted", "`price` is the rate for the symbol's quoted weight, such as 10 g of gold."
        ),
        Row("order.total", "`total` is null or a decimal string."),
        Row("order.total.value", "`total` is what the weight comes to at that price."),
        Row("order.status", "`status` is one of the environment's statuses."),
        Row("order.client_order_id", "`client_order_id` is the caller's reference, as it was sent."),
        Row("order.client_order_id.none", "`client_order_id` is null when none was sent."),
        Row("order.created_at", "`created_at` is null or an ISO 8601 time with its offset."),
    ),
    *rows(
        "Test order",
        Row("test-order.deal_label", "`deal_label` is T- and a number."),
        Row("test-order.no-deal-number", "A test order has no deal number."),
        Row("test-order.status", "A test order is `filled`, whenever it is read."),
        Row("test-order.environment", "Its `environment` is test."),
    ),
    *rows(
        "Production order",
        Row(
            "production-order.required",
            "What has to be there is: id, symbol, side, quantity, unit and both statuses.",
        ),
        Row("production-order.id", "`id` is a UUID in a string."),
        Row("production-order.environment", "`environment` is production."),
        Row("production-order.symbol_code", "`symbol_code` is the symbol as it was sent."),
        Row("production-order.trade_type", "`trade_type` is the side as it was sent."),
        Row("production-order.quantity", "`quantity` is the weight that was sent, as a decimal string."),
        Row("production-order.unit", "`unit` is g or kg, by the symbol's metal."),
        Row("production-order.price", "`price` is null or a decimal string with two decimals."),
        Row("production-order.total", "`total` is null or a decimal string."),
        Row("production-order.status", "`status` is one of production's six."),
        Row(
            "production-order.client_order_id", "`client_order_id` is the caller's reference, as it was sent."
        ),
        Row("production-order.created_at", "`created_at` is null or an ISO 8601 time with its offset."),
        Row("production-order.deal_no", "`deal_no` is a whole number or null."),
        Row("production-order.status_detail", "`status_detail` is a string, and is there in every state."),
        Row("production-order.source.api", "`source` of an order placed through this API is api."),
        Row("production-order.source.other", "`source` of an order from elsewhere names its channel."),
        Row(
            "production-order.close-nulls",
            "The three fields of a closing are null until the order is closed.",
        ),
        Row(
            "production-order.branch-on-status",
            "Clients go by `status`, not its detail.",
            unchecked=OF_CLIENTS,
        ),
    ),
    *rows(
        "Order list",
        Row("list.items", "`items` is an array of orders."),
        Row("list.newest-first", "The newest order stands first."),
        Row("list.total", "`total` is a whole number: how many orders match, whatever the page holds."),
    ),
    *rows(
        "Account",
        Row("account.login_id", "`login_id` is a string."),
        Row("account.firm_name", "`firm_name` is a string or null."),
        Row("account.environment.test", "`environment` is test for a test key."),
        Row("account.environment.production", "`environment` is production for a live key."),
        Row("account.key_id", "`key_id` is a string that is safe to quote: it is not the key."),
        Row("account.key_name", "`key_name` is a string."),
        Row("account.scopes", "`scopes` is an array of scopes."),
        Row("account.as-issued", "Login, firm, key id, key name and scopes are those that the desk gave."),
        Row("account.available", "`production_trading_available` is true or false."),
        Row("account.available.same", "`production_trading_available` is the same on both paths."),
        Row("account.available.open", "It is true when every production switch is on for the account."),
        Row(
            "account.available.closed-for-all",
            "It is false while the operator's switch for everybody is off.",
        ),
        Row("account.available.closed-for-one", "It is false while production is off for the account."),
        Row(
            "account.available.no-access",
            "It is false while API access is off for the account.",
            unchecked="with API access off, no call is answered that could tell it",
        ),
        Row(
            "account.available.hint",
            "It is a hint: every order is judged anew.",
            unchecked="that orders are judged is checked with each refusal of theirs",
        ),
    ),
    *rows(
        "Positions",
        Row("positions.metals", "There is an entry for gold and one for silver."),
        Row("positions.net", "`net` rises with buys and falls with sells, by their weight."),
        Row("positions.limit", "`limit` is the allocation that the operator set."),
        Row("positions.used", "`used` is `net` without its sign."),
        Row("positions.free", "`free` is what `limit` leaves beyond `used`."),
        Row("positions.free.never-negative", "`free` is 0, not less, when `used` is beyond `limit`."),
        Row("positions.unit", "`unit` is g for gold and kg for silver."),
        Row("positions.test.only-metals", "On the test path there is nothing besides the two metals."),
        Row(
            "positions.symbols",
            "Production adds `symbols`, with a row for each symbol that has an open position.",
        ),
        Row("positions.symbols.fields", "A row has symbol, metal, unit, and bought, sold and net weight."),
        Row("positions.symbols.net", "A row's net is what was bought less what was sold."),
    ),
    *rows(
        "Error body",
        Row("error.code", "`detail.code` is a string to branch on."),
        Row("error.message", "`detail.message` is text for people."),
        Row(
            "error.reason",
            "`detail.reason` is deploy, global or account, on production_trading_disabled alone.",
        ),
        Row("error.order", "`detail.order_id` and the rejected `detail.order` are on order_rejected alone."),
        Row("error.errors", "`detail.errors` lists the problems, on invalid_request alone."),
        Row(
            "error.limit-message",
            "The message of limit_exceeded names the metal, the free weight and the limit with their unit.",
        ),
    ),
)
