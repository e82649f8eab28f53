"""Calls about clients: their accounts, their test books and their keys."""

from bullion.desk import bodies, conversion
from bullion.desk.actions import accounts, book_reset, keys
from bullion.desk_api.request import Request, Resources, listed
from bullion.web.answer import Answer, json_answer


async def _get_accounts(request: Request) -> Answer:
    return listed(await accounts.list_accounts(request.desk, request.actor, request.page()))


async def _post_account(request: Request) -> Answer:
    body = conversion.read(request.body, bodies.NewAccountBody)
    return json_answer(await accounts.create_account(request.desk, request.actor, body), 201)


async def _get_account(request: Request) -> Answer:
    return json_answer(await accounts.get_account(request.desk, request.actor, request.path["login_id"]))


async def _patch_account(request: Request) -> Answer:
    login_id = request.path["login_id"]
    return json_answer(
        await accounts.patch_account(
            request.desk,
            request.actor,
            login_id,
            conversion.Changes(bodies.AccountBody, conversion.read_json(request.body)),
        )
    )


async def _reset_test_book(request: Request) -> Answer:
    conversion.read(request.body or b"{}", bodies.Body)
    login_id = request.path["login_id"]
    return json_answer(await book_reset.reset_test_book(request.desk, request.actor, login_id))


async def _get_keys(request: Request) -> Answer:
    login_id = request.path["login_id"]
    return listed(await keys.list_keys(request.desk, request.actor, login_id, request.page()))


async def _post_key(request: Request) -> Answer:
    body = conversion.read(request.body, bodies.KeyBody)
    issued = await keys.issue_key(request.desk, request.actor, request.path["login_id"], body)
    return json_answer(issued, 201)


async def _rotate_key(request: Request) -> Answer:
    body = conversion.read(request.body or b"{}", bodies.RotateBody)
    issued = await keys.rotate_key(request.desk, request.actor, request.path["key_id"], body)
    return json_answer(issued, 201)


async def _revoke_key(request: Request) -> Answer:
    conversion.read(request.body or b"{}", bodies.Body)
    return json_answer(await keys.revoke_key(request.desk, request.actor, request.path["key_id"]))


RESOURCES: Resources = {
    "/accounts": {"GET": _get_accounts, "POST": _post_account},
    "/accounts/{login_id}": {"GET": _get_account, "PATCH": _patch_account},
    "/accounts/{login_id}/test-book/reset": {"POST": _reset_test_book},
    "/accounts/{login_id}/keys": {"GET": _get_keys, "POST": _post_key},
    "/keys/{key_id}/rotate": {"POST": _rotate_key},
    "/keys/{key_id}/revoke": {"POST": _revoke_key},
}
