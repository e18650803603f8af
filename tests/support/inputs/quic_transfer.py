"""Client and server of aioquic on loopback, with a small relay between them that delays and drops."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

from aioquic.asyncio import QuicConnectionProtocol, serve
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.connection import QuicConnection
from aioquic.quic.logger import QuicLogger
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from support.waiting import TIMEOUT_S

REQUEST_BYTES = 100_000
ANSWER_BYTES = 400_000
DELAY_S = 0.01
LOOPBACK = ("127.0.0.1", 0)
# Bit that is set in packets with a long header, which are those of the handshake. [RFC 8999 5.1]
LONG_HEADER = 0x80


class Relay(asyncio.DatagramProtocol):
    """Forwards datagrams after `DELAY_S`, and drops one of `drop_every` large ones with data, in each direction."""

    def __init__(self, server: tuple[str, int], drop_every: int | None) -> None:
        self.server = server
        self.client: tuple[str, int] | None = None
        self.drop_every = drop_every
        self.large: Counter[str] = Counter()
        self.dropped: Counter[str] = Counter()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport: Any = transport

    def datagram_received(self, data: bytes, source: tuple[str, int]) -> None:
        sender = "server" if source == self.server else "client"
        if sender == "client":
            self.client = source
        if len(data) > 1000 and not data[0] & LONG_HEADER:
            self.large[sender] += 1
            if self.drop_every and self.large[sender] % self.drop_every == 0:
                self.dropped[sender] += 1
                return
        target = self.client if sender == "server" else self.server
        asyncio.get_running_loop().call_later(DELAY_S, self.transport.sendto, data, target)


def transfer(client_log: QuicLogger, server_log: QuicLogger, drop_every: int | None) -> Counter[str]:
    """Send a request and an answer; return the number of datagrams that the relay dropped, by sender."""
    return asyncio.run(asyncio.wait_for(_transfer(client_log, server_log, drop_every), TIMEOUT_S))


async def _transfer(client_log: QuicLogger, server_log: QuicLogger, drop_every: int | None) -> Counter[str]:
    certificate, key = _certificate()
    answering = QuicConfiguration(
        is_client=False,
        certificate=certificate,
        private_key=key,
        quic_logger=server_log,
        congestion_control_algorithm="cubic",
    )
    asking = QuicConfiguration(server_name="localhost", quic_logger=client_log)
    asking.load_verify_locations(cadata=certificate.public_bytes(serialization.Encoding.PEM))
    answers: list[asyncio.Task[None]] = []
    closings: list[asyncio.Task[None]] = []

    class Server(QuicConnectionProtocol):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            super().connection_made(transport)
            closings.append(asyncio.create_task(self.wait_closed()))

    server = await serve(
        *LOOPBACK,
        configuration=answering,
        create_protocol=Server,
        stream_handler=lambda reader, writer: answers.append(asyncio.create_task(_answer(reader, writer))),
    )
    relay = Relay(server._transport.get_extra_info("sockname"), drop_every)
    client = QuicConnectionProtocol(QuicConnection(configuration=asking))
    try:
        async with _endpoint(relay) as address, _endpoint(client):
            client.connect(address)
            await client.wait_connected()
            reader, writer = await client.create_stream()
            writer.write(bytes(REQUEST_BYTES))
            writer.write_eof()
            assert len(await reader.read()) == ANSWER_BYTES
            client.close()
            # Each end writes its log when its connection is over.
            await asyncio.gather(client.wait_closed(), *answers, *closings)
            return relay.dropped
    finally:
        server.close()


async def _answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    assert len(await reader.read()) == REQUEST_BYTES
    writer.write(bytes(ANSWER_BYTES))
    writer.write_eof()


@asynccontextmanager
async def _endpoint(protocol: asyncio.DatagramProtocol) -> AsyncIterator[tuple[str, int]]:
    """Put `protocol` on a port of loopback; return its address."""
    loop = asyncio.get_running_loop()
    transport, _ = await loop.create_datagram_endpoint(lambda: protocol, local_addr=LOOPBACK)
    try:
        yield transport.get_extra_info("sockname")
    finally:
        transport.close()


def _certificate() -> tuple[x509.Certificate, ec.EllipticCurvePrivateKey]:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .sign(key, hashes.SHA256())
    )
    return certificate, key
