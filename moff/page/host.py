"""Where the board page is served: an address of this machine, by the name that clients use for it."""

import ipaddress
import re
import socket
from typing import NamedTuple

from moff.messages import echo

_NAME = re.compile(r"([a-z0-9_-]+\.)*[a-z][a-z0-9_-]*")
"""A host name that no client takes for a number: `127.1` and `0x7f` are addresses to them."""


class Host(NamedTuple):
    """An IPv4 address of this machine, and the only name under which it is served."""

    name: str
    """As it stands in the page's address and comes back in the header Host."""
    address: str

    def __str__(self) -> str:
        return self.name if self.name == self.address else f"{self.name} ({self.address})"

    def is_loopback(self) -> bool:
        """Whether only this machine can reach it."""
        return ipaddress.ip_address(self.address).is_loopback

    def audience(self) -> str:
        """Who can open a page at an address that is not a loopback address, in two sentences."""
        is_public = ipaddress.ip_address(self.address).is_global
        reach = "Anyone on the Internet" if is_public else "Any device on your network"
        return (
            f"{reach} can open it with this address. Whoever knows the address, or reads the traffic, which "
            "is not encrypted, can use the board and this machine's processor, but nothing else of it."
        )


LOOPBACK = Host("127.0.0.1", "127.0.0.1")
"""Reached by this machine alone."""


def parse(text: str) -> Host:
    """An IPv4 address, or a name that resolves to one. Raises ValueError."""
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return _resolve(text)
    if address.version == 6:
        raise ValueError(f"{text} is an IPv6 address: the board is served over IPv4 only")
    if address.is_unspecified or address.is_multicast:
        raise ValueError(f"{text} is not the address of one machine: give yours, or use --lan")
    return Host(text, text)


def local_network() -> Host:
    """This machine's address in its local network. Raises ValueError if it is in none."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            # Nothing is sent: the system only chooses the address it would send from. The target is one that
            # is kept for documentation (RFC 5737).
            probe.connect(("192.0.2.1", 9))
        except OSError as error:
            raise ValueError(
                f"this machine is in no network ({error.strerror}); if it is, give its address by --host"
            ) from None
        address = str(probe.getsockname()[0])
    return Host(address, address)


def _resolve(text: str) -> Host:
    try:
        name = text.encode("idna").decode().lower()
        if not _NAME.fullmatch(name):
            raise ValueError(f"{echo(text)} is neither an IPv4 address nor the name of a machine")
        return Host(name, socket.gethostbyname(name))
    except UnicodeError:
        raise ValueError(f"{echo(text)} is neither an IPv4 address nor the name of a machine") from None
    except OSError as error:
        raise ValueError(f"{echo(text)} has no IPv4 address: {error.strerror}") from None
