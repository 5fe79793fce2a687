"""What is no message is told so; what is one, the SDK can read."""

from __future__ import annotations

import json
from typing import Any

import pytest
from mcp_types import jsonrpc_message_adapter

from memex_server.mcp.messages import refusal_of


def _call(argument: str) -> str:
    return f'{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{{"name":"x","arguments":{{"a":{argument}}}}}}}'


@pytest.mark.parametrize(
    ("text", "code", "request_id"),
    [
        ("", -32700, None),
        ("hello", -32700, None),
        ("\ufffd", -32700, None),
        ('{"jsonrpc": "2.0", "id": 7', -32700, None),
        ("[" * 100_000, -32700, None),
        (_call("9" * 5_000), -32700, None),
        ("[]", -32600, None),
        ('[{"jsonrpc":"2.0","id":7,"method":"ping"}]', -32600, None),
        ('"ping"', -32600, None),
        ("{}", -32600, None),
        ('{"jsonrpc":"1.0","id":7,"method":"ping"}', -32600, None),
        ('{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600, None),
        ('{"jsonrpc":"2.0","id":true,"method":"ping"}', -32600, None),
        ('{"jsonrpc":"2.0","id":7,"method":5}', -32600, 7),
        ('{"jsonrpc":"2.0","id":7}', -32600, 7),
        ('{"jsonrpc":"2.0","id":"七","method":"ping","params":[1]}', -32602, "七"),
        (_call('"\\ud800"'), -32602, 7),
        (_call("[" * 300 + "]" * 300), -32602, 7),
    ],
)
def test_what_is_no_message_is_answered_with_its_id_where_there_is_one(text: str, code: int, request_id: Any) -> None:
    refusal = refusal_of(text)
    assert refusal is not None
    assert (refusal["jsonrpc"], refusal["id"], refusal["error"]["code"]) == ("2.0", request_id, code)
    assert json.dumps(refusal)


@pytest.mark.parametrize(
    "text",
    [
        '{"jsonrpc":"2.0","id":"a","method":"ping"}',
        '{"jsonrpc":"2.0","id":1,"method":"ping","params":null}',
        '{"jsonrpc":"2.0","method":"notifications/initialized","params":{}}',
        '{"jsonrpc":"2.0","id":1,"result":{}}',
        '{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"x"}}',
        _call("[" * 90 + "]" * 90),
        _call('"' + "[" * 300 + '部署 メモ 😀 \\u0000"'),
    ],
)
def test_what_is_a_message_the_sdk_reads_too(text: str) -> None:
    assert refusal_of(text) is None
    assert jsonrpc_message_adapter.validate_json(text).jsonrpc == "2.0"
