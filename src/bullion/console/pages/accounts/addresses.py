"""Where accounts and what is about them are found."""

from urllib.parse import quote, urlencode

PAGE_NAME = "accounts"


def list_path(**chosen: str) -> str:
    query = urlencode({name: value for name, value in chosen.items() if value})
    return f"/{PAGE_NAME}?{query}" if query else f"/{PAGE_NAME}"


def account_path(login_id: str) -> str:
    return f"/{PAGE_NAME}/{quote(login_id, safe='')}"
