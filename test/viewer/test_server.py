"""The server of a page speaks with its own page alone: a websocket client that says who it is, as browsers do."""
import http.client
import socket

import pytest

pytest.importorskip("viser", reason="pages need viser, the extra [view]")

import viser  # noqa: E402
from websockets.asyncio import server as asyncio_server  # noqa: E402
from websockets.exceptions import ConnectionClosedError, InvalidStatus  # noqa: E402
from websockets.sync.client import connect  # noqa: E402

from screw_dynamics.viewer.page import View  # noqa: E402
from screw_dynamics.viewer.server import LARGEST_MESSAGE, refusal, start  # noqa: E402
from support.web_page import PATIENCE, PROTOCOL  # noqa: E402


@pytest.fixture(scope="module")
def port():
    """That of a page that is served."""
    with View(port=8500) as view:
        yield int(view.url.rpartition(":")[2])


def websocket(port, host, **options):
    """A connection to the page, whatever the name by which it was found."""
    return connect(f"ws://{host}", sock=socket.create_connection(("127.0.0.1", port), PATIENCE),
                   subprotocols=[PROTOCOL], open_timeout=PATIENCE, **options)


def greeted(port, host, origin):
    """Whether the server speaks."""
    with websocket(port, host, origin=origin) as connection:
        return len(connection.recv(PATIENCE)) > 0


@pytest.mark.parametrize("name", ["localhost", "127.0.0.1", "LOCALHOST", "[::1]", socket.gethostname()])
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_the_page_itself_is_heard_by_whichever_name_it_was_opened(port, name, scheme):
    """https: of a proxy before it."""
    assert greeted(port, f"{name}:{port}", f"{scheme}://{name}:{port}")


@pytest.mark.parametrize("host, origin", [
    ("localhost:{port}", None), ("localhost:{port}", "null"), ("localhost:{port}", "http://evil.example"),
    ("localhost:{port}", "http://evil.example:{port}"), ("localhost:{port}", "http://localhost"),
    ("localhost:{port}", "http://localhost:1{port}"), ("localhost:{port}", "file://localhost:{port}"),
    ("localhost:{port}", "http://localhost:{port}.evil.example"), ("127.0.0.1:{port}", "http://localhost:{port}"),
    ("evil.example:{port}", "http://evil.example:{port}")])     # the last: its name leads here
def test_another_page_is_refused(port, host, origin):
    with pytest.raises(InvalidStatus) as refused:
        greeted(port, host.format(port=port), origin and origin.format(port=port))
    assert refused.value.response.status_code == 403
    assert refused.value.response.body.startswith((b"Origin", b"Host"))
    assert greeted(port, f"localhost:{port}", f"http://localhost:{port}")


@pytest.mark.parametrize("header", ["Origin", "Host"])
def test_a_header_that_comes_twice_is_refused(port, header):
    with pytest.raises(InvalidStatus) as refused, websocket(
            port, f"localhost:{port}", origin=f"http://localhost:{port}", additional_headers={header: "evil.example"}):
        pass
    assert refused.value.response.status_code == 403


@pytest.mark.parametrize("host, status", [("localhost", 200), ("127.0.0.1", 200), ("evil.example", 403), ("[", 403)])
def test_a_name_that_is_not_ours_gets_no_page_and_the_reason(port, host, status):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    connection.request("GET", "/", headers={"Host": host})
    response = connection.getresponse()
    assert response.status == status
    assert (b"open the page by" in response.read()) == (status == 403)


@pytest.mark.parametrize("parts", [1, 64])
def test_a_message_that_is_too_large_ends_its_connection_and_no_other(port, parts):
    """In one frame, or in many."""
    address = f"localhost:{port}", f"http://localhost:{port}"
    with websocket(port, address[0], origin=address[1]) as other, websocket(
            port, address[0], origin=address[1], max_size=None) as large:
        large.recv(PATIENCE)
        message = bytes(LARGEST_MESSAGE + parts)
        step = len(message) // parts
        with pytest.raises(ConnectionClosedError) as closed:
            large.send([message[at:at + step] for at in range(0, len(message), step)] if parts > 1 else message)
            while True:
                large.recv(PATIENCE)
        assert closed.value.rcvd.code == 1009       # RFC 6455: message too big
        assert len(other.recv(PATIENCE)) > 0


def test_a_server_that_would_let_other_pages_in_is_stopped(monkeypatch):
    stopped = []

    class Other:
        """A viser that starts its server without websockets' serve."""

        def __init__(self, **options):
            pass

        def stop(self):
            stopped.append(True)
    monkeypatch.setattr(viser, "ViserServer", Other)
    with pytest.raises(RuntimeError, match=f"viser {viser.__version__} .* any web page .* pip install viser=="):
        start("127.0.0.1", 8500, "other")
    assert stopped


def test_servers_of_the_users_own_are_what_they_were(monkeypatch):
    """Those that are started while a page is, too."""
    async def handler(connection):
        pass

    before, seen = asyncio_server.serve, []
    monkeypatch.setattr(asyncio_server, "serve", lambda *arguments, **options: seen.append((arguments, options)))
    own = asyncio_server.serve

    class Meanwhile:
        """A viser, in whose time a user's server starts."""

        def __init__(self, **options):
            asyncio_server.serve(handler, "localhost", 1, max_size=7)

        def stop(self):
            pass
    monkeypatch.setattr(viser, "ViserServer", Meanwhile)
    with pytest.raises(RuntimeError):
        start("127.0.0.1", 8500, "other")
    assert seen == [((handler, "localhost", 1), {"max_size": 7})]
    assert asyncio_server.serve is own is not before


def test_the_name_that_a_user_serves_at_is_ours():
    assert refusal(["robot.example:8080"], ["http://robot.example:8080"], "Robot.example") == ""
    assert refusal(["robot.example:8080"], ["http://robot.example:8080"], "0.0.0.0").startswith("Host 'robot.example")


@pytest.mark.parametrize("host, port, says", [
    ("127.0.0.1", 70000, "port 70000 must be <= 65535"), ("127.0.0.1", -1, "port -1 must be a whole number >= 0"),
    ("127.0.0.1", "a", "port 'a' must be"), ("nohost.invalid", 0, "host 'nohost.invalid' must be an address"),
    ("192.0.2.1", 0, "host '192.0.2.1' must be"), (3, 0, "host 3 must be")])
def test_an_address_that_no_page_can_have_is_refused_at_once(host, port, says):
    """192.0.2.0/24 is nobody's (RFC 5737)."""
    with pytest.raises(ValueError, match=says):
        View(host, port)
