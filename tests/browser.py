"""A headless Chromium, driven by its protocol: what a page looks like, reports and requests.

`python -m tests.browser FILE FOLDER` writes pictures of a page at three widths, light and dark, and
as it is printed. `python -m tests.browser install` installs Chromium where apt-get can.
"""

import base64
import json
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

import websocket

from tests.servers.packages import NotInstalled, need

WIDTHS = (400, 900, 1600)
_FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-sync"
    " --disable-background-networking --disable-component-update --disable-dev-shm-usage"
    " --hide-scrollbars --remote-debugging-port=0 --remote-allow-origins=*"
).split()
_WITHIN_S = 40


def chromium() -> str:
    """Return the program; NotInstalled if there is none."""
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    if not found:
        raise NotInstalled("chromium is not on the PATH: python -m tests.browser install")
    return found


class Tab:
    """A page in a browser."""

    def __init__(self, socket: websocket.WebSocket) -> None:
        self._socket = socket
        self._number = 0
        self.events: list[dict[str, Any]] = []

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Call a method of the protocol; keep the events that come before its answer."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        self._socket.send(json.dumps(message))
        while True:
            found = json.loads(self._socket.recv())
            if found.get("id") != self._number:
                self.events.append(found)
            elif "error" in found:
                raise RuntimeError(f"{method}: {found['error']}")
            else:
                return found["result"]

    def open(self, url: str) -> Self:
        """Load a page, and wait until it is complete."""
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.call("Page.navigate", url=url)
        deadline = time.monotonic() + _WITHIN_S
        expected = f"complete{url.partition(':')[0]}:"
        while self.evaluate("document.readyState + location.protocol") != expected:
            assert time.monotonic() < deadline, "the page did not load"
            time.sleep(0.05)
        return self

    def evaluate(self, expression: str) -> Any:
        """Return the value of an expression in the page."""
        found = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        return found["result"].get("value")

    def wait(self, condition: str) -> None:
        """Wait until an expression in the page, or what it promises, is true."""
        deadline = time.monotonic() + _WITHIN_S
        while True:
            found = self.call(
                "Runtime.evaluate", expression=condition, returnByValue=True, awaitPromise=True
            )
            if found["result"].get("value"):
                return
            assert time.monotonic() < deadline, f"it did not happen: {condition}"
            time.sleep(0.05)

    def centre(self, selector: str) -> tuple[float, float]:
        """Return the middle of the first element that a selector finds, and scroll to it."""
        x, y = self.evaluate(
            f"""(() => {{
                const found = document.querySelector({json.dumps(selector)});
                found.scrollIntoView({{ block: "center", behavior: "instant" }});
                const box = found.getBoundingClientRect();
                return [box.x + box.width / 2, box.y + box.height / 2];
            }})()"""
        )
        return x, y

    def move(self, x: float, y: float) -> None:
        """Move the pointer."""
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def click(self, x: float, y: float) -> None:
        """Press and release the left button."""
        self.move(x, y)
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def key(self, key: str) -> None:
        """Press and release a key: Tab or Enter."""
        code = {"Tab": 9, "Enter": 13}[key]
        text = {"text": "\r"} if key == "Enter" else {}
        known = {"key": key, "code": key, "windowsVirtualKeyCode": code}
        self.call("Input.dispatchKeyEvent", type="keyDown", **known, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", **known)

    def look(self, width: int, scheme: str = "light") -> None:
        """Give the page a width and a colour scheme."""
        screen = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        self.call("Emulation.setDeviceMetricsOverride", **screen)
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.call("Emulation.setEmulatedMedia", features=features)

    def picture(self) -> bytes:
        """Return the whole page as PNG."""
        found = self.call("Page.captureScreenshot", captureBeyondViewport=True)
        return base64.b64decode(found["data"])

    def printed(self) -> bytes:
        """Return the page as PDF."""
        found = self.call("Page.printToPDF", preferCSSPageSize=True, printBackground=False)
        return base64.b64decode(found["data"])

    def complaints(self) -> list[str]:
        """Return what the console shows: errors, warnings and uncaught exceptions."""
        names = ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded")
        return [str(each["params"]) for each in self.events if each.get("method") in names]

    def requests(self) -> list[str]:
        """Return the addresses that were asked for."""
        name = "Network.requestWillBeSent"
        asked = [each["params"] for each in self.events if each.get("method") == name]
        return [each["request"]["url"] for each in asked]


@contextmanager
def browser() -> Iterator[Tab]:
    """Yield a tab of a browser with an empty profile, which is ended and removed afterwards."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        process = subprocess.Popen(
            [chromium(), *_FLAGS, f"--user-data-dir={folder}", "about:blank"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            address = f"ws://127.0.0.1:{_port(Path(folder), process)}"
            socket = websocket.create_connection(_page_of(address), timeout=_WITHIN_S)
            yield Tab(socket)
            socket.close()
        finally:
            process.terminate()
            process.wait(timeout=20)


def _port(folder: Path, process: subprocess.Popen[bytes]) -> int:
    deadline = time.monotonic() + _WITHIN_S
    file = folder / "DevToolsActivePort"
    while not (file.exists() and "\n" in file.read_text()):
        assert process.poll() is None, "the browser has ended"
        assert time.monotonic() < deadline, "the browser did not start"
        time.sleep(0.05)
    return int(file.read_text().split("\n", 1)[0])


def _page_of(address: str) -> str:
    with urllib.request.urlopen(f"{address.replace('ws:', 'http:')}/json/list") as answer:
        (page,) = [each for each in json.load(answer) if each["type"] == "page"]
    return str(page["webSocketDebuggerUrl"])


def photograph(page: Path, folder: Path) -> None:
    """Write pictures of a page into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    with browser() as tab:
        tab.open(page.resolve().as_uri())
        for width in WIDTHS:
            for scheme in ("light", "dark"):
                tab.look(width, scheme)
                (folder / f"{width}-{scheme}.png").write_bytes(tab.picture())
        (folder / "printed.pdf").write_bytes(tab.printed())
        print("\n".join(tab.complaints()))


if __name__ == "__main__":
    if sys.argv[1:] == ["install"]:
        print(need("chromium", "chromium"))
    else:
        photograph(Path(sys.argv[1]), Path(sys.argv[2]))
