"""A sentence is cut where another statement begins, and a correction ends one of them only."""

from __future__ import annotations

import time

import pytest

from memex.core.ending import readings, what_stays, why_over
from memex.core.parts import parts_of, rejoined


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("I work at Fiat, my badge number is 881.", ["I work at Fiat", "my badge number is 881."]),
        (
            "My car is a Skoda, and the spare tyre is in the cellar.",
            ["My car is a Skoda", "the spare tyre is in the cellar."],
        ),
        ("I live in Oslo; my sister is a nurse.", ["I live in Oslo", "my sister is a nurse."]),
        ("I live in Oslo but my parents are in Bergen.", ["I live in Oslo", "my parents are in Bergen."]),
        ("I'm a nurse – my shift begins at 6.", ["I'm a nurse", "my shift begins at 6."]),
        ("I use Vim, while Anna uses Emacs.", ["I use Vim", "Anna uses Emacs."]),
        ("I bank with Barclays and my aunt bakes cakes.", ["I bank with Barclays", "my aunt bakes cakes."]),
        (
            "I work at Fiat because I love cars, and my badge number is 881.",
            ["I work at Fiat because I love cars", "my badge number is 881."],
        ),
        (
            "I live in Oslo, which is in Norway, and my dog is called Rex.",
            ["I live in Oslo, which is in Norway", "my dog is called Rex."],
        ),
        ("My sister lives in Porto and works as a nurse.", ["My sister lives in Porto", "My sister works as a nurse."]),
        ("我住在杭州，妹妹是护士。", ["我住在杭州", "妹妹是护士。"]),
        ("我在阿里上班，工号是881。", ["我在阿里上班", "工号是881。"]),
        ("我开的是斯柯达，备胎放在地下室。", ["我开的是斯柯达", "备胎放在地下室。"]),
        ("我住在杭州，但我父母在北京。", ["我住在杭州", "我父母在北京。"]),
        ("我住在杭州，而且会弹钢琴。", ["我住在杭州", "我会弹钢琴。"]),
        ("我妹妹住在杭州，在医院当护士。", ["我妹妹住在杭州", "我妹妹在医院当护士。"]),
        ("数据库是MySQL，缓存用Redis；例会每周二开。", ["数据库是MySQL", "缓存用Redis", "例会每周二开。"]),
        ("私は札幌に住んでいて、妹は看護師です。", ["私は札幌に住んでいて", "妹は看護師です。"]),
        ("車はシュコダで、スペアタイヤは地下室にあります。", ["車はシュコダで", "スペアタイヤは地下室にあります。"]),
        ("札幌に住んでいますが、趣味はテニスです。", ["札幌に住んでいますが", "趣味はテニスです。"]),
        ("札幌に住んでいるし、猫も飼っています。", ["札幌に住んでいるし", "猫も飼っています。"]),
        ("妹は札幌に住んでいて、銀行で働いています。", ["妹は札幌に住んでいて", "妹は銀行で働いています。"]),
        ("The talk is on 9 June; Marek signs us in.", ["The talk is on 9 June", "Marek signs us in."]),
        ("Lunch is at noon; afterwards we tidy up.", ["Lunch is at noon", "afterwards we tidy up."]),
        ("The choir meets on Friday and Oksana conducts.", ["The choir meets on Friday", "Oksana conducts."]),
        ("I live in Porto and am allergic to nuts.", ["I live in Porto", "I am allergic to nuts."]),
        ("I teach maths and have asthma.", ["I teach maths", "I have asthma."]),
        ("The tent sleeps four and weighs nine kilos.", ["The tent sleeps four", "The tent weighs nine kilos."]),
        ("彩排在周五，小雯带队。", ["彩排在周五", "小雯带队。"]),
        ("讲座在六点；结束后大家聚餐。", ["讲座在六点", "结束后大家聚餐。"]),
        ("聚会定在5月2日，汤岚负责点菜。", ["聚会定在5月2日", "汤岚负责点菜。"]),
        ("我住在苏州，对花生过敏。", ["我住在苏州", "我对花生过敏。"]),
        ("我当老师，有哮喘。", ["我当老师", "我有哮喘。"]),
        ("講座は金曜で、沙織が司会をする。", ["講座は金曜で", "沙織が司会をする。"]),
        ("菜食主義で、卵アレルギーがある。", ["菜食主義で", "卵アレルギーがある。"]),
        ("林さんが受付を、森さんが会計を担当する。", ["林さんが受付を担当する", "森さんが会計を担当する。"]),
    ],
)
def test_a_clause_with_a_subject_of_its_own_is_a_statement(text: str, said: list[str]) -> None:
    assert [part.said for part in parts_of(text)] == said


@pytest.mark.parametrize(
    "text",
    [
        "I like tea, coffee and the sea.",
        "I like tea, coffee and my sister's cakes.",
        "I speak French, German and the dialect of my village.",
        "My sister and my brother live in Rome.",
        "I live in Oslo, on the third floor.",
        "I live in Oslo, a city that I love.",
        "I live in Oslo, and it is cold.",
        "I drive a Saab, an old one that my father bought.",
        "My sister is called Inês and she is a judge.",
        "I moved to Oslo, because my sister is a nurse.",
        "I moved to Oslo because my sister is a nurse there and my brother lives nearby.",
        "Since I live in Oslo, my commute is short.",
        "In summer, my address is Oak Street 3.",
        "I told Anna that I live in Oslo and my sister is a nurse.",
        "我喜欢喝茶，咖啡和可乐。",
        "我喜欢吃辣，尤其是火锅。",
        "我住在杭州，三楼。",
        "我住在杭州，离公司很近。",
        "我住在杭州，因为妹妹在那里上学。",
        "因为我住在杭州，我妹妹常来看我。",
        "我养了一只猫，名字叫咪咪。",
        "在公司里，我用Vim。",
        "I like jazz, Beatles songs and tea.",
        "I speak French and German dialects.",
        "I take tea; no sugar.",
        "我喜欢篮球，小提琴和钢琴。",
        "我在王府井上班，周末去公园。",
        "我住在常州，小区很安静。",
        "犬を飼っていて、毛が抜ける。",
        "紅茶、コーヒー、海が好きです。",
        "札幌に住んでいて、三階です。",
        "猫を飼っていて、名前はタマです。",
        "妹がいるので、札幌は好きです。",
        "札幌に引っ越したら、妹は喜びました。",
        "平日は東京で、週末は大阪にいます。",
    ],
)
def test_lists_reasons_and_what_goes_with_a_statement_stay_with_it(text: str) -> None:
    assert [part.said for part in parts_of(text)] == [text]


@pytest.mark.parametrize(
    ("old", "new", "stays"),
    [
        ("I work at Fiat, my badge number is 881.", "I work at Ford now.", "My badge number is 881."),
        ("I work at Fiat, my badge number is 881.", "My badge number is 900 now.", "I work at Fiat."),
        ("Hi there! I work at Fiat.", "I work at Ford now.", None),
        ("大家好。我住在杭州。", "我现在住在成都。", None),
        ("お疲れ様です。札幌に住んでいます。", "今は福岡に住んでいます。", None),
        ("Good morning! I work at Fiat, my badge number is 881.", "I work at Ford now.", "My badge number is 881."),
        ("I live in Porto and work as a nurse.", "I live in Madrid now.", "I work as a nurse."),
        ("I live in Oslo, my dog is called Rex and my cat is called Tom.", "I live in Bergen now.", "My dog is called Rex and my cat is called Tom."),
        ("I live in Oslo, my dog is called Rex and the gym closes at 10.", "My dog is called Max.", "I live in Oslo. The gym closes at 10."),
        ("Ann: I live in Porto, and my landlord is Rui.", "Ann: I live in Madrid now.", "Ann: My landlord is Rui."),
        ("I live in Oslo, on the third floor.", "I live in Bergen now.", None),
        ("我住在杭州，妹妹是护士。", "我现在住在成都。", "妹妹是护士。"),
        ("我妹妹是护士，我住在杭州。", "我现在住在成都。", "我妹妹是护士。"),
        ("我住在杭州，三楼。", "我现在住在成都。", None),
        ("私は札幌に住んでいて、妹は看護師です。", "今は福岡に住んでいます。", "妹は看護師です。"),
        ("妹は看護師で、私は札幌に住んでいます。", "今は福岡に住んでいます。", "妹は看護師です。"),
        ("札幌に住んでいて、三階です。", "今は福岡に住んでいます。", None),
        ("The talk is on 9 June; Marek signs us in.", "The talk was moved to 16 June.", "Marek signs us in."),
        ("I live in Porto and am allergic to nuts.", "I moved to Faro.", "I am allergic to nuts."),
        ("The tent sleeps four and costs 90 euros.", "The tent costs 70 euros now.", "The tent sleeps four."),
        ("彩排在周五，小雯带队。", "彩排改到周六了。", "小雯带队。"),
        ("我吃素，对花生过敏。", "我现在又吃肉了。", "我对花生过敏。"),
        ("講座は金曜で、沙織が司会をする。", "講座は木曜に変わった。", "沙織が司会をする。"),
        ("林さんが受付を、森さんが会計を担当する。", "森さんは辞めて、今は原さんが会計を担当する。", "林さんが受付を担当する。"),
        ("I play the piano and my teacher is Ms. Fox.", "My piano teacher is Olga now.", "I play the piano."),
        ("我在学葡萄牙语，老师叫布鲁诺。", "我的葡萄牙语老师现在是西莉亚。", "我在学葡萄牙语。"),
        ("ピアノを習っていて、先生は林さんです。", "ピアノの先生は今は岡さんです。", "ピアノを習っています。"),
        ("上司は大野さんで、歯医者は本田先生です。", "歯医者は沼田先生です。", "上司は大野さんです。"),
        ("I live in Lier and my boss is Dr. Sims.", "I live in Gent and my boss is Dr. Osei.", None),
        ("I live in Lyon and my boss is Pavel.", "My landlord is Mr. Kowal and my boss is Yara now.", "I live in Lyon."),
        ("我现在住在杭州，我的新老板是赵敏。", "我的房东现在是张先生，我的老板现在是孙丽。", "我现在住在杭州。"),
        ("I am allergic to peanuts and shellfish.", "I am no longer allergic to shellfish.", "I am allergic to peanuts."),
        ("I have a dog named Rex and a cat named Tom.", "Rex died last week.", "I have a cat named Tom."),
        ("I like tea, coffee and rum.", "I don't like coffee anymore.", "I like tea and rum."),
        ("我对花生和虾过敏。", "我不再对虾过敏了。", "我对花生过敏。"),
        ("我喜欢茶、可乐和咖啡。", "我不喜欢咖啡了。", "我喜欢茶和可乐。"),
        ("紅茶とコーヒーが好きです。", "コーヒーは嫌いになりました。", "紅茶が好きです。"),
        ("上司は大野さんで、電話番号は4412です。", "電話番号は5519に変わりました。", "上司は大野さんです。"),
    ],
)  # fmt: skip
def test_what_a_correction_does_not_speak_of_stays(old: str, new: str, stays: str | None) -> None:
    assert what_stays(new, old) == stays


@pytest.mark.parametrize(
    "text",
    [
        "I live in Oslo, my dog is old and I swim; the sea is cold.",
        "我住在杭州，妹妹是护士。",
        "妹は看護師で、犬は老犬です。",
    ],
)
def test_all_the_parts_make_the_text_again(text: str) -> None:
    assert rejoined(enumerate(parts_of(text))) == text


@pytest.mark.parametrize("text", [", my aunt the " * 5_000, "我，妹妹是" * 5_000, "妹は、" * 9_000, "a, " * 180])
def test_a_long_text_is_cut_quickly(text: str) -> None:
    started = time.perf_counter()
    parts_of(text)
    assert time.perf_counter() - started < 2


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("Our database is MySQL and my boss is Ingrid now.", "My boss is Tiago."),
        ("My boss is Ingrid now and my landlord is Mrs. Reis now.", "My landlord is Mr. Kowal."),
        ("数据库现在是MySQL，我的房东现在是郑女士。", "我的房东是张先生。"),
        ("データベースは今はPostgreSQLで、大家は今は加藤さんです。", "データベースはMySQLです。"),
        ("我的牙医现在是陈医生。", "我的牙医换成了李医生。"),
        ("大家は今は加藤さんです。", "大家が山本さんに変わりました。"),
    ],
)
def test_each_statement_of_a_new_text_ends_what_it_corrects(new: str, old: str) -> None:
    assert why_over(readings(new), old, alike=False)


def test_a_summary_is_read_line_by_line() -> None:
    summary = "\n".join(["I live in Rome.", *(f"Talked about ticket {n} with the team." for n in range(40))])
    assert why_over(readings("I live in Oslo now."), summary, alike=False)
