"""One setting: a dataclass field with its documentation and limits, read from environment variables."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import field
from typing import Any

from memex.protocol.errors import SetupError

__all__ = ["env_names", "parse", "setting"]


def setting(
    default: Any,
    doc: str,
    *,
    name: str | None = None,
    bare: bool = False,
    least: float | None = None,
    most: float | None = None,
    choices: tuple[str, ...] = (),
    secret: bool = False,
) -> Any:
    """Return the dataclass field of a setting; `name` is what it is called in the environment, if not as the field."""
    return field(
        default=default,
        metadata={
            "doc": doc,
            "name": name,
            "bare": bare,
            "least": least,
            "most": most,
            "choices": choices,
            "secret": secret,
        },
    )


def env_names(f: dataclasses.Field[Any]) -> list[str]:
    """Return the variables that a setting is read from; the first that is there counts."""
    name = f.metadata["name"] or f.name.upper()
    return [f"MEMEX_{name}", name] if f.metadata["bare"] else [f"MEMEX_{name}"]


def parse(name: str, text: str, kind: type, meta: Mapping[str, Any]) -> Any:
    """Return the value that a variable holds. Raises SetupError, which names the variable and what is expected."""
    text = text.strip()
    if kind is str:
        if meta["choices"] and text not in meta["choices"]:
            raise SetupError(f"{name}={text!r}: expected one of {', '.join(meta['choices'])}")
        return text
    if kind is bool:
        lowered = text.lower()
        if lowered in {"1", "true", "yes", "on"}:
            return True
        if lowered in {"0", "false", "no", "off"}:
            return False
        raise SetupError(f"{name}={text!r}: expected true or false")
    try:
        value = kind(text)
    except ValueError as e:
        expected = "a whole number" if kind is int else "a number"
        raise SetupError(f"{name}={text!r}: expected {expected}") from e
    least, most = meta["least"], meta["most"]
    if not (least <= value <= most):  # also refuses nan
        raise SetupError(f"{name}={text!r}: expected {least} to {most}")
    return value
