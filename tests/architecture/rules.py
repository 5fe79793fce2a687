"""The rules of the house as plain functions: a module's source in, complaints out.

Nothing here imports the code that it judges, so a broken module is judged too.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

__all__ = [
    "ADAPTERS",
    "FACES",
    "Import",
    "Module",
    "docstrings",
    "exports",
    "impure",
    "layers",
    "marks",
    "modules",
    "sizes",
    "sql_strings",
    "standard_library_only",
    "swallowed",
]

ADAPTERS = ("postgres", "embedding", "reranking", "graph", "cache", "llm")
# What the service can do, where it is more than a few lines; each is a base class of it.
CASES = ("gate", "retraction", "consolidation", "release", "forgetting")
FACES = ("http", "mcp", "worker", "web")

# What a part of a package may import from its own package. `_version` is everybody's.
_MEMEX: dict[str, set[str]] = {
    "core": set(),
    "protocol": set(),
    "extract": {"core", "protocol"},
    "transport": {"protocol"},
    "matrix": {"core", "protocol"},
    "connect": {"core", "protocol"},
    "backend": {"protocol", "core", "extract", "transport", "matrix"},
}
# The shell around them may use all of memex.
_MEMEX_SHELL = {
    "__init__", "__main__", "provider", "client", "rest", "cli", "commands", "config", "hermes", "notify",
    "logging_setup", "testing",
}  # fmt: skip

# What else a part may import, inside its functions only.
_GUESTS = {"cli": {"memex_server"}, "hermes": {"agent", "hermes_constants", "yaml"}}

_SERVER: dict[str, set[str]] = {
    "__init__": set(),
    "setting": set(),
    "settings": {"setting"},
    "ports": set(),
    "metrics": {"ports", "settings"},
    "logs": {"settings"},
    "signals": {"ports"},
    "ranking": {"ports", "signals"},
    "explain": {"ports", "signals", "ranking"},
    "ids": set(),
    "background": set(),
    "footprint": set(),
    "access": set(),
    "checks": {"ports"},
    "indexing": {"ports"},
    "answers": {"ports"},
    "recalls": {"ports"},
    "onnx_runtime": set(),
    "reranked": {"ports"},
    "worth": {"ports"},
    "lifecycle_ports": {"ports"},
    "record_ports": {"ports"},
    "extraction": {"ports", "lifecycle_ports", "record_ports"},
    "records": {"ports", "lifecycle_ports", "record_ports", "ranking", "extraction", "ids", "checks", "indexing"},
    "parts": {"ports", "lifecycle_ports", "ids", "ranking", "answers", "recalls", "records", "reranked", "worth"},
    **{case: {"ports", "lifecycle_ports", "parts", "checks", "indexing", "worth", *CASES} for case in CASES},
    "service": {"ports", "explain", "ranking", "ids", "checks", "indexing", "records", "reranked", *CASES},
    **{
        adapter: {"ports", "lifecycle_ports", "record_ports", "ids", "onnx_runtime", "settings"} for adapter in ADAPTERS
    },
    **{
        face: {"service", "ports", "settings", "metrics", "logs", "access", "lifecycle_ports", "checks", *CASES}
        for face in FACES
    },
}
# The composition root, and the commands that call it.
_SERVER_ROOT = {
    "wiring", "extractors", "reembed", "work", "prepare", "late", "serve", "stdio", "doctor", "testing", "__main__",
}  # fmt: skip
# Everything of the server builds on these parts of memex only.
_SERVER_FROM_MEMEX = {"core", "protocol", "config", "_version"}
_ROOT_FROM_MEMEX = _SERVER_FROM_MEMEX | {"extract", "transport", "testing", "logging_setup"}

_PARTS = {*_MEMEX, *_MEMEX_SHELL, *_SERVER, *_SERVER_ROOT, "_version"}

_IMPURE_MODULES = frozenset(
    "asyncio io logging multiprocessing os pathlib random secrets shutil socket subprocess tempfile threading time".split()
)
_IMPURE_CALLS = {"open", "print", "input", "now", "utcnow", "today", "uuid1", "uuid4", "getenv"}

_SQL = re.compile(
    r"\bSELECT\b.+\bFROM\b|^\s*SELECT\s|\bINSERT\s+INTO\b|\bUPDATE\s+\S+\s+SET\b|\bDELETE\s+FROM\b"
    r"|\b(CREATE|ALTER|DROP)\s+(UNIQUE\s+|OR\s+REPLACE\s+)?(TABLE|INDEX|EXTENSION|FUNCTION|POLICY|ROLE|DATABASE|SCHEMA|TYPE)\b"
    r"|^\s*(TRUNCATE|GRANT|REVOKE|VACUUM|ANALYZE|EXPLAIN|SHOW)\s|^\s*WITH\s+\w+\s+AS\s*\(|^\s*SET\s+(LOCAL\s+|SESSION\s+)?\w+(\.\w+)?\s*(=|TO)"
    r"|^\s*(?:select\s.+\sfrom|insert\s+into|delete\s+from|update\s+\w+\s+set|create\s+(table|index))\s",
    re.DOTALL,
)
# Calls whose first argument is a package: import_module("x"), importlib.resources.files("x").
_IMPORTING = {"import_module", "__import__", "files"}
_TYPE_VARIABLES = {"TypeVar", "ParamSpec", "TypeVarTuple"}
_MARK = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")


@dataclass(frozen=True)
class Import:
    """One imported name, absolute, and whether importing the module imports it too."""

    line: int
    name: str
    at_top: bool


@dataclass(frozen=True)
class Module:
    """One Python file by its dotted name."""

    name: str
    source: str
    is_package: bool = False

    @cached_property
    def tree(self) -> ast.Module:
        """The parsed source."""
        return ast.parse(self.source)

    @property
    def package(self) -> str:
        """The distribution's package that it belongs to: `memex` or `memex_server`."""
        return self.name.partition(".")[0]

    @property
    def part(self) -> str:
        """The first name below the package; `__init__` for the package itself."""
        return part_of(self.name)

    @cached_property
    def imports(self) -> list[Import]:
        """All imports, relative ones made absolute, those under TYPE_CHECKING included."""
        return list(_imports(self))

    def at(self, line: int, text: str) -> str:
        """Return a complaint that names the place."""
        return f"{self.name}:{line}: {text}"


def part_of(name: str) -> str:
    """Return the second component of a dotted name, `__init__` when there is none."""
    parts = name.split(".")
    return parts[1] if len(parts) > 1 else "__init__"


def modules(src: Path, package: str) -> list[Module]:
    """Read every Python file of one package under `src`."""
    found = []
    for path in sorted((src / package).rglob("*.py")):
        dotted = ".".join(path.relative_to(src).with_suffix("").parts)
        is_package = path.name == "__init__.py"
        found.append(Module(dotted.removesuffix(".__init__"), path.read_text(encoding="utf-8"), is_package))
    return found


def standard_library_only(module: Module) -> list[str]:
    """`memex` imports the standard library and itself.

    Inside functions its CLI may import `memex_server`, and its `host` what the agent around it has.
    """
    complaints = []
    for found in module.imports:
        root = found.name.partition(".")[0]
        if root == "memex" or root in sys.stdlib_module_names:
            continue
        if root in _GUESTS.get(module.part, ()) and not found.at_top:
            continue
        complaints.append(module.at(found.line, f"imports {found.name}, which is not of the standard library"))
    return complaints


def layers(module: Module) -> list[str]:
    """Each part of a package imports only the parts below it."""
    allowed_own, allowed_memex = _allowed(module)
    if allowed_own is None:
        return [module.at(1, f"`{module.part}` has no place in the layer table of tests/architecture/rules.py")]
    complaints = []
    for found in module.imports:
        root = found.name.partition(".")[0]
        target = part_of(found.name)
        if target not in _PARTS:
            target = "__init__"  # a name of the package's front door, such as __version__
        if root == module.package:
            permitted = target in {module.part, "_version", *allowed_own} or "*" in allowed_own
        elif root == "memex":
            permitted = target in allowed_memex or target == "__init__"
        else:
            continue
        if not permitted:
            complaints.append(module.at(found.line, f"`{module.part}` may not import {found.name}"))
    return complaints


def impure(module: Module) -> list[str]:
    """`core` and `protocol` know no clock, chance, environment, log, or input and output."""
    complaints = [
        module.at(found.line, f"is pure, yet imports {found.name}")
        for found in module.imports
        if found.name.partition(".")[0] in _IMPURE_MODULES
    ]
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Call) and _called(node) in _IMPURE_CALLS:
            complaints.append(module.at(node.lineno, f"is pure, yet calls {_called(node)}()"))
    return complaints


def exports(module: Module) -> list[str]:
    """`__all__` is a literal list and holds exactly the public names that the module defines.

    It may also hold imported names (a package's front door) and, where the module has its own
    `__getattr__`, names that appear on first use.
    """
    defined, imported = set(), set()
    listed: list[str] | None = None
    for node in _top_statements(module.tree.body):
        if isinstance(node, ast.Import | ast.ImportFrom):
            imported |= {alias.asname or alias.name.partition(".")[0] for alias in node.names}
            continue
        for name in _bound(node):
            if name == "__all__" and isinstance(node, ast.Assign):
                try:
                    listed = list(ast.literal_eval(node.value))
                except ValueError:
                    return [module.at(node.lineno, "__all__ is not a literal list")]
            defined.add(name)
    if listed is None and not defined and not imported - {"annotations"}:
        return []  # a package that is only a folder
    if listed is None:
        return [module.at(1, "has no __all__")]
    public = {name for name in defined if not name.startswith("_")}
    missing = sorted(public - set(listed))
    complaints = [module.at(1, f"defines {name}, which __all__ does not hold") for name in missing]
    if "__getattr__" not in defined:
        unknown = sorted(set(listed) - defined - imported)
        complaints += [module.at(1, f"__all__ holds {name}, which is not there") for name in unknown]
    return complaints


def docstrings(module: Module) -> list[str]:
    """Every module, public class, public function and public method says what it is."""
    complaints = [] if ast.get_docstring(module.tree) else [module.at(1, "the module has no docstring")]
    for owner, node in _public(module.tree.body, ""):
        if not ast.get_docstring(node):
            complaints.append(module.at(node.lineno, f"{owner}{node.name} has no docstring"))
    return complaints


def swallowed(module: Module) -> list[str]:
    """No broad `except` that does nothing, and no `suppress` of everything."""
    complaints = []
    for node in ast.walk(module.tree):
        if isinstance(node, ast.ExceptHandler) and _broad(node.type) and all(_idle(s) for s in node.body):
            complaints.append(module.at(node.lineno, "swallows every error"))
        elif isinstance(node, ast.Call) and _called(node) == "suppress" and any(_broad(a) for a in node.args):
            complaints.append(module.at(node.lineno, "suppresses every error"))
    return complaints


def marks(module: Module) -> list[str]:
    """Nothing is left for later: no mark in a comment or text, no NotImplementedError."""
    complaints = []
    for token in tokenize.generate_tokens(io.StringIO(module.source).readline):
        found = _MARK.search(token.string) if token.type in {tokenize.COMMENT, tokenize.STRING} else None
        if found:
            complaints.append(module.at(token.start[0], f"leaves a {found.group()}"))
        elif token.type == tokenize.NAME and token.string == "NotImplementedError":
            complaints.append(module.at(token.start[0], "leaves a NotImplementedError"))
    return complaints


def sql_strings(module: Module) -> list[str]:
    """SQL lives in .sql files; Python picks a block by its name.

    Docstrings may speak of SQL, and so may an error that tells its reader what to run.
    """
    prose = {id(node.value) for node in ast.walk(module.tree) if isinstance(node, ast.Expr)}
    prose |= {id(inner) for node in ast.walk(module.tree) if isinstance(node, ast.Raise) for inner in ast.walk(node)}
    return [
        module.at(node.lineno, f"holds SQL: {node.value.strip()[:40]!r}")
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in prose
        if _SQL.search(node.value)
    ]


def sizes(lines: dict[str, int], limit: int, exceptions: dict[str, int]) -> list[str]:
    """A file holds at most `limit` lines; an exception may only shrink until it is none."""
    complaints = []
    for path, count in sorted(lines.items()):
        allowed = exceptions.get(path, limit)
        if count > allowed:
            complaints.append(f"{path}: {count} lines, {allowed} allowed: it holds more than one idea; split it")
        elif path in exceptions and count <= limit:
            complaints.append(f"{path}: {count} lines: take it out of the exceptions")
        elif path in exceptions and count < allowed:
            complaints.append(f"{path}: {count} lines: lower its exception from {allowed}")
    complaints += [f"{path}: an exception for a file that is gone" for path in sorted(set(exceptions) - set(lines))]
    return complaints


def _allowed(module: Module) -> tuple[set[str] | None, set[str]]:
    """Return the parts of the own package, and of `memex`, that a module may import."""
    part = module.part
    if module.package == "memex":
        if part in _MEMEX_SHELL or part == "_version":
            return {"*"}, set()
        return _MEMEX.get(part), set()
    if part in _SERVER_ROOT:
        return {"*"}, _ROOT_FROM_MEMEX
    return _SERVER.get(part), _SERVER_FROM_MEMEX


def _imports(module: Module) -> Iterator[Import]:
    inside = {
        id(child)
        for node in ast.walk(module.tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        for child in ast.walk(node)
    }
    here = module.name.split(".")
    for node in ast.walk(module.tree):
        at_top = id(node) not in inside
        if isinstance(node, ast.Call) and _called(node) in _IMPORTING and node.args:
            first = node.args[0]
            if isinstance(first, ast.Constant) and isinstance(first.value, str) and first.value:
                yield Import(node.lineno, first.value, at_top)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(node.lineno, alias.name, at_top)
        elif isinstance(node, ast.ImportFrom):
            up = node.level - (1 if module.is_package else 0)
            base = here[: len(here) - up] if node.level else []
            stem = ".".join([*base, *([node.module] if node.module else [])])
            # `from memex import core` names a part of the package, not only the package.
            if part_of(stem) == "__init__":
                for alias in node.names:
                    yield Import(node.lineno, f"{stem}.{alias.name}", at_top)
            else:
                yield Import(node.lineno, stem, at_top)


def _top_statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements that run at import, those in `if` and `try` included."""
    for node in body:
        yield node
        for inner in ("body", "orelse", "finalbody"):
            if isinstance(node, ast.If | ast.Try | ast.With):
                yield from _top_statements(getattr(node, inner, []))
        if isinstance(node, ast.Try):
            for handler in node.handlers:
                yield from _top_statements(handler.body)


def _bound(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and _called(node.value) in _TYPE_VARIABLES:
        return  # T and N are nobody's interface
    elif isinstance(node, ast.Assign | ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        for target in targets:
            for name in ast.walk(target):
                if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store):
                    yield name.id


_Documented = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def _public(body: list[ast.stmt], owner: str) -> Iterator[tuple[str, _Documented]]:
    for node in body:
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) or node.name.startswith("_"):
            continue
        if any(_decorator(d) in {"override", "overload", "setter"} for d in node.decorator_list):
            continue
        yield owner, node
        if isinstance(node, ast.ClassDef):
            yield from _public(node.body, f"{owner}{node.name}.")


def _decorator(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _called(node: ast.Call) -> str:
    return _decorator(node.func)


def _broad(node: ast.expr | None) -> bool:
    if isinstance(node, ast.Tuple):
        return any(_broad(element) for element in node.elts)
    return node is None or (isinstance(node, ast.Name) and node.id in {"Exception", "BaseException"})


def _idle(node: ast.stmt) -> bool:
    return isinstance(node, ast.Pass | ast.Continue) or (
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    )
