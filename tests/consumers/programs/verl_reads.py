"""verl's dataset for training by reward reads the file; each row is told as its rollout gets it."""

import json
import sys
import tempfile
from pathlib import Path

import tiny
from omegaconf import OmegaConf
from verl.utils.dataset.rl_dataset import RLHFDataset

with tempfile.TemporaryDirectory() as folder:
    config = OmegaConf.create({"cache_dir": folder, "max_prompt_length": 10_000, "filter_overlong_prompts_workers": 1})
    rows = RLHFDataset(str(Path(sys.argv[1]) / "verl.parquet"), tiny.tokenizer(), config)
    read = [{key: value for key, value in rows[at].items() if key != "dummy_tensor"} for at in range(len(rows))]
print("READ", json.dumps(read))
