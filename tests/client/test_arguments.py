"""What a client is made with: the address and the key, and that the key is never shown."""

import traceback

import pytest

from bullion_client import AsyncClient, Client, Environment
from bullion_client.transport import Access
from tests.client.calls import LIVE_KEY, SECRET, TEST_KEY

ADDRESS = "https://trading.example"

Kind = type[Client | AsyncClient]


@pytest.mark.parametrize(
    ("key", "environment"), [(TEST_KEY, Environment.TEST), (LIVE_KEY, Environment.PRODUCTION)]
)
def test_the_environment_follows_from_the_key(kind: Kind, key: str, environment: Environment) -> None:
    assert kind(ADDRESS, key).environment is environment


def test_repr_tells_the_address_and_not_the_key(kind: Kind) -> None:
    client = kind(f"{ADDRESS}/broker/", TEST_KEY)
    assert repr(client) == f"<{kind.__name__} for test at {ADDRESS}/broker/api/trading/test/v1>"


def test_no_attribute_shows_the_key(kind: Kind) -> None:
    client = kind(ADDRESS, TEST_KEY)
    assert "_access" in vars(client)
    assert SECRET not in repr(vars(client))
    access = Access.of(ADDRESS, TEST_KEY)
    assert access.api_key == TEST_KEY
    assert SECRET not in repr(access)


@pytest.mark.parametrize(
    "key",
    [
        "",
        SECRET,
        f"key_prod.demo.k7.{SECRET}",
        f"KEY_TEST.demo.k7.{SECRET}",
        f" {TEST_KEY}",
        f"Bearer {TEST_KEY}",
    ],
)
def test_a_key_with_another_prefix(kind: Kind, key: str) -> None:
    with pytest.raises(ValueError, match=r"must start with 'key_test\.' .* or 'key_live\.'") as caught:
        kind(ADDRESS, key)
    assert SECRET not in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize("end", ["\n", "\r\n", " ", "\t", "\0", "é", "\N{ZERO WIDTH SPACE}", " key"])
def test_a_key_that_no_header_can_carry(kind: Kind, end: str) -> None:
    with pytest.raises(ValueError, match="character that no key has") as caught:
        kind(ADDRESS, TEST_KEY + end)
    assert SECRET not in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize(
    "address", ["", "trading.example", "ftp://trading.example", "https://", "https://a:b:c", "/api", TEST_KEY]
)
def test_an_address_that_is_none(kind: Kind, address: str) -> None:
    with pytest.raises(ValueError, match=r"such as 'https://trading\.example'") as caught:
        kind(address, TEST_KEY)
    assert SECRET not in "".join(traceback.format_exception(caught.value))


def test_swapped_arguments_do_not_show_the_key(kind: Kind) -> None:
    with pytest.raises(ValueError, match="api_key must start with") as caught:
        kind(TEST_KEY, ADDRESS)
    assert SECRET not in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize(
    "address",
    [
        f"https://asha:{SECRET}@trading.example",
        f"https://{SECRET}@trading.example",
        f"{ADDRESS}/?key={SECRET}",
        f"{ADDRESS}/?",
        f"{ADDRESS}/#{SECRET}",
    ],
)
def test_an_address_with_more_than_an_address(kind: Kind, address: str) -> None:
    with pytest.raises(ValueError, match="without user, password") as caught:
        kind(address, TEST_KEY)
    assert SECRET not in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize(
    "address",
    ["trading.example", "127.0.0.1:8000", "localhost:8000", "trading.example:8443/broker", "//x.example"],
)
def test_an_address_without_a_scheme_is_told_what_is_missing(kind: Kind, address: str) -> None:
    with pytest.raises(ValueError, match="base_url must begin with http:// or https://"):
        kind(address, TEST_KEY)


@pytest.mark.parametrize("key", [TEST_KEY, LIVE_KEY])
@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("/api/trading/test/v1", "/api/trading/test/v1"),
        ("/api/trading/v1/", "/api/trading/v1"),
        ("/broker/api/trading/test/v1/me", "/api/trading/test/v1"),
    ],
)
def test_an_address_with_the_path_of_the_api_is_told_what_to_leave_out(
    kind: Kind, key: str, path: str, told: str
) -> None:
    with pytest.raises(ValueError, match=f"base_url must end before the API's own path: leave out '{told}'"):
        kind(ADDRESS + path, key)


@pytest.mark.parametrize("path", ["/api", "/api/trading", "/api/trading/v10", "/trading/v1"])
def test_a_path_that_only_looks_like_the_apis_is_kept(kind: Kind, path: str) -> None:
    assert f"{ADDRESS}{path}/api/trading/test/v1>" in repr(kind(f"{ADDRESS}{path}", TEST_KEY))


@pytest.mark.parametrize(
    ("path", "told"), [("/docs", "/docs"), ("/docs/", "/docs/"), ("/x/openapi.json", "/openapi.json")]
)
def test_an_address_of_a_page_is_told_what_to_leave_out(kind: Kind, path: str, told: str) -> None:
    with pytest.raises(ValueError, match=f"leave out '{told}'"):
        kind(ADDRESS + path, TEST_KEY)


@pytest.mark.parametrize("address", [f" {ADDRESS}", f"{ADDRESS}\n", f"{ADDRESS}/ "])
def test_an_address_with_blanks_around_it(kind: Kind, address: str) -> None:
    with pytest.raises(ValueError, match="base_url has a blank or a line break around it: remove that"):
        kind(address, TEST_KEY)


@pytest.mark.parametrize("address", [f"{ADDRESS}/", f"{ADDRESS}//", "HTTPS://trading.example:443/"])
def test_slashes_and_large_letters_do_no_harm(kind: Kind, address: str) -> None:
    assert repr(kind(address, TEST_KEY)).endswith(f"at {ADDRESS}/api/trading/test/v1>")


# --- From the process's environment -------------------------------------------------------------------------


@pytest.fixture
def variables(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    monkeypatch.setenv("BULLION_BASE_URL", f"{ADDRESS}/broker")
    monkeypatch.setenv("BULLION_API_KEY", LIVE_KEY)
    return monkeypatch


@pytest.mark.usefixtures("variables")
def test_address_and_key_come_from_the_environment(kind: Kind) -> None:
    client = kind()
    assert repr(client).endswith(f" for production at {ADDRESS}/broker/api/trading/v1>")
    assert SECRET not in repr(vars(client))


@pytest.mark.usefixtures("variables")
def test_arguments_come_before_the_environment(kind: Kind) -> None:
    assert repr(kind("https://other.example")).endswith(
        "for production at https://other.example/api/trading/v1>"
    )
    assert repr(kind(api_key=TEST_KEY)).endswith(f"for test at {ADDRESS}/broker/api/trading/test/v1>")
    with pytest.raises(ValueError, match="api_key must start with"):
        kind(api_key="")


@pytest.mark.parametrize("value", [None, ""])
@pytest.mark.parametrize(
    ("name", "argument"), [("BULLION_BASE_URL", "base_url"), ("BULLION_API_KEY", "api_key")]
)
def test_what_is_missing_is_told(
    kind: Kind, variables: pytest.MonkeyPatch, name: str, argument: str, value: str | None
) -> None:
    if value is None:
        variables.delenv(name)
    else:
        variables.setenv(name, value)
    with pytest.raises(ValueError, match=f"{argument} is missing: give it, or set {name} in the environment"):
        kind()


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("BULLION_BASE_URL", "trading.example", "^BULLION_BASE_URL must begin with http:// or https://"),
        (
            "BULLION_BASE_URL",
            f"{ADDRESS}/api/trading/v1",
            "^BULLION_BASE_URL must end before the API's own path",
        ),
        ("BULLION_API_KEY", SECRET, r"^BULLION_API_KEY must start with 'key_test\.'"),
        ("BULLION_API_KEY", f"{TEST_KEY}\n", "^BULLION_API_KEY has white space"),
    ],
)
def test_a_variable_that_cannot_be_used_is_named(
    kind: Kind, variables: pytest.MonkeyPatch, name: str, value: str, said: str
) -> None:
    variables.setenv(name, value)
    with pytest.raises(ValueError, match=said) as caught:
        kind()
    assert SECRET not in "".join(traceback.format_exception(caught.value))


# --- For one environment ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "environment"), [(TEST_KEY, Environment.TEST), (LIVE_KEY, Environment.PRODUCTION)]
)
def test_a_client_for_one_environment_refuses_a_key_of_the_other(
    kind: Kind, key: str, environment: Environment
) -> None:
    other = Environment.PRODUCTION if environment is Environment.TEST else Environment.TEST
    assert kind(ADDRESS, key, environment=environment).environment is environment
    for wrong in (other, other.value):
        with pytest.raises(
            ValueError, match=f"the key is for {environment}, and this client is only for {other}"
        ):
            kind(ADDRESS, key, environment=wrong)
