"""A page of the viewer that is open, as a browser has it: a websocket that says where its camera is, and listens."""
import contextlib
import threading

import msgspec
import viser
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

PROTOCOL = f"viser-v{viser.__version__}"
CAMERA = {"type": "ViewerCameraMessage", "wxyz": (1.0, 0.0, 0.0, 0.0), "position": (1.0, 1.0, 1.0), "fov": 0.6,
          "near": 0.01, "far": 100.0, "image_height": 400, "image_width": 600, "look_at": (0.0, 0.0, 0.0),
          "up_direction": (0.0, 0.0, 1.0)}
PATIENCE = 60.0     # s


@contextlib.contextmanager
def open_page(url):
    """Have the page at an address open; gives the connection."""
    address = url.partition("://")[2]
    with connect(f"ws://{address}", origin=url, subprotocols=[PROTOCOL], open_timeout=PATIENCE,
                 max_size=None) as connection:
        connection.send(msgspec.msgpack.encode(CAMERA))
        thread = threading.Thread(target=_listen, args=(connection,))
        thread.start()
        try:
            yield connection
        finally:
            connection.close()
            thread.join(PATIENCE)


def _listen(connection):
    with contextlib.suppress(ConnectionClosed):
        for _ in connection:
            pass
