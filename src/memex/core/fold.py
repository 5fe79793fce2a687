"""Folding: spellings that readers take for the same text become the same string.

NFKC and case folding (full-width, half-width, ligatures), accents of Latin letters, Hebrew
points, Arabic vowel signs, invisible characters, and the common traditional Chinese characters.
Kana voicing marks and Hangul syllables tell words apart and stay.
"""

from __future__ import annotations

import unicodedata

__all__ = ["canonical", "fold"]

# The most frequent characters whose simplified form is unambiguous; both sides of a search are
# folded alike, so that Japanese kanji among them still meet themselves.
_TRADITIONAL = (
    "們個這來時會為說國過對發開關東門問間聞見現覺觀學習書寫讀語話請讓記訊認識計劃設該許論講談課調議證"
    "誰試詞詩詳誤謝謹變護讚電腦網頁線級紅約給結經統終組細絕維綠緊練總繼續縣織紀純紙紹紛繪編緩罷羅義華"
    "萬葉藍藝藥蘇蘭處號蟲術裡補裝製複規視親訂訪評詢誠誇車軍軟較載輕輛輪輸轉辦農運達遠適選遲還邊鄰郵鄉"
    "醫醬釋針釣鈴銀銅鋼錄錢錯鍋鍵鎖鏡鐘鐵長閃閉閱陽陰陳陸隊際隨險難雙雜離雲靈靜響項順須預領頭顏題願類"
    "顧風飛飯飲飽養館餓餅饅馬駕驗驚騎體髮鬆鬥鬧魚鮮鳥鳴鴨鵝麗麥黃黨點齊齒龍龜買賣賽質費貴貿資賓賞賴購"
    "贈贏趕跡蹤踐躍邁進遊違連遞遷環瑪產畢異當療瘋監盤眾睏矚碼礎禮禪種稱穩穀積窮競筆節範築簡簽籃籌糧紮"
    "糾愛憂懷戀戰戲戶執擁擇擊擔據擴擺攝敗數斷於晉暫曆業極榮樂樓標樣樹橋機檔檢櫃權歐歡歲歷殘殺殼氣漢湯"
    "溝滅滾滿漁漸潔潛濃濕濟灣災無煙煩熱爐爭爺牆獎獨獲獻瑣嗎嘆嘗嚇嚴團園圓圖圍塊塵墊壓壞壯聲壽夢夥奪奮"
    "婦媽嬰孫寧實審寬寶將專尋導尷層屬岡島嶺嶽師帳帶幣幫幹幾庫廁廂廚廠廣廳張強彈彎後從復徵徹態慣慶憶應"
    "懶懸倉倫偉側偵傑傘備傢傳傷僅儀億優儲兒內兩冊凍淨別刪則剛創劇劉劍劑動務勝勞勢勵勸勻匯區協卻厭參員"
    "單喪喬喚嘩嗚啟聯職聽聖聰肅腸膚膠脈腳臉臺與興舉舊艦艱蕭薦薩蘋蘿虛蝦蠟蠻襪襯襲訓託詐詠誌誘諾謀謊豐"
    "貓貝負財責貨販貪貧貼貸賀賊趙軌軒軸輔輝輩辭遜遺邏鄭醜鈔鈕鉛錦鍊鍛鏈鑰閒閣闊闆陣隱隻雖雞霧韓頂頓頗"
    "頻顆額顛顯飄飾餘駐駛騙騰驅驢髒鬍鮑鯉鯊鱷鹼麵黴齡紗納紐絲絡綁綜綢綱緣縮績繞繩繳纏罰聾腎膽臨薑蘊蟬"
    "裊覽訝訴診註詭誕誼諒諮謎謠譜譯譽豈貞貢賈賺贊蹟軋輯轎轟遼鄧釀鉤鋒鋪錶鎮鎊鑽闖闢陝隸靦韋韻頰顫餃餵"
    "駁駱騷鬚鯨鴿鵬鷹鹹"
)
_SIMPLIFIED = (
    "们个这来时会为说国过对发开关东门问间闻见现觉观学习书写读语话请让记讯认识计划设该许论讲谈课调议证"
    "谁试词诗详误谢谨变护赞电脑网页线级红约给结经统终组细绝维绿紧练总继续县织纪纯纸绍纷绘编缓罢罗义华"
    "万叶蓝艺药苏兰处号虫术里补装制复规视亲订访评询诚夸车军软较载轻辆轮输转办农运达远适选迟还边邻邮乡"
    "医酱释针钓铃银铜钢录钱错锅键锁镜钟铁长闪闭阅阳阴陈陆队际随险难双杂离云灵静响项顺须预领头颜题愿类"
    "顾风飞饭饮饱养馆饿饼馒马驾验惊骑体发松斗闹鱼鲜鸟鸣鸭鹅丽麦黄党点齐齿龙龟买卖赛质费贵贸资宾赏赖购"
    "赠赢赶迹踪践跃迈进游违连递迁环玛产毕异当疗疯监盘众困瞩码础礼禅种称稳谷积穷竞笔节范筑简签篮筹粮扎"
    "纠爱忧怀恋战戏户执拥择击担据扩摆摄败数断于晋暂历业极荣乐楼标样树桥机档检柜权欧欢岁历残杀壳气汉汤"
    "沟灭滚满渔渐洁潜浓湿济湾灾无烟烦热炉争爷墙奖独获献琐吗叹尝吓严团园圆图围块尘垫压坏壮声寿梦伙夺奋"
    "妇妈婴孙宁实审宽宝将专寻导尴层属冈岛岭岳师帐带币帮干几库厕厢厨厂广厅张强弹弯后从复征彻态惯庆忆应"
    "懒悬仓伦伟侧侦杰伞备家传伤仅仪亿优储儿内两册冻净别删则刚创剧刘剑剂动务胜劳势励劝匀汇区协却厌参员"
    "单丧乔唤哗呜启联职听圣聪肃肠肤胶脉脚脸台与兴举旧舰艰萧荐萨苹萝虚虾蜡蛮袜衬袭训托诈咏志诱诺谋谎丰"
    "猫贝负财责货贩贪贫贴贷贺贼赵轨轩轴辅辉辈辞逊遗逻郑丑钞钮铅锦炼锻链钥闲阁阔板阵隐只虽鸡雾韩顶顿颇"
    "频颗额颠显飘饰余驻驶骗腾驱驴脏胡鲍鲤鲨鳄碱面霉龄纱纳纽丝络绑综绸纲缘缩绩绕绳缴缠罚聋肾胆临姜蕴蝉"
    "袅览讶诉诊注诡诞谊谅咨谜谣谱译誉岂贞贡贾赚赞迹轧辑轿轰辽邓酿钩锋铺表镇镑钻闯辟陕隶腼韦韵颊颤饺喂"
    "驳骆骚须鲸鸽鹏鹰咸"
)

# Latin letters without a canonical decomposition.
_LATIN = {"ø": "o", "đ": "d", "ħ": "h", "ı": "i", "ł": "l", "ŧ": "t", "æ": "ae", "œ": "oe", "þ": "th", "ð": "d"}

_INVISIBLE = (
    (0x0000, 0x0008),
    (0x000E, 0x001B),
    (0x007F, 0x0084),
    (0x0086, 0x009F),
    (0x00AD, 0x00AD),
    (0x034F, 0x034F),
    (0x061C, 0x061C),
    (0x180B, 0x180E),
    (0x200B, 0x200F),
    (0x202A, 0x202E),
    (0x2060, 0x206F),
    (0xFE00, 0xFE0F),
    (0xFEFF, 0xFEFF),
    (0xFFF9, 0xFFFB),
    (0x1BCA0, 0x1BCA3),
    (0xE0001, 0xE007F),
    (0xE0100, 0xE01EF),
)
# Accents that NFKC could not join to a letter, Hebrew points, Arabic vowel signs and the tatweel.
_MARKS = (
    (0x0300, 0x036F),
    (0x0591, 0x05BD),
    (0x05BF, 0x05BF),
    (0x05C1, 0x05C2),
    (0x05C4, 0x05C5),
    (0x05C7, 0x05C7),
    (0x0640, 0x0640),
    (0x064B, 0x0652),
    (0x0670, 0x0670),
)


def _build_table() -> dict[int, str | None]:
    table: dict[int, str | None] = dict(zip(map(ord, _TRADITIONAL), _SIMPLIFIED, strict=True))
    for first, last in (*_INVISIBLE, *_MARKS):
        table.update(dict.fromkeys(range(first, last + 1)))
    for first, last in ((0x00C0, 0x024F), (0x1E00, 0x1EFF)):
        for code in range(first, last + 1):
            base = unicodedata.normalize("NFD", chr(code))[0]
            if base.isascii():
                table[code] = base
    for letter, plain in _LATIN.items():
        table[ord(letter)] = plain
        if len(letter.upper()) == 1:
            table[ord(letter.upper())] = plain.capitalize()
    del table[ord("I")]  # the capital of dotless i
    table[0x0085] = " "
    return table


_TABLE = _build_table()


def canonical(text: str) -> str:
    """Return `text` with one spelling for each character, its case kept."""
    text = unicodedata.normalize("NFKC", text).translate(_TABLE)
    # Once more, because what stood between two parts of a character may be gone now.
    return text if text.isascii() else unicodedata.normalize("NFKC", text)


def fold(text: str) -> str:
    """Return the form of `text` in which spellings are compared; folding twice changes nothing."""
    folded = canonical(text).casefold()
    return folded if folded.isascii() else canonical(folded).casefold()
