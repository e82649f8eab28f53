"""Where webhooks may lead."""

from ipaddress import ip_address

import pytest

from bullion.events.webhook_address import URL_LENGTH_MAX, UrlRefused, is_public, read_url


@pytest.mark.parametrize(
    "address", ["1.1.1.1", "8.8.8.8", "2606:4700::1111", "64:ff9b::808:808", "2002:808:808::1"]
)
def test_public_addresses(address: str) -> None:
    assert is_public(ip_address(address))


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "127.8.8.8",
        "0.0.0.0",  # noqa: S104
        "0.1.2.3",
        "10.0.0.1",
        "172.16.0.1",
        "172.31.255.255",
        "192.168.1.1",
        "169.254.169.254",
        "100.64.0.1",
        "100.127.255.255",
        "192.0.0.8",
        "192.0.2.1",
        "192.88.99.1",
        "198.18.0.1",
        "198.51.100.1",
        "203.0.113.7",
        "224.0.0.1",
        "239.255.255.255",
        "240.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "::7f00:1",
        "::ffff:127.0.0.1",
        "::ffff:10.0.0.1",
        "::ffff:169.254.169.254",
        "64:ff9b::7f00:1",
        "64:ff9b::a00:1",
        "64:ff9b:1::1",
        "2002:7f00:1::1",
        "2002:a9fe:a9fe::1",
        "2001::1",
        "2001:0:808:808::1",
        "2001:db8::1",
        "100::1",
        "fe80::1",
        "fe80::1%eth0",
        "2606:4700::1111%eth0",
        "fc00::1",
        "fd00:ec2::254",
        "fec0::1",
        "ff02::1",
        "3fff::1",
    ],
)
def test_addresses_that_lead_inside_or_to_nobody(address: str) -> None:
    assert not is_public(ip_address(address))


@pytest.mark.parametrize(
    ("url", "host", "port", "target"),
    [
        ("https://hooks.example.com", "hooks.example.com", 443, "/"),
        ("https://Hooks.Example.com./a/b?c=d%20e", "hooks.example.com", 443, "/a/b?c=d%20e"),
        ("https://hooks.example.com:8443/x", "hooks.example.com", 8443, "/x"),
        ("https://1.1.1.1/", "1.1.1.1", 443, "/"),
        ("https://[2606:4700::1111]/", "2606:4700::1111", 443, "/"),
    ],
)
def test_urls_that_are_allowed(url: str, host: str, port: int, target: str) -> None:
    found = read_url(url, allow_private=False)
    assert (found.scheme, found.host, found.port, found.target) == ("https", host, port, target)


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("http://hooks.example.com/", "https"),
        ("ftp://hooks.example.com/", "https"),
        ("hooks.example.com", "https"),
        ("https://", "host name"),
        ("https:///path", "host name"),
        ("https://user:secret@hooks.example.com/", "user name"),
        ("https://hooks.example.com@10.0.0.1/", "user name"),
        ("https://hooks.example.com\\@10.0.0.1/", "user name"),
        ("https://hooks.example.com/#part", "fragment"),
        ("https://hooks.example.com/#", "fragment"),
        ("https://hooks.example.com:22/", "port"),
        ("https://hooks.example.com:80/", "port"),
        ("https://hooks.example.com:0/", "port"),
        ("https://hooks.example.com:99999/", "not a URL"),
        ("https://hooks.example.com:x/", "not a URL"),
        ("https://[::1/", "not a URL"),
        ("https://hooks example.com/", "visible"),
        ("https://hooks.example.com/\r\nHost: inside", "visible"),
        ("https://höoks.example.com/", "visible"),
        ("https://localhost/", "public internet"),
        ("https://intranet/", "public internet"),
        ("https://a.localhost/", "public internet"),
        ("https://2130706433/", "public internet"),
        ("https://a..b/", "host name"),
        ("https://" + "a" * 64 + ".com/", "host name"),
        ("https://127.0.0.1/", "private"),
        ("https://169.254.169.254/latest/meta-data", "private"),
        ("https://[::1]/", "private"),
        ("https://[::ffff:10.0.0.1]/", "private"),
        ("https://hooks.example.com/" + "a" * URL_LENGTH_MAX, "characters"),
    ],
)
def test_urls_that_are_refused(url: str, why: str) -> None:
    with pytest.raises(UrlRefused, match=why):
        read_url(url, allow_private=False)


def test_a_deployment_may_allow_what_is_private() -> None:
    for url in ("http://127.0.0.1:9000/", "http://localhost/", "https://intranet:80/hook"):
        assert read_url(url, allow_private=True).target in ("/", "/hook")
    with pytest.raises(UrlRefused):
        read_url("ftp://127.0.0.1/", allow_private=True)
    with pytest.raises(UrlRefused):
        read_url("http://user@127.0.0.1/", allow_private=True)
