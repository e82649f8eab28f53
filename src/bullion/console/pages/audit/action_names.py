"""What the actions of the desk are called by people."""

ACTIONS = {
    "archive_orders": "archived orders",
    "archive_traces": "archived decisions",
    "archived_orders": "finished archiving orders",
    "close_order": "began to close an order",
    "complete_order": "closed an order",
    "confirm_order": "confirmed an order",
    "create_account": "made an account",
    "create_token": "made a desk token",
    "delete_order": "deleted an order",
    "delete_token": "deleted a desk token",
    "issue_key": "issued a key",
    "patch_account": "changed an account",
    "patch_hedge": "changed the venue",
    "patch_switches": "turned switches",
    "patch_symbol": "changed a symbol",
    "place_order": "placed an order",
    "put_broker": "changed the broker",
    "put_duty": "put a duty",
    "put_group": "put a group",
    "put_rate": "put a rate",
    "put_symbol": "put a symbol",
    "refuse_order": "refused an order",
    "reset_test_book": "reset a test book",
    "resolve_break": "resolved a contradiction",
    "revoke_key": "revoked a key",
    "rotate_key": "rotated a key",
}


def called(action: str) -> str:
    return ACTIONS.get(action, action.replace("_", " "))
