"""One request to somebody else's server: whose certificate is trusted, and which address it goes to."""

import socket

import pytest

from reviews.outgoing import PRIVATE, NotSent, post
from tests.reviews.receiver import Authority, receiving


@pytest.fixture
def authority(tmp_path, monkeypatch):
    """An authority that this machine trusts, as an operator makes it trust one of their own."""
    made = Authority(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(made.file))
    return made


def send(url, *, private_allowed=True):
    return post(url, body=b"{}", headers={}, private_allowed=private_allowed, patience=5)


# --- Certificates -----------------------------------------------------------------------------------------------------
def test_a_certificate_of_a_trusted_authority_is_taken(authority):
    with receiving(certificate=authority.certificate_for("localhost")) as receiver:
        assert send(f"https://localhost:{receiver.server_port}/hook").status == 200
    assert [path for path, _headers, _body in receiver.heard] == ["/hook"]


@pytest.mark.parametrize(
    ("host", "certificate", "why"),
    [
        ("localhost", {"by_itself": True}, "self-signed certificate"),
        ("example.org", {}, "Hostname mismatch"),
        ("localhost", {"days": -1}, "certificate has expired"),
    ],
)
def test_any_other_certificate_is_refused_before_a_word_is_sent(authority, host, certificate, why):
    with receiving(certificate=authority.certificate_for(host, **certificate)) as receiver:
        with pytest.raises(NotSent, match=why) as refused:
            send(f"https://localhost:{receiver.server_port}/hook")
        assert not refused.value.begun
    assert receiver.heard == []


def test_an_authority_that_is_not_trusted_here_is_refused(tmp_path):
    certificate = Authority(tmp_path).certificate_for("localhost")
    with receiving(certificate=certificate) as receiver, pytest.raises(NotSent, match="unable to get local issuer"):
        send(f"https://localhost:{receiver.server_port}/hook")
    assert receiver.heard == []


def test_where_tls_is_wanted_nothing_is_said_in_plain(authority):
    with receiving() as receiver, pytest.raises(NotSent, match="No answer"):
        send(f"https://localhost:{receiver.server_port}/hook")
    assert receiver.heard == []


# --- Addresses --------------------------------------------------------------------------------------------------------
@pytest.fixture
def names(monkeypatch):
    """A name server that gives each of its names one answer after the other."""
    answers: dict[str, list[list[str]]] = {}
    asked = socket.getaddrinfo

    def answer(host, port, *args, **kwargs):
        if host not in answers:
            return asked(host, port, *args, **kwargs)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (one, port)) for one in answers[host].pop(0)]

    monkeypatch.setattr(socket, "getaddrinfo", answer)
    return answers


def test_a_name_that_leads_elsewhere_the_second_time_gains_nothing(names):
    with receiving() as judged, receiving("127.0.0.2", judged.server_port) as private:
        names["rebinding.example"] = [["127.0.0.1"], ["127.0.0.2"]]
        assert send(f"http://rebinding.example:{judged.server_port}/hook").status == 200
        assert (len(judged.heard), private.heard) == (1, [])
        assert judged.heard[0][1]["Host"] == f"rebinding.example:{judged.server_port}"
    assert names["rebinding.example"] == [["127.0.0.2"]], "the name was looked up once"


@pytest.mark.parametrize("found", [["169.254.169.254"], ["93.184.215.14", "10.0.0.8"], ["::ffff:127.0.0.1"]])
def test_one_private_address_behind_a_name_is_enough_to_refuse_it(names, found, monkeypatch):
    names["inside.example"] = [found]
    connected = []
    monkeypatch.setattr(socket, "create_connection", lambda address, *_rest: connected.append(address))
    with pytest.raises(NotSent) as refused:
        send("https://inside.example/hook", private_allowed=False)
    assert str(refused.value) == PRIVATE
    assert connected == []


def test_the_certificate_is_held_to_the_name_although_the_address_is_fixed(names, authority):
    with receiving(certificate=authority.certificate_for("hooks.example")) as receiver:
        names |= {"hooks.example": [["127.0.0.1"]], "other.example": [["127.0.0.1"]]}
        assert send(f"https://hooks.example:{receiver.server_port}/").status == 200
        with pytest.raises(NotSent, match="Hostname mismatch"):
            send(f"https://other.example:{receiver.server_port}/")


# --- Redirects --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_no_redirect_is_followed_wherever_it_leads(status):
    with receiving() as receiver, receiving("127.0.0.2") as private:
        receiver.status, receiver.location = status, f"http://127.0.0.2:{private.server_port}/latest/meta-data/"
        answer = send(receiver.url)
    assert (answer.status, answer.taken) == (status, False)
    assert private.heard == []


def test_a_server_that_is_away_is_said_to_be():
    with receiving() as receiver:
        port = receiver.server_port
    with pytest.raises(NotSent, match="Connection refused"):
        send(f"http://localhost:{port}/")
