"""Names of tools, services and makes, by kind: of a kind one is in use for a purpose at a time."""

from __future__ import annotations

import re

from .fold import canonical
from .patterns import lazy

__all__ = ["about_answers", "languages_of_answers", "named"]

# Names of one kind. Aliases are parted by a slash.
_KINDS = {
    "database": "mysql,mariadb,postgresql/postgres,sqlite,mongodb/mongo,oracle,dynamodb,cassandra,cockroachdb,tidb,sql server",
    "cache": "redis,memcached,valkey,dragonfly",
    "ci": "jenkins,github actions,gitlab ci/gitlab,circleci,travis/travis ci,buildkite,teamcity,drone,azure pipelines,bitbucket pipelines",
    "editor": "vs code/vscode/visual studio code,vim,neovim,emacs,sublime/sublime text,intellij/idea,pycharm,webstorm,cursor,zed,helix,notepad++,eclipse",
    "frontend": "react,vue,angular,svelte/sveltekit,jquery,next.js,nuxt,ember,solidjs,htmx",
    "web framework": "django,flask,fastapi,rails/ruby on rails,laravel,spring/spring boot,express,nestjs,gin,phoenix",
    "language": "golang/in go/用 go/goで/go で,rust,python,java,kotlin,typescript,javascript,ruby,php,scala,c#,c++,swift,elixir,perl,haskell",
    "cloud": "aws,gcp/google cloud,azure,heroku,vercel,netlify,fly.io,digitalocean,hetzner,linode,阿里云,腾讯云,华为云,さくら",
    "tracker": "jira,linear,asana,trello,youtrack,github issues,redmine,backlog,禅道,monday.com,clickup,basecamp",
    "chat": "slack,teams/microsoft teams,discord,mattermost,飞书,钉钉,企业微信,微信,chatwork,telegram,zulip,signal,whatsapp,line",
    "package manager": "npm,yarn,pnpm,bun,pip,poetry,uv,pipenv,conda",
    "broker": "kafka,rabbitmq,sqs,nats,pulsar,activemq,rocketmq",
    "browser": "chrome,firefox,safari,edge,brave,arc,vivaldi,opera",
    "system": "windows,macos,linux,ubuntu,fedora,arch linux,debian,mint,centos,freebsd",
    "phone": "iphone,pixel,galaxy,android,huawei/华为手机,xiaomi/小米手机,xperia,oneplus",
    "shell": "bash,zsh,fish shell/fish,powershell,nushell",
    "tests": "jest,vitest,mocha,pytest,unittest,junit,cypress,playwright,selenium",
    "bundler": "webpack,vite,rollup,esbuild,parcel,gulp,turbopack",
    "build": "maven,gradle,bazel,makefiles/make,cmake,ninja,ant",
    "monitoring": "datadog,grafana,prometheus,new relic,zabbix,nagios,sentry,splunk",
    "identity": "auth0,cognito,keycloak,okta,clerk,firebase auth",
    "search": "elasticsearch,opensearch,solr,meilisearch,typesense,algolia",
    "containers": "docker swarm,kubernetes/k8s,nomad,ecs,docker compose",
    "payments": "stripe,paypal,adyen,braintree,square,支付宝,微信支付,paypay",
    "mail service": "sendgrid,mailgun,ses,postmark,mailchimp,mailjet",
    "mail client": "gmail,outlook,thunderbird,protonmail/proton mail,fastmail,apple mail",
    "notes": "notion,obsidian,evernote,roam,logseq,onenote,印象笔记,语雀,confluence,bear",
    "design": "figma,sketch,adobe xd,penpot",
    "version control": "git,svn/subversion,mercurial",
    "meetings": "zoom,google meet,webex,腾讯会议",
    "music": "spotify,apple music,youtube music,tidal,deezer,网易云音乐/网易云,qq音乐",
    "infrastructure": "terraform,pulumi,ansible,cloudformation,chef,puppet,opentofu",
    "web server": "nginx,apache,caddy,traefik,haproxy",
    "api style": "rest,graphql,grpc,soap,trpc",
    "data format": "json,yaml,xml,toml,protobuf,avro",
    "hosting": "github,gitlab,bitbucket,gitea",
    "styling": "tailwind,bootstrap,sass,styled-components,bulma",
    "password manager": "1password,bitwarden,lastpass,keepass,dashlane",
    "keyboard": "qwerty,dvorak,colemak,workman",
    "transport": "by car,by bike,by train,by bus,by tram,by subway,on foot,drive to work,bike to work/cycle to work,开车,骑车/骑自行车/骑单车,坐地铁/乘地铁,坐公交,电车で/電車で,車で,自転車で,バスで,徒歩で/歩いて",
}


def _compile_kinds() -> tuple[re.Pattern[str], re.Pattern[str], dict[str, tuple[tuple[str, str], ...]]]:
    """Return the pattern of names in ASCII, that of the others, and of which kinds each name is."""
    meant: dict[str, list[tuple[str, str]]] = {}
    for kind, names in _KINDS.items():
        for aliases in names.split(","):
            first, *others = aliases.split("/")
            for name in (first, *others):
                meant.setdefault(canonical(name), []).append((kind, first))
    longest_first = sorted(meant, key=len, reverse=True)
    plain, other = (
        lazy("|".join(re.escape(name) for name in longest_first if name.isascii() is ascii_))
        for ascii_ in (True, False)
    )
    return plain, other, {name: tuple(kinds) for name, kinds in meant.items()}


_PLAIN_TOOLS, _OTHER_TOOLS, _MEANT = _compile_kinds()
_FIRST_WORDS = frozenset(name.split(" ")[0] for name in _MEANT)
_WORD = lazy(r"(?<![\w.@])[a-z\d][a-z\d.+#-]*(?<!\.)", re.ASCII)
_NO_NAME = lazy(r"[a-z\d]|[-@]\w", re.ASCII)


_ANSWER = lazy(
    canonical(
        r"\b(?:tone|answers?|repl(?:y|ies)|respond\w*|responses?|explanations?|explain\w*|summar\w+|talk|speak to|chat|write to)\b|回答|回复|答复|回应|解释|说明|沟通|"
        r"聊|交流|对话|语气|口吻|口調|返信|答え|応答|返答|説明|会話|話して|やり取り|回覆|文章"
    ),
    re.ASCII,
)
_LANGUAGES = (
    ("english", "english|英语|英文|英語"),
    ("chinese", "chinese|mandarin|中文|汉语|普通话|中国語"),
    ("japanese", "japanese|日语|日文|日本語"),
    ("german", "german|德语|德文|ドイツ語"),
    ("french", "french|法语|法文|フランス語"),
    ("spanish", "spanish|西班牙语|スペイン語"),
    ("korean", "korean|韩语|韩文|韓国語"),
    ("italian", "italian|意大利语|イタリア語"),
    ("portuguese", "portuguese|葡萄牙语|ポルトガル語"),
    ("russian", "russian|俄语|ロシア語"),
)
_LANGUAGE = tuple((name, lazy(canonical(pattern), re.ASCII)) for name, pattern in _LANGUAGES)


def about_answers(said: str) -> bool:
    """Whether a folded text is about how one is to be answered."""
    return _ANSWER.search(said) is not None


def languages_of_answers(said: str) -> list[tuple[str, tuple[int, int]]]:
    """Return the languages that a folded text about answers names, and where."""
    if not about_answers(said):
        return []
    return [(name, match.span()) for name, pattern in _LANGUAGE for match in pattern.finditer(said)]


def named(said: str) -> list[tuple[str, str, tuple[int, int]]]:
    """Return the names in a folded text: the kind, the name, and where it stands."""
    return [(kind, name, match.span()) for match in _names(said) for kind, name in _MEANT[match.group()]]


def _names(said: str) -> list[re.Match[str]]:
    found = []
    for word in _WORD.finditer(said):
        if word.group() in _FIRST_WORDS:
            match = _PLAIN_TOOLS.match(said, word.start())
            if match and not _NO_NAME.match(said, match.end()):
                found.append(match)
    if not said.isascii():
        found += _OTHER_TOOLS.finditer(said)
    return found
