"""A server that receives metrics by POST, and answers with given statuses."""

import threading
from contextlib import contextmanager
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple


class Received(NamedTuple):
    path: str
    headers: Message
    body: bytes


@contextmanager
def receiving(*statuses, answer=b"a\nb c", more=()):
    """Serve requests with these statuses, the last one again and again; yield URL and requests."""
    received, waiting = [], [*statuses]

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            received.append(Received(self.path, self.headers, body))
            self.send_response(waiting.pop(0) if len(waiting) > 1 else waiting[0])
            for header in (("Content-Length", str(len(answer))), *more):
                self.send_header(*header)
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *arguments):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}", received
        server.shutdown()
