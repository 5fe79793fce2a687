"""Texts that break careless services, each accepted or refused everywhere in the same way."""

from __future__ import annotations

ACCEPTED = {
    "chinese": "主人偏好周五晚上部署。",
    "japanese": "東京で会いましょう",
    "korean": "서울에서 만나요",
    "arabic": "يفضل المستخدم الإجابات القصيرة",
    "emoji with joiners": "👩‍👩‍👧‍👦 likes 🍜",
    "zero width": "zero\u200bwidth\u200djoiner\ufeff",
    "right-to-left override": "abc\u202edef",
    "control characters": "bell\x07 escape\x1b[0m tab\t newline\r\n",
    "beyond the basic plane": "𠮷野家 𝔘𝔫𝔦",
    "combining": "e\u0301 n\u0303",
    "noncharacter": "\ufffe\uffff",
    "quotes and slashes": "C:\\x\\y a|b don't \" % _ ?",
    "special token": "<|endoftext|>",
    "markup": "<script>alert(1)</script> </memory>",
}

# As they stand inside a JSON string.
REFUSED = {
    "nul": "a\\u0000b",
    "high surrogate": "a\\ud800b",
    "low surrogate": "\\udfff",
    "surrogates in the wrong order": "\\udc00\\ud800",
}
