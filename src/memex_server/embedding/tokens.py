"""From text to windows of token ids: the two kinds of tokenizer that the bundled models have."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol

from memex.protocol.errors import SetupError

from .base import encodable

__all__ = ["Tokenizer", "UnigramTokenizer", "WordPieceTokenizer", "windows"]


class Tokenizer(Protocol):
    """Splits a text into ids of the model's vocabulary, without special tokens."""

    @property
    def start(self) -> int:
        """The id that opens every window."""

    @property
    def end(self) -> int:
        """The id that closes every window."""

    def ids(self, text: str) -> list[int]:
        """Return the ids of `text`."""


class UnigramTokenizer:
    """SentencePiece Unigram.

    The `sentencepiece` library holds a vocabulary of 250,000 pieces in a fifth of the memory that
    `tokenizers` needs for it (54 against 281 MB), which is most of what a service may use.
    """

    def __init__(self, path: Path) -> None:
        import sentencepiece

        self._processor = sentencepiece.SentencePieceProcessor(model_file=str(path))
        self.start = int(self._processor.bos_id())
        self.end = int(self._processor.eos_id())

    def ids(self, text: str) -> list[int]:
        """Return the ids of `text`; letters and their accents are composed first, as the model was trained."""
        return list(self._processor.encode(unicodedata.normalize("NFC", text)))


class WordPieceTokenizer:
    """BERT's WordPiece, from a `tokenizer.json`."""

    def __init__(self, path: Path) -> None:
        import tokenizers

        self._tokenizer = tokenizers.Tokenizer.from_file(str(path))
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self.start = self._special("[CLS]")
        self.end = self._special("[SEP]")

    def ids(self, text: str) -> list[int]:
        """Return the ids of `text`."""
        return list(self._tokenizer.encode(text, add_special_tokens=False).ids)

    def _special(self, token: str) -> int:
        found = self._tokenizer.token_to_id(token)
        if found is None:
            raise SetupError(f"the tokenizer has no token {token}")
        return int(found)


def windows(tokenizer: Tokenizer, prefix: str, text: str, max_tokens: int) -> Iterator[list[int]]:
    """Yield the token windows that together cover `text`, each of at most `max_tokens` with prefix and specials.

    Windows of one text are of equal length (give or take one token), so that the last is no sliver
    whose few words would weigh as a text of their own. Each starts with the prefix.
    """
    head = tokenizer.ids(prefix) if prefix else []
    body = tokenizer.ids(prefix + encodable(text))
    if body[: len(head)] == head:
        body = body[len(head) :]
    else:
        head = []  # the text melts into the prefix's last token
    room = max_tokens - len(head) - 2
    count = max(1, -(-len(body) // room))
    for index in range(count):
        part: Sequence[int] = body[index * len(body) // count : (index + 1) * len(body) // count]
        yield [tokenizer.start, *head, *part, tokenizer.end]
