"""Who extracts facts for the service: rules, or a model at a real endpoint with rules behind it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from memex.protocol.errors import SetupError, Unavailable
from memex.protocol.models import LmPolicy
from memex_server.extractors import ServiceExtractor, model_at
from tests.hermes.support import Model

SAID = "记住：我以后都在周五晚上部署。今天天气不错。"
ANSWER = '[{"content": "主人周五晚上部署", "keywords": ["周五"], "topic": "部署"}]'


@pytest.fixture
def model() -> Iterator[Model]:
    with Model() as endpoint:
        endpoint.reply = lambda _: ANSWER
        yield endpoint


def extractor(model: Model) -> ServiceExtractor:
    return ServiceExtractor(model_at(f"{model.url}/v1/", api_key="k1", model="small", deadline_s=5))


async def facts(by: ServiceExtractor, policy: LmPolicy, role: str = "user") -> list[str]:
    return [fact.content for fact in await by.extract(role, SAID, policy)]


async def test_without_a_model_rules_find_what_lasts(model: Model) -> None:
    by = ServiceExtractor()
    assert by.has_model is False
    [fact] = await facts(by, LmPolicy.AUTO)
    assert "周五晚上部署" in fact
    assert await facts(by, LmPolicy.AUTO, role="assistant") == []


async def test_the_model_is_asked_with_its_key_and_its_answer_is_read(model: Model) -> None:
    by = extractor(model)
    assert by.has_model is True
    [fact] = await by.extract("user", SAID, LmPolicy.AUTO)
    assert (fact.content, list(fact.keywords), fact.topic) == ("主人周五晚上部署", ["周五"], "部署")
    assert (model.keys, model.requests[0]["model"]) == (["Bearer k1"], "small")
    assert SAID in model.requests[0]["messages"][-1]["content"]


async def test_rules_take_over_when_the_model_is_down_unless_it_is_insisted_on(model: Model) -> None:
    by = extractor(model)
    model.status = 500
    [fact] = await facts(by, LmPolicy.AUTO)
    assert "周五晚上部署" in fact
    with pytest.raises(Unavailable):
        await facts(by, LmPolicy.FORCE)


async def test_skip_asks_no_model(model: Model) -> None:
    await facts(extractor(model), LmPolicy.SKIP)
    assert model.requests == []


def test_an_endpoint_that_cannot_be_used_is_refused_by_its_setting() -> None:
    with pytest.raises(SetupError, match="LLM_BASE_URL"):
        model_at("localhost:1234", api_key="", model="m", deadline_s=1)
