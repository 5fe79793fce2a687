"""The model endpoint that Hermes is configured with, for the executor `http_lm`: read, never written.

Hermes' own resolver would write to auth.json on the way, so this reads config.yaml, `.env` and
auth.json itself. A key goes only to the address that it belongs to.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from ..extract.lm import Endpoint
from ..protocol.errors import SetupError

__all__ = ["hermes_endpoint", "read_auth"]

# Providers with an OpenAI-compatible address: where it is, and which variables hold its key.
_KNOWN: dict[str, tuple[str, tuple[str, ...]]] = {
    "openrouter": ("https://openrouter.ai/api/v1", ("OPENROUTER_API_KEY",)),
    "opencode-go": ("https://opencode.ai/zen/go/v1", ("OPENCODE_GO_API_KEY",)),
    "openai-api": ("https://api.openai.com/v1", ("OPENAI_API_KEY",)),
    "lmstudio": ("http://127.0.0.1:1234/v1", ("LM_API_KEY",)),
    "zai": ("https://api.z.ai/api/paas/v4", ("GLM_API_KEY", "ZAI_API_KEY")),
}
_VARIABLE = re.compile(r"\$\{(\w+)\}")
_NO_KEY = {"", "no-key-required"}


def hermes_endpoint(config: Mapping[str, Any], auth: Mapping[str, Any], env: Mapping[str, str]) -> Endpoint:
    """Return the endpoint that config.yaml names, with its key from there, from `env` or from auth.json.

    Raises:
        SetupError: none is named that speaks chat completions.
    """
    section = config.get("model")
    model = _expanded(section if isinstance(section, Mapping) else {"default": section}, env)
    name = str(model.get("default") or model.get("model") or "")
    provider = str(model.get("provider") or "")
    if str(model.get("api_mode") or "chat_completions") != "chat_completions":
        raise SetupError("Hermes' model does not speak chat completions; set MEMEX_EXTRACT_LM_URL instead")
    for found in _places(config, model, provider, auth, env):
        if found.base_url and (found.model or name):
            return Endpoint(found.base_url, found.model or name, "" if found.key in _NO_KEY else found.key)
    raise SetupError("Hermes' config.yaml names no model endpoint that can be used; set MEMEX_EXTRACT_LM_URL instead")


def read_auth(home: Path) -> Mapping[str, Any]:
    """Return auth.json; {} if there is none or it is damaged."""
    try:
        found = json.loads((home / "auth.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _places(
    config: Mapping[str, Any], model: Mapping[str, Any], provider: str, auth: Mapping[str, Any], env: Mapping[str, str]
) -> Iterator[Endpoint]:
    """Yield what may be meant, the most explicit first."""
    base_url = str(model.get("base_url") or "")
    key = str(model.get("api_key") or model.get("api") or "")
    if base_url and key:
        yield Endpoint(base_url, "", key)
    custom = _custom(config, provider, env)
    if custom is not None:
        yield custom
    if provider in _KNOWN:
        address, variables = _KNOWN[provider]
        own = not base_url or _host(base_url) == _host(address)
        found = next((env[name] for name in variables if env.get(name)), "") if own else ""
        if found or provider == "lmstudio":
            yield Endpoint(base_url or address, "", found)
    pool = auth.get("credential_pool")
    entries = pool.get(provider, []) if isinstance(pool, Mapping) else []
    usable = [entry for entry in entries if isinstance(entry, Mapping) and entry.get("auth_type") == "api_key"]
    for entry in sorted(usable, key=lambda e: int(e.get("priority") or 0)):
        if entry.get("access_token") and entry.get("base_url"):
            yield Endpoint(str(entry["base_url"]), "", str(entry["access_token"]))
    if base_url:
        yield Endpoint(base_url, "", "")


def _custom(config: Mapping[str, Any], provider: str, env: Mapping[str, str]) -> Endpoint | None:
    name = provider.removeprefix("custom:")
    listed = config.get("custom_providers")
    named = [e for e in listed if isinstance(e, Mapping) and e.get("name") == name] if isinstance(listed, list) else []
    mapped = config.get("providers")
    if isinstance(mapped, Mapping) and isinstance(mapped.get(name), Mapping):
        named.append(mapped[name])
    for raw in named:
        entry = _expanded(raw, env)
        address = str(entry.get("base_url") or entry.get("api") or entry.get("url") or "")
        if address and str(entry.get("api_mode") or "chat_completions") == "chat_completions":
            key = str(entry.get("api_key") or env.get(str(entry.get("key_env") or ""), ""))
            return Endpoint(address, str(entry.get("model") or entry.get("default_model") or ""), key)
    return None


def _expanded(section: Mapping[str, Any], env: Mapping[str, str]) -> dict[str, Any]:
    """Return the section with `${VAR}` filled in; an unknown variable leaves nothing to send anywhere."""
    return {
        name: _VARIABLE.sub(lambda m: env.get(m[1], ""), value) if isinstance(value, str) else value
        for name, value in section.items()
    }


def _host(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""
