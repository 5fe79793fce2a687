"""A Hermes folder, a remote backend that can be broken, and a model endpoint, all on loopback."""

from __future__ import annotations

import json
import os
import subprocess
import threading
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from memex.protocol.documents import record_document, store_result_document
from memex.protocol.models import LinkRequest, PreExtracted, RecallRequest, StoreRequest
from memex.provider import MemexProvider
from memex.testing import FakeBackend

__all__ = ["Model", "Service", "configure", "hermes_home", "in_host", "memory", "provider", "wait_for"]


def hermes_home(folder: Path, checkout: Path) -> Path:
    (folder / "plugins").mkdir(parents=True)
    (folder / "plugins" / "memex").symlink_to(checkout / "src" / "memex")
    return folder


def configure(home: Path, model: Model) -> None:
    """Have Hermes use the plugin, and the test's model for everything."""
    lines = [
        "model:",
        "  default: fake-model",
        "  provider: custom",
        f"  base_url: {model.url}/v1",
        "  api_key: sk-of-the-host",
    ]
    # What it would look up or fetch on the network otherwise.
    lines += ["  context_length: 64000", "security:", "  tirith_enabled: false"]
    (home / "config.yaml").write_text("\n".join([*lines, "memory:", "  provider: memex", ""]), encoding="utf-8")


def provider(
    home: Path, session_id: str = "s1", *, settings: Mapping[str, Any] | None = None, **kwargs: Any
) -> MemexProvider:
    """An initialised provider of this process, without Hermes around it."""
    home.mkdir(exist_ok=True)
    if settings:
        (home / "memex.json").write_text(json.dumps(settings), encoding="utf-8")
    made = MemexProvider(environ={})
    made.initialize(session_id, **{"hermes_home": str(home), "platform": "cli", "agent_context": "primary", **kwargs})
    return made


def memory(made: MemexProvider) -> Any:
    """What the provider has built."""
    assert made._memory is not None
    return made._memory


def wait_for(condition: Callable[[], bool], timeout_s: float = 10.0) -> None:
    """Wait until it holds; fail after the time."""
    deadline = time.monotonic() + timeout_s
    pause = threading.Event()
    while not condition():
        assert time.monotonic() < deadline, "it did not come to pass in time"
        pause.wait(0.01)


def in_host(python: Path, home: Path, program: str, *, timeout_s: float = 60, **env: str) -> str:
    """Run a program in Hermes' own environment; return what it printed."""
    done = subprocess.run(
        [python, "-P", "-c", program],
        cwd=home,
        env={"PATH": os.environ["PATH"], "HERMES_HOME": str(home), "HOME": str(home), "PYTHONUTF8": "1", **env},  # noqa: TID251
        capture_output=True,
        encoding="utf-8",
        timeout=timeout_s,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


class _Server:
    """An HTTP server in a thread that can go away and come back on the same port."""

    def __init__(self) -> None:
        self.port = 0
        self._server: ThreadingHTTPServer | None = None
        self.up()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.down()

    def up(self) -> None:
        answer = self.answer

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.do_POST()

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length") or 0))
                status, kind, data, headers = answer(self.path, dict(self.headers), body)
                try:
                    self.send_response(status)
                    for name, value in {"Content-Type": kind, "Content-Length": str(len(data)), **headers}.items():
                        self.send_header(name, value)
                    self.end_headers()
                    self.wfile.write(data)
                except OSError:
                    return  # the caller did not wait

            def log_message(self, *_: Any) -> None:
                return

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            block_on_close = False

        self._server = Server(("127.0.0.1", self.port), Handler)
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    def down(self) -> None:
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server = None

    def answer(self, path: str, headers: dict[str, str], body: bytes) -> tuple[int, str, bytes, dict[str, str]]:
        raise AssertionError(path)


class Service(_Server):
    """The unified protocol on a fake backend. `mode`: "" works; a status; "slow"; "garbage"."""

    def __init__(self) -> None:
        self.backend = FakeBackend(lambda: datetime.now(UTC))
        self.mode = ""
        self.token = "token-of-the-test"
        self.calls: list[str] = []
        self.released = threading.Event()
        super().__init__()

    @property
    def settings(self) -> dict[str, Any]:
        return {"backend_kind": "remote", "api_url": self.url}

    def texts(self) -> list[str]:
        return [record.content for record in list(self.backend.records.values())]

    def answer(self, path: str, headers: dict[str, str], body: bytes) -> tuple[int, str, bytes, dict[str, str]]:
        self.calls.append(path.rpartition("/")[2])
        if self.mode == "slow":
            self.released.wait(30)
        if self.mode == "garbage":
            return 200, "text/html", b"<html>\xff welcome to the router", {}
        if self.mode.isdecimal():
            return (
                int(self.mode),
                "application/json",
                b'{"success": false, "error": {"message": "broken"}}',
                {"Retry-After": "1"},
            )
        if headers.get("Authorization") != f"Bearer {self.token}":
            return 401, "application/json", b'{"success": false, "error": {"message": "who are you?"}}', {}
        data = self._carry_out(path.rpartition("/")[2], json.loads(body or b"{}"))
        return 200, "application/json", json.dumps({"success": True, "data": data, "message": ""}).encode(), {}

    def _carry_out(self, verb: str, body: dict[str, Any]) -> Any:
        if verb == "store":
            pre = body.pop("pre_extracted", None)
            when = datetime.fromisoformat(body.pop("occurred_at"))
            request = StoreRequest(**body, occurred_at=when, pre_extracted=PreExtracted(**pre) if pre else None)
            return store_result_document(self.backend.store(request))
        if verb == "recall":
            known = {k: body[k] for k in ("keywords", "query", "top_k", "mode") if k in body}
            return {"items": [record_document(r) for r in self.backend.recall(RecallRequest(**known)).records]}
        if verb == "get":
            return record_document(self.backend.get(body["memory_id"]))
        if verb == "link":
            return {"link_id": self.backend.link(LinkRequest(**body)).link_id}
        return {"status": "ok"}


class Model(_Server):
    """An OpenAI-compatible endpoint; `reply` makes the answer of a list of messages."""

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str] = []
        self.status = 200
        self.reply: Callable[[list[dict[str, Any]]], str] = lambda _: "[]"
        super().__init__()

    def answer(self, path: str, headers: dict[str, str], body: bytes) -> tuple[int, str, bytes, dict[str, str]]:
        if not path.endswith("/chat/completions"):
            return (
                200,
                "application/json",
                json.dumps({"object": "list", "data": [{"id": "fake-model", "object": "model"}]}).encode(),
                {},
            )
        request = json.loads(body)
        self.requests.append(request)
        self.keys.append(headers.get("Authorization", ""))
        if self.status != 200:
            return self.status, "application/json", b"{}", {}
        text = self.reply(request["messages"])
        about = {"id": "c1", "created": 1, "model": request.get("model", "")}
        if request.get("stream"):
            chunks: list[dict[str, Any]] = [
                {"delta": {"role": "assistant", "content": text}},
                {"delta": {}, "finish_reason": "stop"},
            ]
            events = [
                {**about, "object": "chat.completion.chunk", "choices": [{"index": 0, "finish_reason": None, **c}]}
                for c in chunks
            ]
            data = "".join(f"data: {json.dumps(e)}\n\n" for e in events) + "data: [DONE]\n\n"
            return 200, "text/event-stream", data.encode(), {}
        choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        answer = {**about, "object": "chat.completion", "choices": [choice], "usage": usage}
        return 200, "application/json", json.dumps(answer).encode(), {}
