"""Code in colour: comments, strings, numbers and keywords of many languages, every character in its place.

One expression per family of languages, read once from left to right. Lexers that know more of a language take seconds
for a few thousand characters that mean them harm, and a run may hold such.
"""

from __future__ import annotations

import re
from html import escape

SHARED = "if else for while return break continue in true false null"
HASH = "python py python3 bash sh shell zsh ruby rb yaml yml toml r dockerfile makefile perl elixir ex"
SLASH = (
    "javascript js jsx typescript ts tsx java c cpp c++ h hpp cs csharp c# go rust rs kotlin kt swift php scala dart"
    " css scss json jsonc json5"
)
DASH = "sql lua haskell hs"
KEYWORDS = {
    HASH: "def class import from as with try except finally raise lambda yield async await pass not and or is None True"
    " False self then fi do done elif case esac function local export end module require begin rescue unless",
    SLASH: "function const let var class new this import export from as async await try catch finally throw switch"
    " case default typeof instanceof void int long float double char bool boolean string public private protected"
    " static final struct enum interface type func fn mut pub impl match use package extends implements undefined nil",
    DASH: "select from where and or not insert into values update set delete join left right inner outer on group by"
    " order having limit as create table alter drop index view union all distinct case when then end is like between",
}
COMMENTS = {HASH: r"#[^\n]*", SLASH: r"//[^\n]*|/\*[^*]*(?:\*(?!/)[^*]*)*(?:\*/)?", DASH: r"--[^\n]*"}
STRINGS = (
    r'"""[^"\\]*(?:(?:\\.|"(?!""))[^"\\]*)*(?:""")?'
    r"|\"(?:[^\"\\\n]|\\.)*\"?|'(?:[^'\\\n]|\\.)*'?|`(?:[^`\\]|\\.)*`?"
)
MARKUP_LANGUAGES = "html xml svg vue"
MARKUP = re.compile(r"(?P<comment><!--[^>]{0,500}-->)|(?P<keyword></?[A-Za-z][\w:-]*|/?>)|(?P<string>\"[^\"<>\n]*\")")


def _expression(family: str) -> re.Pattern[str]:
    words = "|".join(sorted({*SHARED.split(), *KEYWORDS[family].split()}))
    flags = re.DOTALL | (re.IGNORECASE if family == DASH else 0)
    return re.compile(
        rf"(?P<comment>{COMMENTS[family]})|(?P<string>{STRINGS})"
        rf"|(?P<number>\b\d[\w.]*)|(?P<keyword>\b(?:{words})\b)|\w+",
        flags,
    )


_TAG = re.compile(r"<span [^>]*>|</span>")
_BY_LANGUAGE = {
    language: expression
    for family in (HASH, SLASH, DASH)
    for expression in [_expression(family)]
    for language in family.split()
} | dict.fromkeys(MARKUP_LANGUAGES.split(), MARKUP)


def highlighted(code: str, language: str) -> str:
    """The code as HTML, coloured where its language is known."""
    expression = _BY_LANGUAGE.get(language)
    if expression is None:
        return escape(code, quote=False)
    out: list[str] = []
    place = 0
    for found in expression.finditer(code):
        if not found.lastgroup:
            continue
        out.append(escape(code[place : found.start()], quote=False))
        out.append(f'<span class="{found.lastgroup}">{escape(found.group(), quote=False)}</span>')
        place = found.end()
    out.append(escape(code[place:], quote=False))
    return "".join(out)


def lines_of(code: str, language: str = "") -> list[str]:
    """The code as HTML line by line, each with its end of line; a colour that runs on begins anew in the next."""
    lines, opened = [], ""
    for line in highlighted(code, language).split("\n"):
        begun = opened + line
        for found in _TAG.finditer(line):
            opened = found.group() if found.group() != "</span>" else ""
        lines.append(f"{begun}\n</span>" if opened else f"{begun}\n")
    # The text ends where it ends, so that places in the page are those in the text.
    return [*lines[:-1], lines[-1].removesuffix("\n")]
