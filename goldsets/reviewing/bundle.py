"""The bundle with which a reviewer runs elsewhere: its weights or rules, the program that reads them, and its proof.

The same reviewer gives the same bytes. `verdicts.example.jsonl` is what the program must say of `items.example.jsonl`.
"""

import hashlib
import io
import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from goldsets.reviewing import scoring
from goldsets.reviewing.judge_prompt import TOKEN, instructions
from goldsets.reviewing.judging import Judge

# Zip files know no time before this one.
NO_TIME = (1980, 1, 1, 0, 0, 0)
EXAMPLES: list[dict[str, Any]] = [
    {
        "id": "a-run",
        "tools": [{"function": {"name": "send_refund", "access": "write"}}],
        "steps": [
            {"role": "user", "text": "My order came a week late. I want my money back."},
            {
                "role": "tool",
                "text": "",
                "call": {"name": "send_refund", "arguments": '{"order": "A-5071", "amount": 64.2}'},
                "result": {"text": '{"status": "sent"}', "error": False},
            },
            {"role": "agent", "text": "A refund of $64.20 is on its way."},
        ],
    },
    {"id": "a-text", "text": "A bare text can be judged as well, by its words and its length alone."},
]
SAID: list[dict[str, Any]] = [{"id": "a-run", "said": 1}, {"id": "another", "said": 0}, {"id": "silent", "said": None}]
JUDGE = """
This reviewer is a judging model: `score.py` turns what it said into a verdict. Ask the model of `prompt.json` with its
parameters and its system message. {token} is a random word of your own for each call; the run follows in the user
message, each part behind a line ⟦{token} step 3, agent⟧. An item is then {"id", "said", "evidence"}: `said` is the
value it answered, 1 for pass and 0 for fail of a gate, null where it said nothing, or quoted what does not stand there.
"""
DECIDES = """
This reviewer is a service that answers typed decisions: `score.py` turns what it said into a verdict. Post it what
stands in `prompt.json` as `question`, with the run as `item`. An item is then {"id", "said", "evidence"}. Of a gate or
a yes or no `said` is how likely a pass is: the confidence of a pass, 1 less that of a fail, and 1 or 0 where it said no
confidence; of levels it is the level. It is null where it said nothing, or quoted what does not stand there.
"""
README = """# {title}

Decides: {decision}. {signed}

    python score.py reviewer.json < items.jsonl > verdicts.jsonl

It needs Python 3.11 or later and nothing else, reads no other file and speaks to no network. `score.py` states the rule
in full. An item is a JSON object a line: {{"id", "text"}}, or {{"id", "steps", "tools"}} as in Assay's export of labels
(format `jsonl`). Each verdict has

- `verdict`: 1 passes, 0 fails, null where no rule fits;
- `confidence`, from .5 to 1;
- `deferred`: true where people must decide. **A deferred verdict is none: use only those that are not deferred.**
- `reasons`: the words and measures that spoke most for it; `evidence`: the steps in which those words stand.

`reviewer.json` is plain data. SHA-256 of its JSON with sorted keys, no white space and no `about`:
{artefact_sha256}

`assurance.md` says what was proven and on what, `assurance.json` the same with every figure. To see that it works here:

    python score.py reviewer.json < items.example.jsonl | diff - verdicts.example.jsonl

It was proven for items like those that it was compiled from. Have people look at a random share of what it decides.
"""


def bundle(artefact: Mapping[str, Any], assurance: Mapping[str, Any], about: Mapping[str, Any]) -> bytes:
    """A zip. `about` says what it is: title, decision, signed, artefact_sha256, and all that the reviewer came from."""
    examples = SAID if artefact["kind"] == "judge" else EXAMPLES
    files = {
        "README.md": README.format(
            **{name: about[name] for name in ("title", "decision", "signed", "artefact_sha256")}
        ),
        "reviewer.json": _json({**artefact, "about": about}),
        "score.py": Path(scoring.__file__).read_text(encoding="utf-8"),
        "assurance.json": _json(assurance),
        "assurance.md": report(assurance, about),
        "items.example.jsonl": "".join(f"{json.dumps(item, ensure_ascii=False)}\n" for item in examples),
        "verdicts.example.jsonl": "".join(scoring.verdicts(artefact, map(json.dumps, examples))),
    }
    if artefact["kind"] == "judge":
        files["prompt.json"] = _json(prompt(artefact["judge"]))
        files["README.md"] += DECIDES if artefact["judge"].get("decides") else JUDGE
    sums = {name: hashlib.sha256(text.encode()).hexdigest() for name, text in files.items()}
    files["SHA256SUMS"] = "".join(f"{digest}  {name}\n" for name, digest in sums.items())
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(zipfile.ZipInfo(name, NO_TIME), text.encode(), zipfile.ZIP_DEFLATED)
    return out.getvalue()


def prompt(judge: Mapping[str, Any]) -> dict[str, Any]:
    """What the judge is asked: model, parameters and system message, with {token} where the token of a call goes; of a
    service that answers typed decisions what it is posted beside the item."""
    asked = judge["rubric"], judge["guideline"], judge["criterion"]
    about = {"criterion": judge["criterion"], "examples": judge["examples"], "fingerprint": judge["fingerprint"]}
    if judge.get("decides"):
        whole = Judge(judge["model"], *asked, judge["parameters"], judge["examples"], decides=True)
        question = whole.question({})
        return {"question": {name: part for name, part in question.items() if name != "item"}, **about}
    system = instructions(*asked, candidates=0, examples=judge["examples"])
    return {
        "model": judge["model"],
        "parameters": judge["parameters"],
        "system": "".join("{token}" if part is TOKEN else part for part in system),
        **about,
    }


def report(assurance: Mapping[str, Any], about: Mapping[str, Any]) -> str:
    """The assurance report as Markdown: what is missing first, then proof by proof."""
    lines = [f"# {about['title']}", "", f"Decides: {about['decision']}. {about['signed']}", ""]
    lines += ["**All proofs hold.**" if assurance["holds"] else "**Refused.** What is missing:", ""]
    lines += [f"- {each}" for each in assurance["missing"]]
    for proof in assurance["proofs"]:
        word = {True: "holds", False: "does not hold", None: "told"}[proof["holds"]]
        lines += ["", f"## {proof['title']}: {word}", "", proof["words"]]
    return "\n".join(lines) + "\n"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1, sort_keys=True) + "\n"
