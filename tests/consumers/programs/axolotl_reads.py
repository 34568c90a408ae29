"""Axolotl's loader and its strategy `chat_template.default` for DPO read the file; each pair is told as text."""

import json
import sys
from pathlib import Path

import tiny
from axolotl.prompt_strategies.dpo import load
from axolotl.utils.data.shared import load_dataset_with_config
from axolotl.utils.dict import DictDefault

told = {"path": str(Path(sys.argv[1]) / "axolotl.parquet"), "ds_type": "parquet", "split": "train"}
config = DictDefault({"datasets": [{**told, "type": "chat_template.default"}], "chat_template": "tokenizer_default"})
transform, options = load("chat_template.default", config, dataset_idx=0)
rows = load_dataset_with_config(DictDefault(told), use_auth_token=False)
made = rows.map(transform, fn_kwargs={"tokenizer": tiny.tokenizer()}, **options)
print("READ", json.dumps(made.select_columns(["prompt", "chosen", "rejected"]).to_list()))
