"""A server on this machine that keeps what it is sent: well, slow, failing, sending elsewhere, behind TLS."""

import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from django.utils import timezone


class Receiver(ThreadingHTTPServer):
    """Keeps what it was sent, and answers as it is told."""

    daemon_threads = True

    def __init__(self, host: str = "127.0.0.1", port: int = 0) -> None:
        super().__init__((host, port), Answers)
        self.heard: list[tuple[str, dict[str, str], bytes]] = []
        self.status, self.location, self.slow = 200, "", False
        self.hold = threading.Event()

    @property
    def url(self) -> str:
        return f"http://localhost:{self.server_port}/hook"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A caller who hangs up is no error here."""


class Answers(BaseHTTPRequestHandler):
    server: Receiver

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.heard.append((self.path, dict(self.headers), body))
        if self.server.slow:
            self.wfile.write(b"HTTP/1.1 200")
            self.server.hold.wait(20)
            return
        self.send_response(self.server.status)
        if self.server.location:
            self.send_header("Location", self.server.location)
        self.end_headers()

    def log_message(self, *_args: Any) -> None:
        """Says nothing."""


@contextmanager
def receiving(host: str = "127.0.0.1", port: int = 0, *, certificate: Path | None = None) -> Iterator[Receiver]:
    """A receiver for as long as it is needed, behind TLS where it has a certificate."""
    server = Receiver(host, port)
    if certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server
    finally:
        server.hold.set()
        server.shutdown()
        server.server_close()


# --- Certificates -----------------------------------------------------------------------------------------------------
class Authority:
    """Whoever signs certificates. `file` is what one has to trust to trust them all."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.key, self.name = folder, ec.generate_private_key(ec.SECP256R1()), _name("Tests' authority")
        self.file = folder / "authority.pem"
        signed = _certificate(self.name, self.key, signed_by=(self.name, self.key), is_authority=True)
        self.file.write_bytes(signed.public_bytes(serialization.Encoding.PEM))

    def certificate_for(self, host: str, *, days: int = 1, by_itself: bool = False) -> Path:
        """A key and its certificate for a name, signed here or by itself; `days` below zero has run out."""
        key, name = ec.generate_private_key(ec.SECP256R1()), _name(host)
        signed_by = (name, key) if by_itself else (self.name, self.key)
        signed = _certificate(name, key, signed_by=signed_by, host=host, days=days)
        private = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        path = self.folder / f"{host}.pem"
        path.write_bytes(private + signed.public_bytes(serialization.Encoding.PEM))
        return path


def _name(words: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, words)])


def _certificate(
    name: x509.Name,
    key: ec.EllipticCurvePrivateKey,
    *,
    signed_by: tuple[x509.Name, ec.EllipticCurvePrivateKey],
    host: str = "",
    days: int = 1,
    is_authority: bool = False,
) -> x509.Certificate:
    issuer, signer = signed_by
    now = timezone.now()
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=10))
        .not_valid_after(now + timedelta(days=days))
        .add_extension(x509.BasicConstraints(ca=is_authority, path_length=None), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key()), critical=False)
    )
    if host:
        made = made.add_extension(x509.SubjectAlternativeName([x509.DNSName(host)]), critical=False)
    return made.sign(signer, hashes.SHA256())
