"""What people call the actions of the desk."""

ACTIONS = {
    "archive_orders": "archived orders",
    "archive_traces": "archived decisions",
    "archived_orders": "finished archiving orders",
    "close_order": "started to close an order",
    "complete_order": "closed an order",
    "confirm_order": "confirmed an order",
    "create_account": "created an account",
    "create_token": "created a desk token",
    "delete_order": "deleted an order",
    "delete_token": "deleted a desk token",
    "issue_key": "issued a key",
    "patch_account": "changed an account",
    "patch_hedge": "changed the venue",
    "patch_switches": "changed switches",
    "patch_symbol": "changed a symbol",
    "place_order": "placed an order",
    "put_broker": "changed the broker",
    "put_duty": "set a duty",
    "put_group": "set a group",
    "put_rate": "set a rate",
    "put_symbol": "set a symbol",
    "refuse_order": "refused an order",
    "reset_test_book": "reset a test book",
    "resolve_break": "settled a break",
    "revoke_key": "revoked a key",
    "rotate_key": "rotated a key",
}


def action_name(action: str) -> str:
    return ACTIONS.get(action, action.replace("_", " "))
