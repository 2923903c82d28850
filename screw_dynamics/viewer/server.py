"""The server of a page: viser's, restricted to connections from its own page.

Browsers let any page open a websocket to any address, including this machine's, and send the page's address in the
header Origin. viser has no options to restrict origins or the size of messages; the library websockets, on which it is
based, has both. They are set here when viser starts its server."""

import contextlib
import http
import io
import ipaddress
import socket
import threading
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from screw_dynamics.utils import checks

LARGEST_MESSAGE = 256 * 1024    # bytes, from a page: camera and widget events
SEEN = "1.1.1"                  # tested version of viser
LAST_PORT = 65535
WAITING_MESSAGES = 4            # of a page, before it is throttled
_STARTING = threading.Lock()    # one server starts at a time


def start(host: str, port: int, title: str) -> Any:
    """Return a ViserServer at the first free port from `port` on.

    Raises ImportError without viser. Raises RuntimeError if its version does not allow rejecting other pages. Raises
    ValueError if the host is not this machine or the port is invalid."""
    _check_address(host, port)
    try:
        import viser
    except ImportError:
        raise ImportError("view shows robots with viser, which is not installed: pip install viser") from None
    # suppress viser's panel with the address; the caller prints it
    with _STARTING, _guarded(host) as guarded, contextlib.redirect_stdout(io.StringIO()):
        server = viser.ViserServer(host=host, port=port, label=title, verbose=False)
        if not guarded:
            server.stop()
    if not guarded:
        raise RuntimeError(f"viser {viser.__version__} starts its server in a way that lets any web page connect to "
                           f"it, and was stopped: pip install viser=={SEEN}")
    return server


def _check_address(host, port):
    """Raise ValueError for an address that cannot be served: viser would wait forever for its server."""
    if checks.whole("port", port, 0) > LAST_PORT:
        raise ValueError(f"port {port} must be <= {LAST_PORT}")
    try:
        for family, kind, _, _, address in socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM):
            with socket.socket(family, kind) as probe:
                probe.bind(address)
    except (OSError, TypeError, UnicodeError) as error:
        raise ValueError(f"host {host!r} must be an address or a name of this machine: {error}") from None


def refusal(hosts: list[str], origins: list[str] | None, own: str) -> str:
    """Return the reason to reject a request with these Host and Origin headers; "" if it comes from this page.

    Host must be an address, localhost, this machine's name or `own`: a page under another name that resolves to this
    machine is foreign, and would pass the check of Origin. The Origin of a websocket must be that Host. origins: None
    for a file request."""
    if len(hosts) != 1 or not _is_here(hosts[0], own):
        return (f"Host {_quoted(hosts)} must be an address, localhost or the name of this machine: open the page by "
                "one of these")
    if origins is None:
        return ""
    allowed = [f"{scheme}://{hosts[0]}".lower() for scheme in ("http", "https")]
    if len(origins) != 1 or origins[0].lower() not in allowed:
        return f"Origin {_quoted(origins)} must be the page at {_quoted(hosts)}"
    return ""


def _is_here(host: str, own: str) -> bool:
    try:
        name = urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return False
    machine = socket.gethostname().lower()
    short = machine.partition(".")[0]
    if name in {"localhost", machine, short, f"{short}.local", own.lower()}:
        return True
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _quoted(values: list[str]) -> str:
    return repr(", ".join(values)[:200])


@contextlib.contextmanager
def _guarded(own: str) -> Iterator[list[bool]]:
    """Make viser's server, started within the block, reject other pages; yield a list, empty if none was started."""
    from websockets.asyncio import server as websockets

    serve, guarded = websockets.serve, []

    def guard(handler, *address, **options):
        if handler.__module__.partition(".")[0] == "viser":     # not a server of another thread
            guarded.append(True)
            options |= {"max_size": LARGEST_MESSAGE, "max_queue": WAITING_MESSAGES,
                        "process_request": _checked(options["process_request"], own)}
        return serve(handler, *address, **options)

    websockets.serve = guard
    try:
        yield guarded
    finally:
        websockets.serve = serve


def _checked(files: Any, own: str) -> Any:
    """Return the function that processes requests: rejections, then `files`, which returns None for websockets."""
    def process(connection, request):
        hosts, origins = request.headers.get_all("Host"), request.headers.get_all("Origin")
        if reason := refusal(hosts, None, own):
            return connection.respond(http.HTTPStatus.FORBIDDEN, f"{reason}\n")
        response = files(connection, request)
        if response is None and (reason := refusal(hosts, origins, own)):
            return connection.respond(http.HTTPStatus.FORBIDDEN, f"{reason}\n")
        return response
    return process
