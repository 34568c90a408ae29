"""TRL's own trainers take the files, prepare every row and train one step on the CPU; what they prepared is told."""

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import datasets
import tiny
from transformers import LlamaForCausalLM, LlamaForSequenceClassification
from trl import DPOConfig, DPOTrainer, KTOConfig, KTOTrainer, RewardConfig, RewardTrainer, SFTConfig, SFTTrainer


def trained(name: str, trainer: Any, arguments: Any, kind: Any = LlamaForCausalLM) -> list[dict[str, Any]]:
    """The rows as the trainer prepared them, in words again, after it took a step on them."""
    file = str(Path(sys.argv[1]) / f"{name}.parquet")
    rows = datasets.load_dataset("parquet", data_files=file, split="train")
    with tempfile.TemporaryDirectory() as folder:
        kind(tiny.config(num_labels=1)).save_pretrained(folder)
        settings = {"output_dir": folder, "max_steps": 1, "use_cpu": True, "report_to": "none", "max_length": 4096}
        made = trainer(
            model=folder,
            args=arguments(**settings, bf16=False, gradient_checkpointing=False),
            train_dataset=rows,
            processing_class=TOKENIZER,
        )
        prepared = [{key: in_words(key, value) for key, value in row.items()} for row in made.train_dataset]
        made.train()
    return prepared


def in_words(key: str, value: Any) -> Any:
    return TOKENIZER.decode(value) if key.endswith("_ids") else value


TOKENIZER = tiny.tokenizer()
print(
    "READ",
    json.dumps(
        {
            "trl_preference": trained("trl_preference", DPOTrainer, DPOConfig),
            "trl_preference_implicit": trained("trl_preference_implicit", DPOTrainer, DPOConfig),
            "trl_reward": trained("trl_reward", RewardTrainer, RewardConfig, LlamaForSequenceClassification),
            "trl_kto": trained("trl_kto", KTOTrainer, KTOConfig),
            "trl_sft": trained("trl_sft", SFTTrainer, SFTConfig),
        }
    ),
)
