"""LLaMA-Factory finds the files by their `dataset_info.json`, aligns and tokenizes every row; what it made is told."""

import json
import sys
import tempfile
from importlib.machinery import ModuleSpec
from types import ModuleType, SimpleNamespace
from typing import Any

# Only recordings need it, and without a build for this machine's torch it does not even load.
sys.modules["torchaudio"] = ModuleType("torchaudio")
sys.modules["torchaudio"].__spec__ = ModuleSpec("torchaudio", None)

import tiny  # noqa: E402
from llamafactory.data.loader import get_dataset  # noqa: E402
from llamafactory.data.template import get_template_and_fix_tokenizer  # noqa: E402
from llamafactory.hparams import DataArguments  # noqa: E402
from transformers import Seq2SeqTrainingArguments  # noqa: E402


def read(name: str, stage: str) -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        tokenizer = tiny.tokenizer()
        data = DataArguments(dataset=name, dataset_dir=sys.argv[1], template="chatml", cutoff_len=1 << 21)
        model = SimpleNamespace(cache_dir=folder, hf_hub_token=None, trust_remote_code=False)
        training = Seq2SeqTrainingArguments(output_dir=folder, use_cpu=True, report_to="none")
        template = get_template_and_fix_tokenizer(tokenizer, data)
        made = get_dataset(template, model, data, training, stage, tokenizer)["train_dataset"]
        return [
            {key: tokenizer.decode(value) if key.endswith("input_ids") else value for key, value in row.items()}
            for row in made.remove_columns([key for key in made.column_names if key.endswith(("mask", "labels"))])
        ]


print(
    "READ",
    json.dumps({"llama_factory": read("llama_factory", "rm"), "llama_factory_kto": read("llama_factory_kto", "kto")}),
)
