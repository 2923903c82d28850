"""The server of a page: viser's, which speaks with its own page alone.

A browser lets any page open a websocket to any address, this machine's too, and says in the header Origin which page
it is. viser has no option for who may do so, nor for the size of what is sent to it; the library below it,
websockets, has both. It is handed them here, as viser starts its server."""

import contextlib
import http
import io
import ipaddress
import socket
import threading
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

LARGEST_MESSAGE = 256 * 1024    # bytes, from a page: it sends its camera and what is done to its widgets
WAITING_MESSAGES = 4            # of a page, before it has to wait
_STARTING = threading.Lock()    # one server at a time


def start(host: str, port: int, title: str) -> Any:
    """A ViserServer, at the first free port from `port` on. ImportError without viser."""
    try:
        import viser
    except ImportError:
        raise ImportError("view shows robots with viser, which is not installed: pip install viser") from None
    # Of standard output: a panel with the address; whoever opens a page tells it.
    with _STARTING, _guarded(host) as guarded, contextlib.redirect_stdout(io.StringIO()):
        server = viser.ViserServer(host=host, port=port, label=title, verbose=False)
    if not guarded:
        server.stop()
        raise RuntimeError(f"viser {viser.__version__} starts its server in a way that lets any page connect; "
                           "pip install 'viser>=1.0,<2'")
    return server


def refusal(headers: Any, host: str) -> str:
    """Why a websocket is refused, by the headers of its request; "" if it is one of the page that is served here.

    Its Origin has to be the Host that it was sent to. That has to be an address, localhost, this machine's name or
    `host`: a name that somebody else has given to this machine, in a domain of theirs, is not ours."""
    asked = headers.get_all("Host")
    origins = headers.get_all("Origin")
    if len(asked) != 1 or len(origins) != 1:
        return "a websocket needs one Host and one Origin"
    origin = urlsplit(origins[0])
    if origin.scheme not in ("http", "https") or origin.netloc.lower() != asked[0].lower():
        return f"Origin {origins[0][:200]!r} is not the page of {asked[0][:200]!r}"
    if not _is_here(urlsplit(f"//{asked[0]}").hostname or "", host):
        return f"Host {asked[0][:200]!r} is neither an address, nor localhost, nor the name of this machine"
    return ""


def _is_here(name: str, host: str) -> bool:
    own = socket.gethostname().lower()
    if name in {"localhost", own, f"{own}.local", socket.getfqdn().lower(), host.lower()}:
        return True
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


@contextlib.contextmanager
def _guarded(host: str) -> Iterator[list[bool]]:
    """Have servers of viser that are started in the block refuse other pages; the list is empty if none was."""
    from websockets.asyncio import server as websockets

    serve, guarded = websockets.serve, []

    def guard(handler, *address, **options):
        if handler.__module__.partition(".")[0] == "viser":
            guarded.append(True)
            options |= {"max_size": LARGEST_MESSAGE, "max_queue": WAITING_MESSAGES,
                        "process_request": _checked(options.get("process_request"), host)}
        return serve(handler, *address, **options)

    websockets.serve = guard
    try:
        yield guarded
    finally:
        websockets.serve = serve


def _checked(answer, host: str):
    """What answers a request: `answer`, which gives files to those who ask for them, and then a refusal."""
    def process(connection, request):
        response = None if answer is None else answer(connection, request)
        if response is None and (reason := refusal(request.headers, host)):
            return connection.respond(http.HTTPStatus.FORBIDDEN, f"{reason}\n")
        return response
    return process
