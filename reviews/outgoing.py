"""What leaves for somebody else's server: a signature, where it may go, and one request that follows no redirect."""

import hashlib
import hmac
import http.client
import ipaddress
import socket
import ssl
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from time import monotonic
from urllib.parse import SplitResult, urlsplit

# Seconds between one try and the next. After the last of them nothing is tried any more.
BACK_OFF = (10, 60, 300, 1800, 7200, 21600, 86400)
# Seconds that the other side has to answer, from the first packet to the end of its headers.
PATIENCE = 10
LONGEST_URL = 500
# Networks behind which a private address may hide although they look public.
TUNNELS = [
    ipaddress.ip_network(net)
    for net in ("::/96", "::ffff:0:0:0/96", "64:ff9b::/96", "64:ff9b:1::/48", "2001::/32", "2002::/16", "fec0::/10")
]


class NotSent(Exception):
    """Nothing came of it; the message says why. `begun` where the request had left, and may have been acted on."""

    def __init__(self, message: str, *, begun: bool = False):
        super().__init__(message)
        self.begun = begun


@dataclass(frozen=True)
class Answer:
    """What the other side said. Only 2xx counts as taken. Names of `headers` are in small letters."""

    status: int
    milliseconds: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""

    @property
    def taken(self) -> bool:
        return 200 <= self.status < 300


def signature(secret: str, *, body: bytes, at: int) -> str:
    """The header that proves who sent this and when: HMAC-SHA256 of the time, a dot and the body."""
    digest = hmac.new(secret.encode(), f"{at}.".encode() + body, hashlib.sha256).hexdigest()
    return f"t={at},v1={digest}"


def verified(secret: str, *, body: bytes, header: str, now: int, tolerance: int = 300) -> bool:
    """Whether a header is ours and not older than `tolerance` seconds: what a receiver checks."""
    parts = dict(part.split("=", 1) for part in header.split(",") if "=" in part)
    at = parts.get("t", "")
    if not (at.isascii() and at.isdigit()) or abs(now - int(at)) > tolerance:
        return False
    return hmac.compare_digest(header, signature(secret, body=body, at=int(at)))


def problem_with_url(url: str, *, private_allowed: bool) -> str:
    """Why nothing may be sent to this address, or "". Names are looked up only when something is sent."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return "This is no address of a server."
    if len(url) > LONGEST_URL or not url.isascii() or any(character <= " " for character in url):
        return f"An address has at most {LONGEST_URL} characters, and no spaces."
    if parts.scheme != "https" and not (private_allowed and parts.scheme == "http"):
        return "The address begins with https://."
    if not parts.hostname or parts.username or parts.password or port == 0:
        return "Write the address as https://host/path, without a name or password."
    try:
        address = ipaddress.ip_address(parts.hostname)
    except ValueError:
        return ""
    return "" if private_allowed or is_public(address) else PRIVATE


PRIVATE = "This address is not on the public internet."


def is_public(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    """Whether an address belongs to nobody's own network, also where IPv6 wraps an IPv4 one."""
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped:
            return is_public(address.ipv4_mapped)
        if any(address in net for net in TUNNELS):
            return False
    return address.is_global and not address.is_multicast


def post(
    url: str,
    *,
    body: bytes,
    headers: dict[str, str],
    private_allowed: bool,
    patience: float | None = None,
    most_bytes: int = 0,
) -> Answer:
    """Send it once. Raises NotSent where it may not go there, or where no answer comes within `patience` seconds.

    The name is looked up once and every address of it is judged; the connection goes to the address that was judged,
    so that a name which answers otherwise the second time gains nothing. Redirects are not followed. Of the answer's
    body up to `most_bytes` are read; a longer one is no answer.
    """
    patience = PATIENCE if patience is None else patience
    if problem := problem_with_url(url, private_allowed=private_allowed):
        raise NotSent(problem)
    parts = urlsplit(url)
    address = _address_of(parts, private_allowed=private_allowed)
    connection = _connection(parts, address, patience)
    began = monotonic()
    # A timeout of a socket begins anew with every packet; this one does not.
    over = threading.Timer(patience, _hang_up, [connection])
    over.daemon = True
    over.start()
    begun = False
    try:
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        connection.connect()
        begun = True
        connection.request("POST", target, body=body, headers=headers)
        response = connection.getresponse()
        said = response.read(most_bytes + 1) if most_bytes else b""
        if said and response.length and len(said) <= most_bytes:
            raise http.client.IncompleteRead(said, response.length)
    except (OSError, http.client.HTTPException) as error:
        raise NotSent(_late(began, patience) or f"No answer: {_words(error)}.", begun=begun) from error
    finally:
        over.cancel()
        connection.close()
    # What stands in a line that was cut short by hanging up is no answer.
    if late := _late(began, patience):
        raise NotSent(late, begun=True)
    if len(said) > most_bytes:
        raise NotSent(f"The answer is longer than {most_bytes:,} bytes.", begun=True)
    told = {name.lower(): value for name, value in response.getheaders()}
    return Answer(response.status, int((monotonic() - began) * 1000), told, said)


def _late(began: float, patience: float) -> str:
    return f"No answer within {patience:g} seconds." if monotonic() - began >= patience else ""


def _address_of(parts: SplitResult, *, private_allowed: bool) -> tuple[str, int]:
    host, port = parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise NotSent("Its name leads to no server.") from error
    addresses = [str(sockaddr[0]) for *_rest, sockaddr in found]
    if not private_allowed and not all(is_public(ipaddress.ip_address(one.split("%")[0])) for one in addresses):
        raise NotSent(PRIVATE)
    return addresses[0], port


def _connection(parts: SplitResult, address: tuple[str, int], patience: float) -> http.client.HTTPConnection:
    host = parts.hostname or ""
    if parts.scheme == "http":
        return _Pinned(host, address, patience)
    return _PinnedWithTLS(host, address, patience)


class _Pinned(http.client.HTTPConnection):
    """Goes to one address, whatever the name says by then."""

    def __init__(self, host: str, address: tuple[str, int], patience: float) -> None:
        super().__init__(host, address[1], timeout=patience)
        self.address = address

    def connect(self) -> None:
        self.sock = socket.create_connection(self.address, self.timeout)


class _PinnedWithTLS(_Pinned):
    """The same, and the certificate must be of the name."""

    default_port = http.client.HTTPS_PORT

    def connect(self) -> None:
        super().connect()
        self.sock = ssl.create_default_context().wrap_socket(self.sock, server_hostname=self.host)


def _hang_up(connection: http.client.HTTPConnection) -> None:
    try:
        connection.sock.shutdown(socket.SHUT_RDWR)
    except (AttributeError, OSError):
        return


def _words(error: Exception) -> str:
    return str(error)[:200] or type(error).__name__
