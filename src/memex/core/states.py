"""How something is, by the kind of it: a colour and a fault of one car are both so, two colours of it are not."""

from __future__ import annotations

from .fold import canonical
from .patterns import lazy
from .signs import Signs

__all__ = ["COLOUR", "unlike"]

COLOUR = lazy(
    canonical(
        r"(?:(?:light|dark|bright|pale|deep|sky|navy|royal|baby|off|hot|lime|forest|mint)[ -])?"
        r"(?:red|blue|green|yellow|black|white|gr[ae]y|brown|blonde?|pink|purple|orange|silver|gold(?:en)?|"
        r"beige|navy|teal|turquoise|violet|cream|maroon|crimson|olive|tan|ivory|cyan|magenta|bronze|lilac)|"
        r"[深浅]?[红蓝绿黄黑白灰棕褐粉紫橙银金青]的?|[\u3400-\u9fff]{1,3}色的?|[黒白赤青黄緑茶紫紺]い?|[\u3400-\u9fff]{1,3}色い?|"
        r"ピンク|オレンジ|グレー|ベージュ|ネイビー|シルバー|ゴールド|ブルー|レッド|グリーン|ブラック|ホワイト|パープル|ブラウン"
    )
)
# Kinds whose words are few; of one kind one holds at a time.
_KINDS: dict[str, Signs] = {
    "fault": Signs(
        r"^(?:broken|lost|stolen|damaged|dirty|dead|missing|fixed|repaired|out of order|down|"
        r"(?:at|in) (?:the|a) (?:garage|shop|workshop)|(?:in|under|being) (?:repair\w*|maintenance))\b",
        r"坏|丢了|修[好理着]|脏|故障|没电|被偷",
        r"壊れ|故障|修理|汚れ|紛失|盗まれ|なくし",
    ),
    "size": Signs(
        r"^(?:long|short|tall|big|small|large|huge|tiny|wide|narrow|curly|straight)$",
        r"^[长短大小高矮宽窄卷直]的?$",
        r"^(?:長い?|短い?|大きい?|小さい?|高い?|低い?|広い?|狭い?)$",
    ),
    "speed": Signs(r"^(?:slow|fast|quick)$", r"^[快慢]的?$", r"^(?:速い?|遅い?)$"),
    "age": Signs(r"^(?:new|old|brand new|used)$", r"^[新旧老]的?$", r"^(?:新しい|古い)$"),
    "access": Signs(
        r"^(?:open|closed|shut|locked|unlocked)$", r"^(?:开|关|锁)[着了]?的?$", r"^(?:開い|閉ま|閉じ)て(?:いる|います)$"
    ),
}
_DEGREE = lazy(
    canonical(
        r"^(?:(?:very|quite|so|too|really|rather|pretty|a bit|all|completely|still|already) )+|"
        r"^(?:很|非常|太|特别|有点|已经)+|"
        r"^(?:とても|すごく|少し|かなり|もう)+| now$|了$|(?:です|だ|になりました)$"
    )
)


def unlike(new: str, old: str) -> bool:
    """Whether two folded phrases say of one thing how it is in ways that do not exclude each other.

    Beside a colour anything else holds; a new fault leaves what was said before, what comes after one may end it.
    """
    now, was = (_kind(_DEGREE.sub("", side.strip())) for side in (new, old))
    return now != was and (None not in {now, was} or "colour" in {now, was} or now == "fault")


def _kind(phrase: str) -> str | None:
    if COLOUR.fullmatch(phrase):
        return "colour"
    return next((kind for kind, signs in _KINDS.items() if signs.search(phrase)), None)
