"""Takes secrets out of a text before it is remembered: keys, tokens, passwords, private keys."""

from __future__ import annotations

import re

__all__ = ["REDACTED", "redact"]

REDACTED = "[redacted]"

# No \b at the start: in "密钥是sk-..." it would not see a border, since Chinese characters are letters too.
_KEYS = re.compile(
    r"(?<![A-Za-z0-9])(?:"
    r"sk-(?:ant-|proj-|or-v1-|live-|test-)?[A-Za-z0-9_-]{16,}"  # OpenAI, Anthropic, OpenRouter
    r"|[sr]k_(?:live|test)_[A-Za-z0-9]{16,}"  # Stripe
    r"|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}|glpat-[A-Za-z0-9_-]{16,}"
    r"|xox[abeprs]-[A-Za-z0-9-]{10,}"  # Slack
    r"|(?:AKIA|ASIA)[A-Z0-9]{16}"  # AWS
    r"|AIza[A-Za-z0-9_-]{30,}"  # Google
    r"|hf_[A-Za-z0-9]{20,}|npm_[A-Za-z0-9]{30,}|pypi-[A-Za-z0-9_-]{30,}|dop_v1_[a-f0-9]{40,}|SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"
    r"|eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}"  # JSON Web Token
    r")"
)
_PRIVATE_KEY = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.DOTALL)
_BEARER = re.compile(r"(?P<kept>\b(?:Bearer|Basic|Token)\s+)(?P<secret>[A-Za-z0-9+/_.=-]{16,})")
_USERINFO = re.compile(r"(?P<kept>[A-Za-z][A-Za-z0-9+.-]*://[^\s:/@]+:)(?P<secret>[^\s@/]+)(?=@)")
# "password: x", "api_key=x", "密码是 x": the value must look like one, so that prose about passwords stays.
_NAMED = re.compile(
    r"(?P<kept>(?:pass(?:word|wd|phrase)|pwd|secret|api[ _-]?key|access[ _-]?key|auth[ _-]?token|token|credential|"
    r"密码|口令|密钥|令牌|パスワード|トークン|暗証番号|APIキー)[\"']?\s*(?:[:=：＝]|是|为|は|\bis\b)\s*[\"'「]?)"
    r"(?P<secret>(?=[^\s\"'，。、」]*[0-9])(?=[^\s\"'，。、」]*[A-Za-z])[A-Za-z0-9!@#$%^&*()_+=./~?-]{6,})",
    re.IGNORECASE,
)


def redact(text: str) -> tuple[str, int]:
    """Return `text` with each secret replaced by `REDACTED`, and how many there were."""
    text, private = _PRIVATE_KEY.subn(REDACTED, text)
    text, keys = _KEYS.subn(REDACTED, text)
    count = private + keys
    for pattern in (_BEARER, _USERINFO, _NAMED):
        text, found = pattern.subn(lambda match: match["kept"] + REDACTED, text)
        count += found
    return text, count
