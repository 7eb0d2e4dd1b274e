"""JSON from outside: what cannot be written again is not read."""

from __future__ import annotations

import pytest

from trimtab.live.action import check_answer
from trimtab.live.answers import parse
from trimtab.live.document import parse_document
from trimtab.live.failure import CallFailed
from trimtab.live.wire import Garbled

HUGE = [
    b'{"x": 1e999}', b'[-1E+400]', b"[1e0309]", b"[" + b"9" * 400 + b".0]", b"[" + b"9" * 250 + b"e99]",
    b'{"a": [{"b": 1e999}]}', b"[NaN]", b"[Infinity]",
]  # fmt: skip


@pytest.mark.parametrize("text", HUGE, ids=[each[:20].decode() for each in HUGE])
def test_a_number_beyond_a_double_is_refused_from_a_function_and_from_a_caller(text: bytes) -> None:
    with pytest.raises(Garbled, match="not finite"):
        check_answer(text)
    with pytest.raises(CallFailed, match="the body is not JSON"):
        parse(text)


@pytest.mark.parametrize("text", [b'{"x": 1e308}', b'{"x": 1e-999}', b'["1e999"]', b"[" + b"9" * 400 + b"]", b"[]"])
def test_others_pass(text: bytes) -> None:
    check_answer(text)
    assert parse_document(text) is not None


@pytest.mark.parametrize("text", [b"1", b'"text"', b"null", b"{", b""])
def test_an_answer_is_an_object_or_a_list(text: bytes) -> None:
    with pytest.raises(Garbled):
        check_answer(text)
