"""The application behind real HTTP on a free port, in a thread of the test process."""

import socket
import threading

import uvicorn

from snapstate_project.dev.process import wait_until
from snapstate_project.dev.server import LOOPBACK
from snapstate_project.gunicorn import Worker


class LiveServer:
    """As gunicorn's workers run it: same server, same event loop, same parser."""

    def __init__(self) -> None:
        self.socket = socket.create_server((LOOPBACK, 0))
        config = uvicorn.Config(
            "snapstate_project.asgi:application",
            http=Worker.CONFIG_KWARGS["http"],
            log_config=None,
            access_log=False,
            timeout_graceful_shutdown=2,
        )
        self.server = uvicorn.Server(config)
        self.thread = threading.Thread(target=self.server.run, args=([self.socket],), name="live-server")

    def start(self) -> str:
        self.thread.start()
        wait_until(lambda: self.server.started or not self.thread.is_alive(), seconds=20)
        if not self.server.started:
            raise RuntimeError("the application did not start; its reason stands above")
        return f"http://{LOOPBACK}:{self.socket.getsockname()[1]}"

    def stop(self) -> None:
        self.server.should_exit = True
        self.thread.join(10)
        self.socket.close()
