"""Reading text as HTML: escaped always, given weight and colour, and never changed by a character.

Evidence points into the reading text by code points, so what is left of this HTML without its tags is the text itself.
What a terminal would obey is hidden by style, not taken out; what turns the direction of writing is named beside itself
and works no further than itself.
"""

from __future__ import annotations

import re
from colorsys import rgb_to_hls
from html import escape, unescape

from reviews.trajectories.diffs import diff_html, is_diff
from reviews.trajectories.prose import MARKUP, markdown

# What starts with ESC: colours (CSI … m), other CSI, two characters, or a lone ESC. The words of a title or a link,
# which a terminal would keep to itself, stay in sight.
ESCAPE = re.compile(r"\x1b(?:\[(?P<codes>[0-?]{0,40})[ -/]{0,4}(?P<end>[@-~])|[@-Z\\\]^_])?")
ATTRIBUTES = {1: "bold", 2: "faint", 3: "italic", 4: "under", 7: "inverse", 9: "struck"}
ENDS = {22: ("bold", "faint"), 23: ("italic",), 24: ("under",), 27: ("inverse",), 29: ("struck",)}
# Of colours beyond sixteen only the hue is kept, in so many classes; the page's theme says how light they are.
HUES = 12
LEAST_SATURATION = 0.2
CUBE = (0, 95, 135, 175, 215, 255)

TURNS = {
    "\u202a": "LRE",
    "\u202b": "RLE",
    "\u202c": "PDF",
    "\u202d": "LRO",
    "\u202e": "RLO",
    "\u2066": "LRI",
    "\u2067": "RLI",
    "\u2068": "FSI",
    "\u2069": "PDI",
}
HIDDEN = re.compile("<i>[^<]*</i>")
TAG = re.compile("<[^>]*>")
TURN = re.compile(f"[{''.join(TURNS)}]")

# What weight and colour may add to a text.
MOST_FOR_MARKS = 8_000
MOST_PER_CHARACTER = 6

KEY = re.compile(r'("(?:[^"\\]|\\.)*")(: )')
TABLE_LINE = re.compile(r"\|.*\||\t.*\t|[│┃║].*[│┃║]|[─━═]{3}")
TABLE_LINES = 3


def prose_html(text: str, *, fence: str = "") -> str:
    """A message with its Markdown; `fence` is what opened a block of code that the text begins in."""
    if "\x1b" in text:
        return verbatim_html(text)
    return _bounded(
        diff_html(text) if is_diff(text) and "```" not in text + fence else markdown(text, fence=fence), text
    )


def verbatim_html(text: str, *, tree: bool = False) -> str:
    """What a tool was given or gave back: JSON that folds (`tree`), terminal colours, a diff, a table, or plain."""
    if "\x1b" in text:
        safe = _terminal(text)
    elif tree:
        safe = _tree(text)
    elif is_diff(text):
        safe = diff_html(text)
    elif _is_table(text):
        safe = (
            f'<span class="table-text" role="group" aria-label="Table" tabindex="0">{escape(text, quote=False)}</span>'
        )
    else:
        safe = escape(text, quote=False)
    return _bounded(safe, text)


def _bounded(safe: str, text: str) -> str:
    """The HTML made of a text, or only the text escaped where nearly every character of it would be marked."""
    too_much = len(safe) > MOST_FOR_MARKS + MOST_PER_CHARACTER * len(text)
    return _turns(escape(text, quote=False) if too_much else safe)


def is_tree(text: str) -> bool:
    """Whether a reading text is JSON over several lines, as `render` writes it."""
    return text.startswith(("{\n  ", "[\n  "))


def without_escapes(text: str) -> str:
    """The text as a terminal would show it, for places that nothing points into."""
    return ESCAPE.sub("", text) if "\x1b" in text else text


def as_seen(text: str, *, prose: bool) -> str:
    """The text without what a page hides of it: a terminal's sequences, or in `prose` the marks of Markdown."""
    if "\x1b" in text:
        return without_escapes(text)
    return unescape(TAG.sub("", HIDDEN.sub("", prose_html(text)))) if prose and MARKUP.search(text) else text


def _turns(safe: str) -> str:
    return TURN.sub(lambda found: f'<span class="turn" data-name="{TURNS[found.group()]}">{found.group()}</span>', safe)


def _is_table(text: str) -> bool:
    lines = [line for line in text.split("\n") if line.strip()]
    return len(lines) >= TABLE_LINES and sum(bool(TABLE_LINE.search(line)) for line in lines) > 0.8 * len(lines)


# --- JSON -------------------------------------------------------------------------------------------------------------
def _tree(text: str) -> str:
    """Lines of JSON in which what stands between brackets can be folded, the outermost too.

    Brackets that are not closed, because the text was cut, do not fold.
    """
    out: list[str] = []
    opened: list[tuple[int, int]] = []  # place in `out`, indentation
    for place, line in enumerate(text.split("\n")):
        rest = line.lstrip(" ")
        margin = len(line) - len(rest)
        if rest[:1] in ("}", "]") and opened and opened[-1][1] == margin:
            first, _ = opened.pop()
            out[first] += _fold(place - first - 1)
            out.append(f"{' ' * margin}</span>{_member(rest)}")
            continue
        if rest.endswith(("{", "[")):
            opened.append((place, margin))
        out.append(" " * margin + _member(rest))
    return "\n".join(out)


def _fold(lines: int) -> str:
    words = f"{lines:,} line{'' if lines == 1 else 's'}"
    button = (
        f'<button type="button" class="fold" aria-expanded="true" aria-label="{words}" data-size="{words}"></button>'
    )
    return f'{button}<span class="kids">'


def _member(rest: str) -> str:
    safe = escape(rest, quote=False)
    return KEY.sub(r'<span class="key">\1</span>\2', safe, count=1) if rest.startswith('"') else safe


# --- Terminal colours -------------------------------------------------------------------------------------------------
def _terminal(text: str) -> str:
    out: list[str] = []
    style: dict[str, str] = {}
    place = 0
    for found in ESCAPE.finditer(text):
        out.append(_styled(text[place : found.start()], style))
        out.append(f'<span class="esc">{escape(found.group(), quote=False)}</span>')
        if found["end"] == "m":
            _switch(style, found["codes"])
        place = found.end()
    out.append(_styled(text[place:], style))
    return "".join(out)


def _styled(text: str, style: dict[str, str]) -> str:
    safe = escape(text, quote=False)
    return f'<span class="{" ".join(style.values())}">{safe}</span>' if safe and style else safe


def _switch(style: dict[str, str], codes: str) -> None:
    """Change the style as a colour sequence says."""
    numbers = [int(code[:4]) if code.isascii() and code.isdigit() else 0 for code in re.split("[;:]", codes)]
    while numbers:
        code = numbers.pop(0)
        if code == 0:
            style.clear()
        elif code in ATTRIBUTES:
            style[ATTRIBUTES[code]] = ATTRIBUTES[code]
        elif code in ENDS:
            for name in ENDS[code]:
                style.pop(name, None)
        elif code in (38, 48):
            _paint(style, "ink" if code == 38 else "ground", _long_colour(numbers))
        elif code in (39, 49):
            _paint(style, "ink" if code == 39 else "ground", "")
        elif 30 <= code <= 37 or 90 <= code <= 97:
            _paint(style, "ink", str(code % 10))
        elif 40 <= code <= 47 or 100 <= code <= 107:
            _paint(style, "ground", str(code % 10))


def _paint(style: dict[str, str], what: str, colour: str) -> None:
    if colour:
        style[what] = f"{what}-{colour}"
    else:
        style.pop(what, None)


def _long_colour(numbers: list[int]) -> str:
    """Take what follows a 38 or 48, and name the nearest colour a page has; "" for one that does not exist."""
    kind = numbers.pop(0) if numbers else 0
    if kind == 5:
        return _of_256(numbers.pop(0) if numbers else 256)
    if kind == 2:
        red_green_blue, numbers[:3] = numbers[:3], []
        return _nearest(*red_green_blue) if len(red_green_blue) == 3 and max(red_green_blue) < 256 else ""
    return ""


def _of_256(number: int) -> str:
    """The sixteen colours, then a cube of six by six by six, then greys."""
    if number < 16:
        return str(number % 8)
    if number < 232:
        place = number - 16
        return _nearest(CUBE[place // 36], CUBE[place // 6 % 6], CUBE[place % 6])
    return _nearest(*[8 + 10 * (number - 232)] * 3) if number < 256 else ""


def _nearest(red: int, green: int, blue: int) -> str:
    """The class of the hue, or of the grey."""
    hue, light, saturation = rgb_to_hls(red / 255, green / 255, blue / 255)
    if saturation < LEAST_SATURATION or not 0.04 < light < 0.97:
        return "0" if light < 0.5 else "7"
    return f"hue-{round(hue * HUES) % HUES}"
