"""A file server on the loopback address, with the manners and the bad manners of servers."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

__all__ = ["Asked", "FileServer", "Manners", "serve"]


@dataclass(frozen=True)
class Manners:
    """How the server behaves."""

    ranges: bool = True
    """False: it sends the whole file whatever is asked for."""
    length: bool = True
    """False: it does not say how many bytes it sends."""
    breaks_off_after: int | None = None
    """It closes the connection after this many bytes."""
    stalls_after: int | None = None
    """It sends nothing more after this many bytes, and leaves the connection open."""
    status: int | None = None
    """It answers every request with this code and a short page."""
    sends: bytes | None = None
    """It sends this in place of every file."""
    content_type: str = "application/octet-stream"
    wrong_range: bool = False
    """It answers a request for a range with another range."""


@dataclass(frozen=True)
class Asked:
    """One request: the file, and the first byte that was asked for."""

    name: str
    start: int


@dataclass
class FileServer:
    """A running server. Its manners may be changed while it runs."""

    root: Path
    manners: Manners
    url: str = ""
    asked: list[Asked] = field(default_factory=list)
    n_bytes_sent: int = 0
    stalled: threading.Event = field(default_factory=threading.Event)
    stopping: threading.Event = field(default_factory=threading.Event)


@contextmanager
def serve(root: Path, manners: Manners = Manners()) -> Iterator[FileServer]:
    """Serve the files of a directory on a free port of 127.0.0.1 while the block runs."""
    state = FileServer(root, manners)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            _answer(self, state)

        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        state.url = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield state
        finally:
            state.stopping.set()
            server.shutdown()
            thread.join()


def _answer(handler: BaseHTTPRequestHandler, state: FileServer) -> None:
    manners, name = state.manners, handler.path.lstrip("/")
    asked_range = handler.headers.get("Range")
    start = int(asked_range.removeprefix("bytes=").removesuffix("-")) if asked_range else 0
    state.asked.append(Asked(name, start))
    file = state.root / name
    if manners.status is not None or not file.is_file():
        handler.send_error(manners.status or 404)
        return
    content = file.read_bytes() if manners.sends is None else manners.sends
    if not manners.ranges or asked_range is None:
        handler.send_response(200)
        start = 0
    elif start >= len(content):
        handler.send_response(416)
        handler.send_header("Content-Range", f"bytes */{len(content)}")
        handler.end_headers()
        return
    else:
        handler.send_response(206)
        first = start + 1 if manners.wrong_range else start
        handler.send_header("Content-Range", f"bytes {first}-{len(content) - 1}/{len(content)}")
    body = content[start:]
    if manners.length:
        handler.send_header("Content-Length", str(len(body)))
    handler.send_header("Content-Type", manners.content_type)
    handler.end_headers()
    body = body[: manners.breaks_off_after if manners.stalls_after is None else manners.stalls_after]
    state.n_bytes_sent += len(body)  # before they are sent: whoever has them all may look at once
    handler.wfile.write(body)
    if manners.stalls_after is not None:
        state.stalled.set()
        state.stopping.wait(timeout=60)
