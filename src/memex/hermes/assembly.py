"""Puts the parts of the agent's side together from its settings; provider, CLI and cron job share it."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from ..backend.local import LocalBackend
from ..backend.remote import RemoteBackend
from ..config import Config, read_env_file
from ..extract.lm import Ask, Endpoint, FirstThatWorks, LmExtractor, chat_answer, chat_request
from ..extract.pipeline import Pipeline
from ..extract.queue import Queue
from ..extract.rules import Rules
from ..extract.types import Extractor, FactDraft, Said
from ..matrix.lcm import Conversations
from ..protocol.backend import Backend
from ..protocol.errors import MemexError, SetupError, Unavailable
from ..protocol.wire import Request
from ..transport.http import HttpTransport, base_url_of
from ..transport.retry import NO_RETRY, Retry
from . import host
from .model import hermes_endpoint, read_auth

__all__ = ["Parts", "assemble", "make_extractor", "make_planner", "open_backend", "open_queue"]


@dataclass(frozen=True, slots=True)
class Parts:
    """What a provider or a command works with."""

    config: Config
    backend: Backend
    queue: Queue
    pipeline: Pipeline
    planner: Extractor | None  # the host's model, where it can be asked from this process
    extracts_here: bool  # whether turns are queued for extraction, not left to the backend

    def polish(self, content: str) -> FactDraft | None:
        """Have the model name keywords and topic of one fact; None if it cannot."""
        if self.planner is None:
            return None
        try:
            drafts = self.planner.extract([Said("user", content)])
        except MemexError:
            return None
        return drafts[0] if drafts else None

    def close(self) -> None:
        """Close the backend."""
        self.backend.close()


def assemble(config: Config, environ: Mapping[str, str], *, retry: Retry = NO_RETRY) -> Parts:
    """Build everything; no file is opened and nothing is asked yet.

    Raises:
        SetupError: no backend is to be asked, and why.
    """
    backend = open_backend(config, retry=retry)
    queue = open_queue(config)
    extractor = make_extractor(config, environ)
    planner = make_planner(config)
    pipeline = Pipeline(
        queue,
        backend,
        extractor=extractor,
        planner=planner or extractor,
        source_type=config.source_type,
        clock=_now,
    )
    return Parts(config, backend, queue, pipeline, planner, extractor is not None)


def open_backend(config: Config, *, retry: Retry = NO_RETRY) -> Backend:
    """Return the backend that the settings name.

    Raises:
        SetupError: none is to be asked, and why.
    """
    if config.off_reason:
        raise SetupError(f"no memory backend: {config.off_reason}")
    if config.backend_kind == "local":
        return LocalBackend(config.database_path, conversations=Conversations(config.lcm_database_path))
    transport = HttpTransport(base_url_of(config.api_url, name="MEMORY_API_URL"), token=config.api_token)
    return RemoteBackend(transport, credential="MEMORY_API_TOKEN", timeout_s=config.api_timeout_s, retry=retry)


def open_queue(config: Config) -> Queue:
    """Return the queue of work."""
    return Queue(config.queue_path, clock=_now, new_id=lambda: uuid.uuid4().hex)


def make_extractor(config: Config, environ: Mapping[str, str]) -> Extractor | None:
    """Return the executor for turns; None leaves them to the backend (`remote`)."""
    kind = config.extract_backend
    if kind == "remote":
        return None
    if kind == "rules":
        return Rules()
    if kind == "session_lm":
        return _session_lm(config, "memory_extract", config.extract_timeout_s) if host.has_model() else None
    if kind == "http_lm":
        return _http_lm(config, environ)
    chain: list[Extractor] = []
    if config.extract_lm_url or config.extract_lm_source == "hermes":
        chain.append(_http_lm(config, environ))
    if host.has_model():
        chain.append(_session_lm(config, "memory_extract", config.extract_timeout_s))
    return FirstThatWorks([*chain, Rules()])


def make_planner(config: Config) -> Extractor | None:
    """Return who makes facts of a whole conversation: the host's model, where there is one."""
    if config.lm_plan == "off" or not host.has_model():
        return None
    return _session_lm(config, "memory_plan", config.lm_plan_timeout_s)


def _session_lm(config: Config, task: str, timeout_s: float) -> Extractor:
    return LmExtractor("session_lm", _host_ask(task, timeout_s), max_chars=config.lm_plan_max_chars)


def _http_lm(config: Config, environ: Mapping[str, str]) -> Extractor:
    def ask(chat: Sequence[Mapping[str, str]]) -> str:
        endpoint = _endpoint(config, environ)
        url, headers, body = chat_request(endpoint, chat)
        base, _, path = url.rpartition("/chat/")
        request = Request(operation="chat", method="POST", path=f"/chat/{path}", body=body, headers=headers)
        transport = HttpTransport(base_url_of(base, name="MEMEX_EXTRACT_LM_URL"))
        answer = transport.send(request, timeout_s=config.extract_timeout_s)
        return chat_answer(answer.status, answer.body)

    return LmExtractor("http_lm", ask, max_chars=config.lm_plan_max_chars)


def _endpoint(config: Config, environ: Mapping[str, str]) -> Endpoint:
    """Return where `http_lm` asks; looked up for each call, since Hermes' settings may change."""
    if config.extract_lm_source == "plugin":
        if not config.extract_lm_url or not config.extract_lm_model:
            raise SetupError("http_lm needs MEMEX_EXTRACT_LM_URL and MEMEX_EXTRACT_LM_MODEL")
        return Endpoint(config.extract_lm_url, config.extract_lm_model, config.extract_lm_key)
    try:
        settings = host.read_yaml(config.home / "config.yaml")
        env = {**environ, **read_env_file(config.home / ".env")}
    except (OSError, ValueError) as e:
        raise SetupError(str(e)) from e
    return hermes_endpoint(settings, read_auth(config.home), env)


def _host_ask(task: str, timeout_s: float) -> Ask:
    """Return how the host's model is asked within a total deadline; the host's own limit is for one attempt."""

    def ask(chat: Sequence[Mapping[str, str]]) -> str:
        answers: list[str] = []
        errors: list[Exception] = []

        def call() -> None:
            try:
                answers.append(host.call_model(task, chat, timeout_s))
            except Exception as e:  # noqa: BLE001 - whatever SDK the host uses raises
                errors.append(e)

        host.in_context(call, f"memex-{task}").join(timeout_s)
        if answers:
            return answers[0]
        reason = f"{type(errors[0]).__name__}: {errors[0]}" if errors else f"no answer within {timeout_s:g} s"
        raise Unavailable(f"the host's model: {reason}")

    return ask


def _now() -> datetime:
    return datetime.now(UTC)
