"""The gate on the real model and a real database: kept, merged, superseded or skipped; retraction and its undoing."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from memex.core.lifecycle import Candidate, Remembered
from memex.core.memory import MemoryType, SearchMode, SearchRequest
from memex.protocol.errors import Conflict, InvalidInput, NotFound, Unavailable
from memex.testing import FrozenClock
from memex_server.embedding.cards import BUNDLED
from memex_server.embedding.onnx import Encoder, OnnxEmbedder
from memex_server.postgres.pool import Database
from memex_server.service import MemoryService
from memex_server.worth import load_worth, texts_judged
from tests.integration.support import all_listed, found, make_service, memory, orphans
from tests.labelled import LANGUAGES, score_gate, score_pairs


@pytest.fixture
async def real(database: Database, clock: FrozenClock, encoder: Encoder) -> MemoryService:
    """The service with the real model; the tests' database takes its vectors, which have the same length."""
    embedder = OnnxEmbedder(BUNDLED["multilingual-e5-small"], Path("unused"), threads=1, loader=lambda: encoder)
    await embedder.load()
    return make_service(database, clock, embedder=embedder)


async def say(service: MemoryService, text: str, **fields: Any) -> Remembered:
    return await service.remember(Candidate(**({"user_id": "ann", "agent_id": "scout", "text": text} | fields)))


@pytest.mark.parametrize("language", LANGUAGES)
def test_nine_of_ten_lines_that_nothing_was_fitted_to_are_judged_rightly(encoder: Encoder, language: str) -> None:
    worth = load_worth(BUNDLED["multilingual-e5-small"].card.id)
    assert worth is not None

    def rated(text: str) -> float:
        texts = texts_judged(text)
        return worth.judge(texts, encoder.embed(texts, "passage")).value

    score = score_gate(f"importance-unseen-{language}", rated)
    assert score.precision >= 0.9, score.wrong
    assert score.recall >= 0.9, score.wrong


MUST_HOLD = [
    ("用户偏好 Go，明确不要 Java 方案", "谢谢，辛苦了", "用户喜欢用 Go 语言"),
    (
        "User prefers Go and explicitly does not want Java.",
        "Thanks, great work!",
        "The user likes to use the Go language.",
    ),
    ("ユーザーは Go を好み、Java の案は不要と明言した", "ありがとう、お疲れさま", "ユーザーは Go 言語を使うのが好き"),
]


@pytest.mark.parametrize(("preference", "thanks", "again"), MUST_HOLD)
async def test_a_preference_is_stored_thanks_are_skipped_and_the_preference_again_is_merged(
    real: MemoryService, preference: str, thanks: str, again: str
) -> None:
    first = await say(real, preference)
    assert (first.outcome, first.rating >= 7) == ("stored", True)
    assert (await say(real, thanks)).outcome == "skipped"
    second = await say(real, again, source="mail")
    assert (second.outcome, second.id) == ("merged", first.id)
    assert await all_listed(real) == [preference]
    assert first.id is not None
    kept = await real.get(first.id)
    assert (kept.occurrences, kept.sources) == (2, ("mail",))
    assert [v.action for v in await real.history(first.id)] == ["created", "merged"]


async def test_all_three_languages_live_side_by_side(real: MemoryService) -> None:
    for preference, _, _ in MUST_HOLD:
        assert (await say(real, preference)).outcome == "stored"
    for _, _, again in MUST_HOLD:
        assert (await say(real, again)).outcome == "merged"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("我喜欢健身", "我喜欢普洱茶"),
        ("I like swimming.", "I like green tea."),
        ("水泳が好きです。", "緑茶が好きです。"),
        ("订单号是 4711，请记住。", "我的会员号是 4712，请记住。"),
    ],
)
async def test_two_tastes_are_two_memories(real: MemoryService, one: str, other: str) -> None:
    assert [(await say(real, text)).outcome for text in (one, other)] == ["stored", "stored"]


@pytest.mark.parametrize(
    ("old", "new", "query"),
    [
        ("I live in Toronto.", "I live in Oslo now.", "Where do I live?"),
        ("我住在成都。", "我现在住在重庆。", "我住在哪里？"),
        ("福岡に住んでいます。", "今は札幌に住んでいます。", "どこに住んでいますか？"),
        ("Our CI runs on Jenkins.", "We switched from Jenkins to GitLab for our CI.", "What does our CI run on?"),
        ("我对花生过敏。", "更正：我对花生不过敏。", "我对花生过敏吗？"),
    ],
)
async def test_a_correction_supersedes_and_the_old_is_found_only_as_of_its_time(
    real: MemoryService, clock: FrozenClock, old: str, new: str, query: str
) -> None:
    first = await say(real, old)
    before = clock()
    clock.advance(days=1)
    second = await say(real, new)
    assert (second.outcome, second.superseded) == ("superseded", (first.id,))
    assert await found(real, query) == [new]
    assert await found(real, query, as_of=before) == [old]
    assert await found(real, query, as_of=clock()) == [new]
    assert await all_listed(real) == [new]
    assert await real.count(user_id="ann") == 1
    assert first.id is not None
    gone = await real.get(first.id)
    assert (gone.superseded_by, gone.valid_to) == (second.id, clock())
    step = (await real.history(first.id))[-1]
    assert (step.action, step.actor, step.at) == ("superseded", "scout", clock())
    assert step.reason
    assert (await say(real, old)).outcome in {"superseded", "stored"}  # moving back is a correction too


@pytest.mark.parametrize(
    ("here", "there", "back"),
    [
        ("I live in Toronto.", "I moved to Oslo last month.", "I moved back to Toronto."),
        (
            "The search service uses MySQL.",
            "The search service runs on Postgres now.",
            "The search service uses MySQL again.",
        ),
        ("我住在成都。", "我上个月搬到重庆了。", "我又搬回成都了。"),
        ("网关端口是 8080。", "网关端口换成 8443 了。", "网关端口改成 8080 了。"),
        ("福岡に住んでいます。", "先月、札幌に引っ越しました。", "また福岡に引っ越しました。"),
        ("定例会議は月曜の10時です。", "定例会議は木曜の16時になりました。", "定例会議は月曜の10時に戻りました。"),
    ],
)
async def test_what_moved_away_and_back_is_one_current_memory(
    real: MemoryService, clock: FrozenClock, here: str, there: str, back: str
) -> None:
    for text in (here, there, back):
        await say(real, text, threshold=1)
        clock.advance(days=1)
    assert await all_listed(real) == [back]


async def test_the_caller_says_what_is_superseded(real: MemoryService) -> None:
    first = await say(real, "The garage code is 2291.")
    second = await say(real, "Use the side entrance from now on.", supersedes=first.id)
    assert (second.outcome, second.superseded) == ("superseded", (first.id,))
    stranger = await say(real, "I like tea.", user_id="bob")
    with pytest.raises(NotFound):
        await say(real, "I like rum.", supersedes=stranger.id)


async def test_merging_keeps_the_better_text_the_tags_and_every_source(real: MemoryService, clock: FrozenClock) -> None:
    made_at = clock()
    first = await say(real, "CI runs on GitHub Actions.", source="chat", tags=("ci",))
    clock.advance(days=2)
    more = "Our CI runs on GitHub Actions, deployed from main after every merge."
    second = await say(real, more, source="mail", tags=("deploy",))
    assert (second.outcome, second.id) == ("merged", first.id)
    assert first.id is not None
    kept = await real.get(first.id)
    assert (kept.content, kept.tags, kept.sources, kept.created_at) == (
        more,
        ("ci", "deploy"),
        ("chat", "mail"),
        made_at,
    )
    assert await found(real, "deployed after every merge") == [more]


@pytest.mark.parametrize("language", LANGUAGES)
async def test_pairs_are_told_apart_by_model_and_words_together(encoder: Encoder, language: str) -> None:
    from memex.core.claims import relation

    card = BUNDLED["multilingual-e5-small"].card
    floor = (card.similarity_floor + card.similarity_ceiling) / 2

    def same(a: str, b: str) -> bool:
        one, other = encoder.embed([a, b], "passage")
        cosine = float(one @ other)
        return cosine >= floor and relation(b, a, near=cosine >= card.duplicate_threshold) not in {"other", "negates"}

    score = score_pairs(language, same)
    assert score.precision == 1, score.wrong
    assert score.recall >= 0.9, score.wrong


async def test_recalled_text_fed_back_is_not_stored_again(real: MemoryService) -> None:
    await say(real, "I like green tea.")
    block = await real.context(SearchRequest(user_id="ann", query="tea"), token_budget=500)
    assert block.ids
    for text in (block.text, f"{block.text}\n", block.text.splitlines()[2]):
        assert (await say(real, text)).outcome == "skipped"
    assert await real.count(user_id="ann") == 1


async def test_secrets_are_not_kept(real: MemoryService) -> None:
    kept = await say(real, "记住我的密钥是sk-abcdefghijklmnopqrstuvwxyz123456，不要外传")
    assert kept.id is not None
    assert "sk-abc" not in (await real.get(kept.id)).content


@pytest.mark.parametrize(
    ("text", "again"),
    [
        ("I like green tea.", "I really like green tea!"),
        ("我喜欢绿茶。", "我很喜欢绿茶"),
        ("緑茶が好きです。", "緑茶がとても好きです。"),
        ("I live in Oslo", "By the way, my home is in Oslo"),
        ("我住在东京", "我的家在东京"),
        ("東京に住んでいます", "自宅は東京です"),
    ],
)
async def test_a_retracted_claim_does_not_come_back_until_it_is_undone(
    real: MemoryService, text: str, again: str
) -> None:
    first = await say(real, text)
    assert first.id is not None
    gone = await real.retract(first.id, reason="a misunderstanding", user_id="ann", agent_id="scout")
    assert gone.deleted_at is not None
    assert (await real.history(first.id))[-1].reason == "a misunderstanding"
    refused = await say(real, again)
    assert (refused.outcome, str(first.id) in refused.reason) == ("skipped", True)
    await real.tidy(tombstone_days=0)
    assert (await say(real, again, agent_id="other")).outcome == "skipped"
    assert (await say(real, again, user_id="bob")).outcome == "stored"
    await real.undo_retraction(first.id)
    assert (await say(real, again)).outcome in {"stored", "merged"}
    with pytest.raises(NotFound):
        await real.undo_retraction(first.id, user_id="stranger")


async def test_a_retracted_correction_gives_back_what_it_corrected(real: MemoryService, dsn: str) -> None:
    await say(real, "I live in Toronto.")
    wrong = await say(real, "I live in Oslo now.")
    assert wrong.id is not None
    await real.retract(wrong.id)
    assert await all_listed(real) == ["I live in Toronto."]
    assert await found(real, "Where do I live?") == ["I live in Toronto."]
    await real.undo_retraction(wrong.id)
    assert set((await orphans(dsn)).values()) == {0}


async def test_purging_forgets_the_retraction_too(real: MemoryService) -> None:
    first = await say(real, "I like green tea.")
    assert first.id is not None
    await real.retract(first.id)
    await real.delete(first.id, purge=True)
    assert (await say(real, "I like green tea.")).outcome == "stored"


async def test_twenty_at_once_make_one_memory(real: MemoryService) -> None:
    done = await asyncio.gather(
        *(say(real, "I like green tea." if n % 2 else "I really like green tea.") for n in range(20))
    )
    assert len({one.id for one in done}) == 1
    assert sum(one.outcome == "stored" for one in done) == 1


async def test_a_candidate_with_another_threshold_passes(real: MemoryService) -> None:
    assert (await say(real, "Thanks a lot!")).outcome == "skipped"
    assert (await say(real, "Thanks a lot!", threshold=1)).outcome == "stored"
    assert (await say(real, "I like tea.", threshold=10)).outcome == "skipped"


@pytest.mark.parametrize(
    "fields",
    [
        {"text": ""},
        {"text": "a\x00b"},
        {"user_id": " "},
        {"agent_id": "\u3000"},
        {"session_id": "\u200b"},
        {"threshold": 0.9},
        {"similarity": 2},
    ],
)
async def test_a_candidate_that_cannot_be_kept_is_refused(real: MemoryService, fields: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        await say(real, **({"text": "I like tea."} | fields))


class FakeModel:
    """A language model that says what it is told to say, or that it is down."""

    deadline_s = 20.0

    def __init__(self, rating: float | None, sentence: str = "") -> None:
        self.rating, self.sentence = rating, sentence
        self.asked: list[str] = []

    async def load(self) -> None:
        pass

    async def rate(self, text: str) -> float:
        self.asked.append(text)
        if self.rating is None:
            raise Unavailable("the language model did not answer within 8 s")
        return self.rating

    async def condense(self, text: str) -> str:
        return self.sentence

    async def close(self) -> None:
        pass


async def test_a_language_model_rates_and_condenses_and_never_sees_a_secret(
    database: Database, clock: FrozenClock
) -> None:
    model = FakeModel(9, "The user likes tea.")
    service = make_service(database, clock, condenser=model)
    done = await say(service, "well you know, tea is what I like, key sk-abcdefghijklmnopqrstuvwxyz")
    assert (done.outcome, done.rating, done.scored_by) == ("stored", 9, "llm")
    assert await all_listed(service) == ["The user likes tea."]
    assert "sk-abc" not in model.asked[0]


async def test_rules_take_over_when_the_model_is_down_and_the_answer_says_so(
    database: Database, clock: FrozenClock
) -> None:
    service = make_service(database, clock, condenser=FakeModel(None))
    assert (await service.health())["llm"] == {"status": "ok"}
    done = await say(service, "I like green tea.")
    assert (done.outcome, done.scored_by) == ("stored", "rules")
    assert "did not answer" in done.reason
    health = await service.health()
    assert (health["status"], health["llm"]) == ("degraded", {"status": "degraded"})


async def test_the_deadline_holds_for_rating_and_condensing_together(database: Database, clock: FrozenClock) -> None:
    class Stuck(FakeModel):
        deadline_s = 0.05

        async def condense(self, text: str) -> str:
            await asyncio.Event().wait()
            return text

    done = await say(make_service(database, clock, condenser=Stuck(9)), "I like green tea.")
    assert (done.outcome, done.scored_by) == ("stored", "rules")
    assert "did not answer within 0.05 s" in done.reason


async def test_nobody_waits_for_the_language_model_of_another_candidate(database: Database, clock: FrozenClock) -> None:
    together = asyncio.Barrier(3)

    class Slow(FakeModel):
        async def rate(self, text: str) -> float:
            async with asyncio.timeout(20):
                await together.wait()  # all of them are here at once, or none gets on
            return await super().rate(text)

    service = make_service(database, clock, condenser=Slow(None))
    done = await asyncio.gather(*(say(service, f"I {verb} green tea.") for verb in ("like", "love", "drink")))
    assert {one.scored_by for one in done} == {"rules"}
    assert "stored" in {one.outcome for one in done}


async def test_two_memories_cannot_both_be_restored_into_one(real: MemoryService) -> None:
    first = await say(real, "I like green tea.")
    assert first.id is not None
    await real.retract(first.id)
    await real.store(memory("I like green tea.", memory_type=MemoryType.SEMANTIC))
    with pytest.raises(Conflict):
        await real.undo_retraction(first.id)


PLACES = [
    ("I live in Oslo.", "I live in Bergen."),
    ("我住在北京", "我住在上海"),
    ("東京に住んでいます", "札幌に住んでいます"),
]


@pytest.mark.parametrize("texts", PLACES)
async def test_what_stood_beside_each_other_comes_back_in_any_order(
    real: MemoryService, clock: FrozenClock, texts: tuple[str, str]
) -> None:
    ids = []
    for text in texts:  # past the gate, which would let the second end the first
        clock.advance(days=1)
        ids.append((await real.store(memory(text, memory_type=MemoryType.SEMANTIC))).memory.id)
    for order in (ids, ids[::-1]):
        for memory_id in ids:
            clock.advance(days=1)
            await real.delete(memory_id)
        for memory_id in order:
            clock.advance(days=1)
            await real.restore(memory_id)
        assert sorted(await all_listed(real)) == sorted(texts)
    clock.advance(days=1)
    await real.delete_scope(user_id="ann")
    clock.advance(days=1)
    for memory_id in ids[::-1]:
        await real.restore(memory_id)
    assert sorted(await all_listed(real)) == sorted(texts)


@pytest.mark.parametrize("texts", PLACES)
async def test_what_was_never_beside_a_deleted_memory_keeps_it_away(
    real: MemoryService, clock: FrozenClock, texts: tuple[str, str]
) -> None:
    first = (await real.store(memory(texts[0], memory_type=MemoryType.SEMANTIC))).memory.id
    clock.advance(days=1)
    await real.delete(first)
    clock.advance(days=1)
    second = (await real.store(memory(texts[1], memory_type=MemoryType.SEMANTIC))).memory.id
    clock.advance(days=1)
    with pytest.raises(Conflict) as refused:
        await real.restore(first)
    assert refused.value.existing_id == str(second)


@pytest.mark.parametrize(("old", "new"), PLACES)
async def test_what_a_correction_had_ended_ends_again_when_its_retraction_is_undone(
    real: MemoryService, old: str, new: str
) -> None:
    await say(real, old)
    correction = await say(real, new)
    assert correction.outcome == "superseded"
    assert correction.id is not None
    await real.retract(correction.id)
    assert await all_listed(real) == [old]
    await real.undo_retraction(correction.id)
    assert await all_listed(real) == [new]


async def test_many_who_contradict_each_other_at_once_leave_one_current(real: MemoryService) -> None:
    texts = [f"I live in {city}." for city in ("Oslo", "Rome", "Tokyo", "Madrid")] * 4
    done = await asyncio.gather(*(say(real, text) for text in texts))
    assert len(done) == len(texts)
    assert len(await all_listed(real)) == 1


async def test_what_is_left_around_a_secret_counts_no_more_than_anything_else(real: MemoryService) -> None:
    kept = await say(real, "My password is hunter2secret and I always use it")
    assert kept.id is not None
    memory = await real.get(kept.id)
    assert ("hunter2" in memory.content, memory.importance) == (False, 1.0)


@pytest.mark.parametrize(
    ("turns", "query", "answer"),
    [
        (
            ["Ann: I took up the violin last year.", "Bob: Ann, you are amazing, Ann!", "Bob: Say hello to Ann, Ann."],
            "What instrument does Ann play?",
            0,
        ),
        (
            ["小红：我去年开始学小提琴。", "小明：小红，你真厉害，小红！", "小明：替我问小红好，小红。"],
            "小红会什么乐器？",
            0,
        ),
        (
            ["ユキ: 去年バイオリンを始めました。", "ケン: ユキ、すごいね、ユキ！", "ケン: ユキによろしく、ユキ。"],
            "ユキはどんな楽器を弾きますか？",
            0,
        ),
    ],
)
@pytest.mark.parametrize("mode", [SearchMode.SEMANTIC, SearchMode.HYBRID])
async def test_a_question_that_names_somebody_finds_what_they_say_not_who_addresses_them(
    real: MemoryService, turns: list[str], query: str, answer: int, mode: SearchMode
) -> None:
    for turn in turns:
        await real.store(memory(turn, session_id="s"))
    assert (await found(real, query, mode=mode))[0] == turns[answer]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ann: I like green tea.", "Bob: I like green tea."),
        ("小红：我喜欢绿茶。", "小明：我喜欢绿茶。"),
        ("ユキ: 緑茶が好きです。", "ケン: 緑茶が好きです。"),
    ],
)
async def test_the_same_words_of_two_people_are_two_memories(real: MemoryService, one: str, other: str) -> None:
    assert [(await say(real, text)).outcome for text in (one, other)] == ["stored", "stored"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ann: The database is PostgreSQL.", "Bob: The database is MySQL now."),
        ("小红：数据库用的是 PostgreSQL。", "小明：数据库改用 MySQL 了。"),
        ("ユキ: データベースはPostgreSQLです。", "ケン: データベースはMySQLに変更しました。"),
    ],
)
async def test_what_two_people_say_of_one_thing_may_correct_it(real: MemoryService, one: str, other: str) -> None:
    assert [(await say(real, text)).outcome for text in (one, other)] == ["stored", "superseded"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("User is a vegetarian.", "User eats meat again."),
        ("I work for Nokia", "lol anyway, guess what, I joined Ericsson last month, isn't that great?"),
        ("Laura is my girlfriend.", "Laura and I broke up."),
        ("我们每天九点开晨会。", "晨会改到十点了。"),
        ("福岡に住んでいます。", "今は札幌に住んでいます。"),
    ],
)
async def test_what_corrects_a_memory_is_kept_however_low_it_is_rated(real: MemoryService, old: str, new: str) -> None:
    await real.store(memory(old))
    answer = await say(real, new, threshold=9.5)
    assert answer.outcome == "superseded"
    assert await all_listed(real) == [new]


@pytest.mark.parametrize(
    "told",
    [
        ("I live in Toronto.", "I live in Oslo now.", "I live in Bergen now."),
        ("我住在杭州。", "我现在住在苏州。", "我现在住在南京。"),
        ("福岡に住んでいます。", "今は札幌に住んでいます。", "今は広島に住んでいます。"),
    ],
)
async def test_a_retraction_in_the_middle_of_a_chain_brings_nothing_back_that_is_over(
    real: MemoryService, clock: FrozenClock, told: tuple[str, str, str]
) -> None:
    days, ids = [], []
    for text in told:
        clock.advance(days=1)
        answer = await say(real, text)
        assert answer.id is not None
        days.append(clock())
        ids.append(answer.id)
    middle = ids[1]
    await real.retract(middle)
    assert await all_listed(real) == [told[2]]
    assert await found(real, told[0], as_of=days[1]) == [told[0]]
    await real.undo_retraction(middle)
    assert await all_listed(real) == [told[2]]
    assert await found(real, told[0], as_of=days[1]) == [told[1]]
    assert await found(real, told[0], as_of=days[0]) == [told[0]]


@pytest.mark.parametrize(
    ("old", "new", "stays"),
    [
        (
            "I live in Porto. My sister is called Inês and she is a judge.",
            "I live in Madrid now.",
            "My sister is called Inês and she is a judge.",
        ),
        ("I live in Porto and my landlord is called Rui.", "I live in Madrid now.", "My landlord is called Rui."),
        ("Ann: I live in Porto. I work as a nurse.", "Ann: I live in Madrid now.", "Ann: I work as a nurse."),
        ("我住在青岛。我妹妹叫李静，是法官。", "我现在住在大连。", "我妹妹叫李静，是法官。"),
        ("福岡に住んでいます。妹の名前は恵です。", "今は広島に住んでいます。", "妹の名前は恵です。"),
        ("I work at Fiat, my badge number is 881.", "I work at Ford now.", "My badge number is 881."),
        (
            "We deploy with Jenkins and the on-call phone is 555-0101.",
            "We deploy with Argo now.",
            "The on-call phone is 555-0101.",
        ),
        ("我住在杭州，妹妹是护士。", "大家好，我现在住在成都。", "妹妹是护士。"),
        ("私は札幌に住んでいて、妹は看護師です。", "お疲れ様です。今は福岡に住んでいます。", "妹は看護師です。"),
    ],
)
async def test_a_correction_of_one_sentence_leaves_the_others_current(
    real: MemoryService, old: str, new: str, stays: str
) -> None:
    first = await say(real, old, threshold=1, source="mail")
    second = await say(real, new, threshold=1)
    assert (second.outcome, second.superseded) == ("superseded", (first.id,))
    assert sorted(await all_listed(real)) == sorted([new, stays])
    again = await say(real, new, threshold=1)
    assert again.outcome == "merged"
    assert sorted(await all_listed(real)) == sorted([new, stays])


@pytest.mark.parametrize("text", ["My locker is number 12.", "我的储物柜是12号。", "ロッカーは12番です。"])
async def test_a_memory_does_not_supersede_itself(real: MemoryService, text: str) -> None:
    first = await say(real, text, threshold=1)
    again = await say(real, text, threshold=1, supersedes=first.id)
    assert (again.outcome, again.id, again.superseded) == ("merged", first.id, ())
