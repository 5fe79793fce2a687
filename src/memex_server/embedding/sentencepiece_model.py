"""Writes a Unigram vocabulary as a SentencePiece model file, in the protobuf wire format.

Field numbers are those of `sentencepiece_model.proto`. Writing the few fields by hand spares
the service a protobuf runtime.
"""

from __future__ import annotations

import struct
import unicodedata

from .e5_weights import Vocabulary

__all__ = ["sentencepiece_model"]

_VARINT, _BYTES, _FIXED32 = 0, 2, 5
_NORMAL, _UNKNOWN, _CONTROL = 1, 2, 3
_ERRORS_ONLY = 2


def sentencepiece_model(vocabulary: Vocabulary) -> bytes:
    """Return the model file: pieces in their order (so a piece's id is its place), trainer and normaliser.

    Special pieces are marked as control symbols, so that a text which contains `</s>` cannot
    smuggle one in.
    """
    controls = {vocabulary.bos, vocabulary.eos, vocabulary.pad, vocabulary.pieces.index("<mask>")}
    parts = []
    for index, (piece, score) in enumerate(zip(vocabulary.pieces, vocabulary.scores.tolist(), strict=True)):
        kind = _CONTROL if index in controls else _UNKNOWN if index == vocabulary.unk else _NORMAL
        message = _bytes_field(1, piece.encode()) + _tag(2, _FIXED32) + struct.pack("<f", score)
        parts.append(_bytes_field(1, message + _varint_field(3, kind)))
    parts.append(_bytes_field(2, _trainer(vocabulary)))
    parts.append(_bytes_field(3, _normaliser(vocabulary.characters)))
    return b"".join(parts)


def _trainer(vocabulary: Vocabulary) -> bytes:
    unigram = _varint_field(3, 1)
    specials = ((40, vocabulary.unk), (41, vocabulary.bos), (42, vocabulary.eos), (43, vocabulary.pad))
    return unigram + b"".join(_varint_field(number, value) for number, value in specials)


def _normaliser(characters: dict[str, str]) -> bytes:
    """Compile the character map into the form that SentencePiece reads."""
    import sentencepiece

    sentencepiece.set_min_log_level(_ERRORS_ONLY)
    compiled = sentencepiece.SentencePieceNormalizer(
        norm_map=sorted((_voiced_kana() | characters).items()),
        add_dummy_prefix=True,
        escape_whitespaces=True,
        remove_extra_whitespaces=True,
    )
    return bytes(compiled.serialized_normalizer_spec())


def _voiced_kana() -> dict[str, str]:
    """Half-width kana with a sound mark are two characters that read as one, which a map of single ones cannot say."""
    pairs = (chr(kana) + mark for kana in range(0xFF66, 0xFF9E) for mark in "\uff9e\uff9f")
    composed = {pair: unicodedata.normalize("NFKC", pair) for pair in pairs}
    return {pair: single for pair, single in composed.items() if len(single) == 1}


def _tag(number: int, wire_type: int) -> bytes:
    return _varint(number << 3 | wire_type)


def _varint_field(number: int, value: int) -> bytes:
    return _tag(number, _VARINT) + _varint(value)


def _bytes_field(number: int, value: bytes) -> bytes:
    return _tag(number, _BYTES) + _varint(len(value)) + value


def _varint(value: int) -> bytes:
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)
