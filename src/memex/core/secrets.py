"""Keys, tokens and passwords inside a text, masked before it is kept or sent anywhere."""

from __future__ import annotations

import re

__all__ = ["MASK", "mask_secrets"]

MASK = "[secret]"

# No `\b` in front: a key may stand directly after a Chinese character, which is a word character too.
_EDGE = r"(?<![A-Za-z0-9_])"
_KEYS = re.compile(
    rf"{_EDGE}(?:"
    r"sk-(?:[A-Za-z]+-)*[A-Za-z0-9_-]{16,}"  # OpenAI, Anthropic, OpenRouter
    r"|gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{40,}|glpat-[A-Za-z0-9_-]{20,}"
    r"|xox[abeoprs]-[A-Za-z0-9-]{10,}|AKIA[A-Z0-9]{16}|ASIA[A-Z0-9]{16}|AIza[A-Za-z0-9_-]{35}|hf_[A-Za-z0-9]{30,}"
    r"|npm_[A-Za-z0-9]{36}|pypi-[A-Za-z0-9_-]{50,}|eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{5,}"
    r")"
)
_PRIVATE_KEY = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.DOTALL)
_BEARER = re.compile(rf"({_EDGE}bearer\s+)[A-Za-z0-9._~+/=-]{{12,}}", re.IGNORECASE)
# user:password@ of an address
_ADDRESS = re.compile(r"(\b[a-z][a-z0-9+.-]*://[^\s:/@]+:)[^\s/@]+(?=@)", re.IGNORECASE)
# `password = hunter2`, `API_KEY: …`, `密码是…`, `パスワードは…`; a short word after "is" is prose
_NAMED = re.compile(
    r"((?:[A-Za-z0-9]*_)?(?:password|passwd|passphrase|api[_ -]?key|secret[_ -]?key|access[_ -]?token|auth[_ -]?token"
    r"|client[_ -]?secret)[\"']?\s*(?:[=:：]|\bis\b(?=\s+\S*\d))\s*[\"']?"
    r"|(?:密码|口令|密钥|パスワード|暗証番号)\s*(?:[=:：是为は]|です)\s*[\"'「“]?)"
    r"([A-Za-z0-9!@#$%^&*()_+=\[\]{};:,.<>/?~|\\-]{4,})",
    re.IGNORECASE,
)


def mask_secrets(text: str) -> str:
    """Return `text` with what looks like a secret replaced by `MASK`; the words around it stay."""
    text = _PRIVATE_KEY.sub(MASK, text)
    text = _KEYS.sub(MASK, text)
    for pattern in (_BEARER, _ADDRESS, _NAMED):
        text = pattern.sub(rf"\1{MASK}", text)
    return text
