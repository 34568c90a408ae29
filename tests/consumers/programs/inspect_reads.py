"""Inspect reads the samples as a data set of its own, and the scores as its scores; both are told as it holds them."""

import json
import sys
from pathlib import Path

from inspect_ai.dataset import json_dataset
from inspect_ai.scorer import Score

folder = Path(sys.argv[1])
samples = json_dataset(str(folder / "inspect_samples.jsonl"))
lines = (folder / "inspect_scores.jsonl").read_text(encoding="utf-8").split("\n")[:-1]
scores = {
    row["sample_id"]: {
        name: Score.model_validate(score, strict=True).model_dump() for name, score in row["scores"].items()
    }
    for row in map(json.loads, lines)
}
print("READ", json.dumps({"samples": [sample.model_dump(mode="json") for sample in samples], "scores": scores}))
