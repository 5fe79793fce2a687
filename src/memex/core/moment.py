"""Sentences about the moment: a state of somebody, an event that is over, the weather, an exclamation.

The signs are those of mood and aspect (a progressive, a past tense, a feeling), with lists of words where a
language has no form for them.
"""

from __future__ import annotations

from .patterns import lazy
from .signs import Signs

__all__ = ["passes"]

# What tells of this very moment; it counts only where no rule speaks for the text.
_PASSING = Signs(
    # English: adverbs of the moment, pronouns that point at what is there, moods of guessing.
    r"\b(?:just (?!one)|again|right now|just now|at the moment|for now|still|already|finally|a (?:sec|second|moment)|"
    r"this time|today|tonight|"
    r"this (?:morning|afternoon|evening|weekend)|yesterday|last night|in a (?:minute|bit|while)|later|soon)\b|^now\b|"
    r"^(?:this|that|it|these|those|they|there|here)(?:'s| )(?!(?:project|repo|repository|codebase|team|company|"
    r"service|app|product|house)\b)|\bi (?:got|tried|found|fixed|see|mean|meant|think|guess|wonder|forgot|hope|"
    r"suppose|bet|doubt|feel|understand|agree)\b|\b(?:could|might|may) be\b|\bmaybe\b|"
    r"^(?:ah|oh|wow|hey|hm+|not|same|back|almost|and|but|so|any|anyway|probably|perhaps|looks like|seems|feels)\b|"
    r"\b(?:in|for) (?:a|five|ten|two) min|"
    r"\b(?:that|this) (?:one|line|file|function|error|test|bug|thing|tab|page|code|approach|idea|article|movie|song)\b|"
    r"\byour? (?:answer|reply|suggestion|code|last|previous|message)\b|\byou (?:gave|said|sent|wrote|told|mentioned|"
    r"suggested)\b",
    # A state or an activity of somebody who will be done with it.
    r"\b(?:i'm|i am|we're|we are|i feel|feeling|so|user is) (?:\w+ )?(?:on it|tired|exhausted|sleepy|hungry|thirsty|"
    r"bored|busy|stressed|sick|ill|cold|hot|happy|sad|"
    r"angry|upset|excited|nervous|confused|lost|stuck|late|early|asleep|awake|ready|back|here|home|done|awake|fine|"
    r"good|ok|okay|sure|curious|sorry|glad|"
    r"worried|frustrated|annoyed|free|away|offline|online|drained|grumpy|in the mood|about to|off to|out (?:for|of)|"
    r"on (?:my way|the (?:bus|train|phone|way)|a call))\b|"
    r"\b(?:i've|i have|i got|got) (?:an?|the|no) (?:\w+ )?(?:headache|cold|cough|fever|hangover|flu|stomach ?ache|"
    r"sore throat|call|idea|hunch|minute)\b|\bmy \w+ (?:hurts?|aches?|is (?:killing|sore|itching))\b|"
    r"\b(?:i'm|i am|we're|we are) (?:\w+ly |just |still |now )?(?!learning|studying|training|saving|planning|working|"
    r"living|building|migrating|moving|expecting|raising|writing|"
    r"renovating|preparing|allergic|standardi\w+|adopting|renting|switching|applying|retiring|getting (?:married|"
    r"divorced)|rolling)\w+ing\b",
    r"\buser is (?:\w+ly |just |now )?(?:waiting|trying|debugging|testing|checking|looking (?:at|into)|asking|"
    r"running|having|fixing|reading|eating|thinking)\b",
    # Something else goes on just now.
    r"\b(?:is|are|keeps?) (?:\w+ly )?(?:complain|load|run|build|compil|wait|work|mak|ring|bark|cry|play|happen|show|"
    r"throw|flicker|blink|go)\w*ing\b",
    # The weather.
    r"\b(?:weather|rain(?:s|ing|y)?|snow(?:s|ing|y)?|sunny|cloudy|windy|foggy|chilly|humid|freezing|storm\w*|sunset|"
    r"sunrise|heat ?wave)\b",
    # An event that is over.
    r"^(?:[\w', -]{1,40}? )?(?:i|we|he|she|they|it|you|user|(?:the|my|our|this) (?:\S+ )?\S+) (?:just |"
    r"\w+ly )?(?!need|used to|prefer|want|called|named|based)"
    r"(?<!\bis )(?<!\bare )(?<!\bbe )(?<!\bget )(?<!\bgets )(?:\w{2,}(?<!ne)(?<!spe)(?<!fe)ed(?! (?:\w+ ){1,2}(?:is|"
    r"are|has|lives?)\b)|was|were|had|went|came|took|saw|ran|ate|slept|forgot|spent|lost|won|did|made|heard|felt|"
    r"woke|watched|gave|got|sent|wrote|said|told|met|fell|hit|broke|drank|caught|paid|put|read)\b",
    # Nobody is named, somebody is spoken to, or something went wrong by chance.
    r"^(?:been|gonna|can't|cannot|couldn't|won't|haven't|hasn't|didn't|hope|hoping|glad|excited|looking|trying|"
    r"having|thinking|getting|got|guess|wish|"
    r"wishing|love to|would love|happy|sad|too|such|true|totally|always here|need|needs|seems?|sounds?|feels?|must|"
    r"should|enjoy\b.*!|let)\b|\byour?\b|"
    r"\bi(?:'ve| have) (?:attached|pasted|included|uploaded|sent|updated|listed|just)\b|\b(?:see|listed|shown|"
    r"attached|pasted) (?:above|below)\b|\b(?:above|below)[.!]?$|"
    r"\b(?:accidentally|by (?:mistake|accident)|mistakenly|unfortunately|luckily|hopefully|apparently|obviously)\b|"
    r"\b(?:is|are|was|were|'s) (?:\w+ )?(?:late|delayed|gone|dead|over|full|awful|terrible|boring|hilarious|amazing|"
    r"lovely|beautiful|great|cute|crazy|ridiculous)\b|"
    r"\bcan't (?:figure|seem|tell|understand|log|find|open|see|get|connect|reach|access|wait|believe|tell|remember|"
    r"install|build)\b|!$",
    # Chinese
    r"又|目前|^(?:刚|刚刚|现在(?!(?:还|已经|都|主要)?(?:改?用|使用|换|住|是|叫|归|由|负责|采用|属于|跑在|部署在|放在|"
    r"在.{1,10}(?:工作|上班|读)))|这(?!个?(?:项目|仓库|服务|团队|公司|产品|系统|环境|家))|那|它|奇怪|怎么|还是|还没|"
    r"还有|可能|也许|大概|应该|好像|似乎|看来|看样子|哇|啊|哎|唉|不太|不行|不对|差点|差不多|再|周末|祝|感觉|"
    r"难怪|果然|终于|居然|竟然|突然|估计|总算|有点|有些|不过|但是?|所以|然后|随便|都行|都可以|无所谓|真的?|太|"
    r"好(?:累|困|饿|热|冷|烦|想|无聊|多|大|美|漂亮)|多(?:么|好))|愉快|快乐|兄弟|"
    r"分钟后|小时后|忘了保存|本地|刚才|刚刚|现在(?!(?:还|已经|都|主要)?(?:改?用|使用|换|住|是|叫|归|由|负责|采用|"
    r"属于|跑在|部署在|放在|在.{1,10}(?:工作|上班|读)))|正(?:准备|要|打算|想)(?!.{0,4}(?:考|买|结婚|备))|"
    r"正在(?![学攒备减]|准备|找(?:工作|房)|装修|考虑|读|做|开发|迁移|写(?:书|论文))|这里|这个(?!项目|仓库|服务|团队|"
    r"公司|产品|系统|环境|家)|那个(?![。]?$)|这行|这段|这次|这样|那样|这么|那么|一下[。!]?$|看看|试试|没变|我刚|"
    r"我找到|能跑|通过的|"
    r"今天|今晚|今早|今儿|昨天|昨晚|昨夜|待会|等会|一会儿|晚点|回头|马上|等下|暂时|先(?:去|试|看|吃|忙|睡|走|这)|"
    r"我(?:觉得|感觉|猜|想想|以为|估计|怀疑|希望|忘了|看到|发现|明白)|(?:我|用户)[^,。]{0,4}(?:有点|好|很|太|真|挺|"
    r"特别|非常)(?:累|困|饿|渴|烦|冷|热|疼|痛|晕|忙|开心|高兴|难过|生气|郁闷|无聊|紧张|焦虑|着急|不舒服|难受|崩溃|"
    r"想哭)|"
    r"(?:头|肚子|胃|嗓子|腰|腿|眼睛|牙)[^,。]{0,4}(?:疼|痛|酸|不舒服|难受)|(?:累|困|饿|烦|冷|热|渴|卡|慢|急)(?:死|坏|"
    r"得|啊|了)|感冒|发烧|没睡好|"
    r"(?:我|咱们?|我们|用户)?(?:正|还)?在(?:等|看|吃|开会|跑(?!在)|排队|路上|想|忙|调|查|试|写(?!.{0,6}(?:书|小说|"
    r"论文))|弄|搞|改|编译|下载|重启|喝|洗|做饭|睡|堵|接|听|加班|打)|"
    r"(?:你|您)(?!可以(?:叫|称呼))|请(?:查收|查看|过目|稍|放心)|附在|如[下上]|见[下上]|^(?:我|咱|他|她|大家)也(?:是|"
    r"一样|觉得|不知道|这么)|[吧啊呢](?:,|$)|不小心|忘记|"
    r"(?:晚|误|延误)点|半天|没动静|告警|密码(?:不对|错误)|[一-龥][不没](?:上去|出来|下来|过去|进去|了手|见了|懂|动了|"
    r"通|清楚|到$)|给我(?:返|报|弹|来)|天气|下雨|下雪|大雨|雷阵雨|刮风|晴天|阴天|太阳|雾霾|降温|升温|夕阳|晚霞|月亮",
    # the event is over (了 at the end) and has not changed what holds, or the speaker's feeling is what counts
    r"^(?!.*(?:升级|改|换|迁移?|调整?|推迟|提前|搬)(?:到|成|为)).*(?:了|过)(?:[。!~]+|$|,(?=[^,]{0,12}$))|"
    r"(?:啊|呀|哇|哦|嘛|吧|啦|咯|哈|呗|喽)[。!~]*$|[!~]$",
    # Japanese
    r"また(?!は|が|い)|^(?:まだ|もっと|ずっと|多分|たぶん|わあ|うわ|あ、|え、|へえ|ねえ|でも|だから|やっぱり|"
    r"とりあえず|なんか|どうやら|やっと|ついに|今(?![はも後年月週])|この(?!プロジェクト|リポジトリ|チーム|会社|"
    r"サービス|アプリ|環境|家|国|製品)|その|あの|それ|これ|変だ|あれ|直前)|"
    r"(?:て|で)(?:くる|きます)(?:ね|わ|よ)?[。!]*$|さっき|たった今|ところです|見つかった|動きました|動いた|再起動|"
    r"ここに|ここで|こちら|そちら|そこ(?:で|に|は)|今日|今夜|今朝|昨日|昨夜|ゆうべ|あとで|後で|のあと|これから(?!は)|"
    r"今のところ|今回|"
    r"変わらない|わからない|分からない|見つから|みたい。?$|っぽい|かもしれ|かも。?$|でもない|でもいい|を[!！]$|"
    r"週末を|良い週末|よい週末|分で戻|し忘れ|サンキュー|これで|気がする|と思う|と思います|だろう|でしょう|"
    r"今(?!.{0,20}(?:使って|住んで|開発|運用|勤め|働い|担当|採用)).{0,16}(?:ところ|てる|てい|で[いる]|重|遅|忙)|"
    r"(?<!療養)(?<!育休)(?<!休職)(?<!留学)(?<!妊娠)(?<!募集)(?<!凍結)(?<!減塩)(?<!勉強)中(?:です|だ)?。?$|"
    r"(?:待っ|食べ|見|調べ|考え|走っ|向かっ|帰っ|休ん|寝|出かけ|回っ|コンパイルし|ビルドし|確認し|試し|読ん|直し|"
    r"迷っ|困っ|疲れ|急い|作業し|デバッグし|テストし|並ん|移動し)[てで](?:い?る|い?ます|います)|"
    r"疲れ|眠い|眠く|眠たい|お腹(?:が)?(?:す|空|減)|空腹|だるい|しんどい|寒い|暑い|忙しい|退屈|暇(?:だ|です|。|$)|"
    r"嬉しい|うれしい|悲しい|楽しかっ|楽しみ|[頭腹喉腰足歯胃目](?:が|も)?(?:少し|ちょっと)?痛|"
    r"風邪|熱がある|緊張|イライラ|気分|ストレス|電車が|遅れて|遅れた|だらけ|進まない|終わらない|違う(?:よう|みたい|"
    r"って)|できない[。!]?$|消えて|うっかり|間違えて|ご[一-龥]{1,3}(?:ください|下さい|願い|いただけ)|お納め|添付|"
    r"土砂降り|日和|下に貼|あなた|君[はがのも]|天気|雨|雪|晴れ|曇り|台風|夕焼け|冷える|冷え込|蒸し暑",
    # What happens (が, を) and no topic (は) that something holds of.
    r"^(?!.*(?:は|も|です|である|という|といい|なら|だ。?$|で、|ので|ため|から|について|以上|以下|以内|まで)).*(?:が|"
    r"を(?!.*(?:て|で)(?:い(?:る|ます)|おり|ある|あります)[。]?$)).*[^、]$",
    # past tense and feelings at the end of a sentence
    r"(?:た|だった|でした|ました|ったよ)(?:ね|よ|な|わ|けど|が|んだ|んです|のに)*[。!~]*$|(?:ね|なあ|なー|わ|ぞ|さ|"
    r"けど|んだけど|のに)[。!~]*$|(?<!派|要)(?:だな|な)[。!]*$|[!~]$",
)

# An English sentence that states something has a subject and, in the present, a verb.
_FINITE = lazy(
    r"\b(?:i|we|they|you)(?:'ve|'d)? (?:\w+ly |also |only |never |always |all |both )?(?!can't|couldn't|cannot|"
    r"will)\w+|\bi'm\b|\bwe're\b|"
    r"(?:^|[,:;(] ?)(?:[^\s,:;]+ ){1,7}?(?:is|are|isn't|aren't|has|have|must|should|will|may|can|gets?|does(?:n't)?|"
    r"don't|[a-z]{2,}[^su\W]s)\b|\w's (?!go\b)|[:=]|\bmy\b|\bour\b|^[a-z]{3,}(?<!s)s (?!on\b|in\b)\w+|^(?:for|in|on|"
    r"at) .*, \w+"
)


def passes(said: str) -> bool:
    """Whether a folded sentence tells of the moment, or tells nothing of anything."""
    return _PASSING.search(said) is not None or (said.isascii() and not _FINITE.search(said))
