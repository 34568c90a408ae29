"""LLaMA-Factory: pairs and KTO in sharegpt form, with the `dataset_info.json` that tells it where what stands.

Its conversations take turns: somebody asks (human, observation), the model answers (gpt, function_call). A run that
does not is left out and counted.
"""

from collections.abc import Iterator
from typing import Any

from goldsets.writers.chat import Message
from goldsets.writers.document import Document
from goldsets.writers.examples import Reading
from goldsets.writers.format import Format
from goldsets.writers.label_row import as_json
from goldsets.writers.single import single_pairs
from reviews.trajectories import jsontext

ASKING, ANSWERING = {"human", "observation"}, {"gpt", "function_call"}
NAMES = {"user": "human", "assistant": "gpt", "tool": "observation"}


def pairs(document: Document, reading: Reading) -> Iterator[dict[str, Any]]:
    for pair in single_pairs(document, reading):
        system, turns = _turns(pair.prompt)
        if _take_turns(turns, last=ASKING):
            chosen, rejected = (_turn(side[0]) for side in (pair.chosen, pair.rejected))
            yield {
                "conversations": turns,
                "chosen": chosen,
                "rejected": rejected,
                "system": system,
                "tools": pair.tools,
            }
        else:
            reading.left_out["does not take turns"] += 1


def kto(document: Document, reading: Reading) -> Iterator[dict[str, Any]]:
    for found in reading.completions(document):
        system, turns = _turns(found.prompt + found.completion)
        if _take_turns(turns, last=ANSWERING):
            yield {"conversations": turns, "kto_tag": found.good, "system": system, "tools": found.tools}
        else:
            reading.left_out["does not take turns"] += 1


def _turns(messages: list[Message]) -> tuple[str, list[dict[str, str]]]:
    system = "\n\n".join(message["content"] for message in messages if message["role"] == "system")
    return system, [_turn(message) for message in messages if message["role"] != "system"]


def _turn(message: Message) -> dict[str, str]:
    calls = message["tool_calls"]
    if calls:
        functions = [call["function"] for call in calls]
        told = "[" + ", ".join(f'{{"name": {as_json(f["name"])}, "arguments": {_object(f)}}}' for f in functions) + "]"
        return {"from": "function_call", "value": told}
    return {"from": NAMES[message["role"]], "value": message["content"]}


def _object(function: dict[str, str]) -> str:
    """The arguments as JSON, which it reads again: an object, or the text where they are none."""
    found = jsontext.parse_text(function["arguments"])
    return jsontext.dump(found if isinstance(found, dict) else function["arguments"])


def _take_turns(turns: list[dict[str, str]], *, last: set[str]) -> bool:
    sides = [turn["from"] in ASKING for turn in turns]
    alternate = all(asks == (at % 2 == 0) for at, asks in enumerate(sides))
    return bool(turns) and alternate and turns[-1]["from"] in last


# Where any of them is named, LLaMA-Factory knows none that is not.
TAGS = {
    "role_tag": "from",
    "content_tag": "value",
    "user_tag": "human",
    "assistant_tag": "gpt",
    "observation_tag": "observation",
    "function_tag": "function_call",
    "system_tag": "system",
}


def _info(stem: str, columns: dict[str, str], **more: Any) -> Any:
    columns = {"messages": "conversations", **columns, "system": "system", "tools": "tools"}

    def beside(_reading: Reading, files: list[str]) -> dict[str, Any]:
        told = {"file_name": files[0], "formatting": "sharegpt", **more, "columns": columns, "tags": TAGS}
        return {"dataset_info.json": {stem: told}}

    return beside


FORMATS = [
    Format(
        name="llama_factory",
        rows=pairs,
        training=True,
        beside=_info("llama_factory", {"chosen": "chosen", "rejected": "rejected"}, ranking=True),
    ),
    Format(
        name="llama_factory_kto", rows=kto, training=True, beside=_info("llama_factory_kto", {"kto_tag": "kto_tag"})
    ),
]
