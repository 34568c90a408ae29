"""Where webhooks may go, and how a receiver knows that it was us."""

import ipaddress

import pytest

from reviews.outgoing import PRIVATE, is_public, problem_with_url, signature, verified

BODY = b'{"event":"label.settled"}'


def test_a_signature_is_that_of_the_time_a_dot_and_the_body():
    # echo -n '1700000000.{"event":"label.settled"}' | openssl dgst -sha256 -hmac whsec_test
    known = "45397d506d0d9d783597c1db6a8e56592f5551e699a1d2d63fe8ba73994e897a"
    assert signature("whsec_test", body=BODY, at=1_700_000_000) == f"t=1700000000,v1={known}"


def test_a_receiver_refuses_another_body_another_secret_and_an_old_time():
    header = signature("s", body=BODY, at=1000)
    assert verified("s", body=BODY, header=header, now=1200)
    assert not verified("s", body=BODY + b" ", header=header, now=1200)
    assert not verified("t", body=BODY, header=header, now=1200)
    assert not verified("s", body=BODY, header=header, now=2000)
    assert not verified("s", body=BODY, header="nonsense", now=1000)


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("93.184.215.14", True),
        ("2606:2800:21f:cb07:6820:80da:af6b:8b2c", True),
        ("127.0.0.1", False),
        ("10.1.2.3", False),
        ("172.16.0.9", False),
        ("192.168.1.1", False),
        ("169.254.169.254", False),
        ("100.64.0.1", False),
        ("0.1.2.3", False),
        ("224.0.0.1", False),
        ("::1", False),
        ("fd00::1", False),
        ("fe80::1", False),
        ("::ffff:169.254.169.254", False),
        ("64:ff9b::a9fe:a9fe", False),
        ("2002:7f00:1::", False),
        ("::127.0.0.1", False),
        ("::ffff:0:127.0.0.1", False),
        ("fec0::1", False),
    ],
)
def test_addresses_of_somebodys_own_network_are_not_public(address, public):
    assert is_public(ipaddress.ip_address(address)) is public


@pytest.mark.parametrize(
    "url",
    [
        "http://example.org/",
        "ftp://example.org/",
        "https://",
        "https://user:secret@example.org/",
        "https://example.org:99999/",
        "https://example.org/ a",
        "https://example.org/" + "a" * 500,
        "https://[::1/",
    ],
)
def test_what_is_no_https_address_is_refused(url):
    assert problem_with_url(url, private_allowed=False)


def test_a_private_address_is_refused_unless_the_setting_allows_it():
    assert problem_with_url("https://10.0.0.8/hook", private_allowed=False) == PRIVATE
    assert problem_with_url("https://10.0.0.8/hook", private_allowed=True) == ""
    assert problem_with_url("http://10.0.0.8/hook", private_allowed=True) == ""
