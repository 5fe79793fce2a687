"""Takes secrets out of a text before it is remembered: keys, tokens, passwords, private keys."""

from __future__ import annotations

import re

from .patterns import lazy

__all__ = ["REDACTED", "redact"]

REDACTED = "[redacted]"

# No \b at the start: in "密钥是sk-..." it would not see a border, since Chinese characters are letters too.
_KEYS = lazy(
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
_PRIVATE_KEY = lazy(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.DOTALL)
_BEARER = lazy(r"(?P<kept>\b(?:Bearer|Basic|Token)\s+)(?P<secret>[A-Za-z0-9+/_.=-]{16,})")
_USERINFO = lazy(
    r"(?P<kept>(?<![A-Za-z0-9+.-])[A-Za-z][A-Za-z0-9+.-]{0,30}://[^\s:/@]{1,256}:)(?P<secret>[^\s@/]{1,1024})(?=@)"
)
# "password: x", "api_key=x", "密码是 x": the value must look like one, so that prose about passwords stays.
_NAMED = lazy(
    r"(?P<kept>(?:pass(?:word|wd|phrase)|pwd|secret|api[ _-]?key|access[ _-]?key|auth[ _-]?token|token|credential|"
    r"密码|口令|密钥|令牌|パスワード|トークン|暗証番号|APIキー)[\"']?\s*(?:(?:是|为|は|\bis\b)?\s*[:=：＝]|是|为|は|\bis\b)\s*[\"'「]?)"
    r"(?P<secret>(?=[^\s\"'，。、」]{0,100}[0-9])(?=[^\s\"'，。、」]{0,100}[A-Za-z])[A-Za-z0-9!@#$%^&*()_+=./~?-]{6,})",
    re.IGNORECASE,
)
# "pw x", "with pass x", "password was changed to x": said in passing, so that x must have letters and digits or signs.
_LETTERS_AND_MORE = r"(?=[^\s,;，。、]{0,100}[0-9!@#$%^&*+=~])(?=[^\s,;，。、]{0,100}[A-Za-z])[A-Za-z0-9!@#$%^&*()_+=./~?-]{5,}[A-Za-z0-9!@#$%^&*+=~]"
_IN_PASSING = lazy(
    r"(?P<kept>(?:\b(?:pw|pwd|passwd|password|passcode)(?: is)?\s+|\b(?:with|and|using|by)(?: the)? pass(?:phrase)?\s+|[,;] ?pass\s+|"
    r"\b(?:pass(?:word|phrase|code|wd)|pwd|secret)(?: [\w' -]{1,30}?)? (?:(?:re)?set|changed|updated|rotated|switched)(?: back)? to\s+|"
    r"(?:密码|口令|密钥)[^,，。]{0,8}?(?:改成|改为|换成|设为|设成|变成)了?\s*|(?:パスワード|暗証番号)[をは]\s*)[\"'「]?)"
    rf"(?P<secret>{_LETTERS_AND_MORE})(?=[\"'」]?(?:\s*(?:$|[,.;!?，。、；)\n])|[^\x00-\x7f]))",
    re.IGNORECASE,
)


# The secret half of an AWS key looks like anything in base64: what stands around it tells.
_AWS_SECRET = lazy(
    r"(?<![A-Za-z0-9/+=])(?=[A-Za-z0-9/+]{0,39}[a-z])(?=[A-Za-z0-9/+]{0,39}[A-Z])(?=[A-Za-z0-9/+]{0,39}[0-9])"
    r"[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=])"
)
_AWS = lazy(
    r"(?:AKIA|ASIA)[A-Z0-9]{16}|\baws|amazon|secret|access[ _-]?key|密钥|秘钥|アクセスキー|シークレット", re.IGNORECASE
)
_AROUND_CHARS = 100
# A password of words or of digits: what is said to be one, and does not read like a sentence about it.
_WORD = r"[A-Za-z0-9!@#$%^&*_+=~-][A-Za-z0-9'!@#$%^&*_+=~-]*"
_WORDS = rf"{_WORD}(?:[ \t]+{_WORD}){{0,9}}"
# Words of Han or kana with spaces between them, as nobody writes a sentence.
_CJK = "[\u3041-\u30ff\u3400-\u9fff]{1,8}"
_SPACED = rf"{_CJK}(?:[ \u3000](?:{_CJK}|\d{{1,12}})){{1,9}}?"
_PHRASE = lazy(
    r"(?P<kept>(?:\b(?:pass(?:word|phrase|code|wd)|pwd|(?P<pin>pin(?: code)?))(?: (?:for|of|to|on) [\w' -]{1,30}?)?\s*(?:[:=]|\bis\b(?: now)?:?)|"
    r"(?:密码|口令|暗号)\s*(?:(?:就?是|改成了?|为)?\s*[:=：＝]|就?是|改成了?|为)|(?:パスワード|パスフレーズ|暗証番号|合言葉)\s*(?:は?[:=：＝]|は、?))\s*)"
    rf"(?:(?P<open>[\"'“「『])(?P<quoted>[^\"'”」』\n]{{3,80}})[\"'”」』]|(?P<secret>{_WORDS}|{_SPACED}|[\u3041-\u30ff\u3400-\u9fff]{{2,15}}?)"
    r"(?=\s*(?:[,.;!?，。、；！？)\n]|$|(?:です|だよ?|でした)(?:[。、!！\n]|$))))",
    re.IGNORECASE,
)
_GOES_ON = lazy(r"\s(?:and|but|so|because|which|if|for|on the|at the|in case|please|thanks)\s.*", re.IGNORECASE)
# With one of these it is a sentence about a password.
_PROSE = lazy(
    r"\b(?:in|on|at|by|to|of|the|an?|is|are|was|with|from|as|it|this|that|these|every|each|not|no|than|be|been|being|i|you|we|they|my|your|"
    r"our|his|her|their|when|where|what|how|why|too|very|also|still|only|always|never|must|should|can|will|has|have|same|one|quite|pretty|rather|really|now|so|already|currently|extremely|"
    r"characters?|chars|letters?|digits?|minutes?|hours?|days?|weeks?|months?|case[- ]sensitive|up|out|next|last|ago|just|"
    r"\w+(?:ed|ing))\b",
    re.IGNORECASE,
)
_ABOUT = lazy(
    r"(?:\w+(?:able|ible|ful|ous|ant|ent|ive|less|ate|ic|al|ly|er|est)|wrong|right|correct|secret|weak|strong|long|short|easy|hard|"
    r"safe|secure|simple|complex|empty|blank|null|none|unknown|known|hidden|public|private|required|ok|okay|fine|good|bad|old|new|"
    r"valid|invalid|unique|here|there|below|above|set|reset|gone|lost|enough|important|ready|free|stale|due|tbd|written|sent|kept|held|pending|(?:see|ask|check|find|use|enter|type|change) .+)",
    re.IGNORECASE,
)
_PROSE_CJK = lazy(
    r"[的了吗呢么什啥哪存放在必需要不没被由从每请可能会应该错对空过期换改同样和跟与我你他她位个随默长短强弱]|加密|"
    r"[はがをでへ]|に[^ら]|必須|必要|秘密|安全|危険|無効|有効|正し|間違|同じ|文字|以[上下]|任意|共通|変更|暗号|期限|初期|デフォルト|"
    r"強力|弱い|長い|短い|簡単|複雑|何|どこ|これ|それ|次|下記|ない|なし|毎|設定|管理"
)


def redact(text: str) -> tuple[str, int]:
    """Return `text` with each secret replaced by `REDACTED`, and how many there were."""
    count = 0

    def aws(match: re.Match[str]) -> str:
        nonlocal count
        around = text[max(0, match.start() - _AROUND_CHARS) : match.end() + _AROUND_CHARS]
        if not _AWS.search(around.replace(match.group(), " ")):
            return match.group()
        count += 1
        return REDACTED

    def phrase(match: re.Match[str]) -> str:
        nonlocal count
        name = "secret" if match["quoted"] is None else "quoted"
        secret = _GOES_ON.sub("", match[name]) if name == "secret" else match[name]
        if name == "secret" and (_reads_like_prose(secret) or (match["pin"] and not secret.isdigit())):
            return match.group()
        count += 1
        start = match.start(name) - match.start()
        return match.group()[:start] + REDACTED + match.group()[start + len(secret) :]

    text, private = _PRIVATE_KEY.subn(REDACTED, text)
    text = _AWS_SECRET.sub(aws, text)
    text, keys = _KEYS.subn(REDACTED, text)
    count += private + keys
    for pattern in (_BEARER, _USERINFO, _NAMED, _IN_PASSING):
        text, found = pattern.subn(lambda match: match["kept"] + REDACTED, text)
        count += found
    return _PHRASE.sub(phrase, text), count


def _reads_like_prose(told: str) -> bool:
    """Whether what is said to be a password is rather said about one."""
    if re.fullmatch(_SPACED, told):
        told = re.sub("[ \u3000][的の](?=[ \u3000])", "", told)  # of words that stand alone it joins two
    if not told.isascii():
        return _PROSE_CJK.search(told) is not None
    if told.isdigit():
        return len(told) < 4
    if _PROSE.search(told):
        return True
    return len(told) < 4 or _ABOUT.fullmatch(told) is not None
