"""OpenRLHF's loader and its dataset for reward models read the file; each pair is told as text."""

import json
import sys
from pathlib import Path
from types import SimpleNamespace

import tiny
from openrlhf.datasets import RewardDataset
from openrlhf.datasets.utils import blending_datasets

data = SimpleNamespace(prompt_key="prompt", chosen_key="chosen", rejected_key="rejected", apply_chat_template=True)
strategy = SimpleNamespace(
    args=SimpleNamespace(data=data, use_ms=False), print=lambda *_: None, is_rank_0=lambda: False
)
rows = blending_datasets(str(Path(sys.argv[1]) / "openrlhf.parquet"), None, strategy, dataset_split="train")
made = RewardDataset(rows, tiny.tokenizer(), 4096, strategy, num_processors=1)
read = [
    {"prompt": prompt, "chosen": chosen, "rejected": rejected, "margin": margin}
    for prompt, chosen, rejected, margin in zip(made.prompts, made.chosens, made.rejects, made.extras, strict=True)
]
print("READ", json.dumps(read))
