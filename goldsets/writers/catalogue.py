"""Every format by its name."""

from goldsets.writers import (
    axolotl,
    calibration,
    helpsteer3,
    inspect_ai,
    label_studio,
    labels,
    llama_factory,
    openai,
    openrlhf,
    prm800k,
    reviewer,
    rewardbench,
    trl,
    verifiers,
    verl,
    wide,
)
from goldsets.writers.format import Format

MODULES = (
    labels,
    wide,
    trl,
    verl,
    openrlhf,
    axolotl,
    llama_factory,
    openai,
    verifiers,
    rewardbench,
    prm800k,
    helpsteer3,
    inspect_ai,
    label_studio,
    calibration,
    reviewer,
)
FORMATS: dict[str, Format] = {found.name: found for module in MODULES for found in module.FORMATS}
