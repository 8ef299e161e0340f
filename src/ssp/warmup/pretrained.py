"""A warm-up for pre-trained models: how the game is played, by lessons from the corpus that it is played on.

A small pre-trained model can read, but does not know the tags. Lessons show it the format of all roles: looking up a
name, answering from what was found, asking for something. No question or answer of anybody's is used.
"""

import hashlib
import json
from pathlib import Path

from ssp.config import Config
from ssp.engines.models import device_of, learning_dtype, load_model, save_model
from ssp.files import new_directory
from ssp.learning.freezing import freeze
from ssp.rng import derive
from ssp.warmup.kept import dress, libraries, place_of
from ssp.warmup.plain import PlainSyllabus, PlainTeacher
from ssp.warmup.teach import Progress, Schedule, teach


def taught_model(config: Config, base: Path, index: Path, progress: Progress) -> Path:
    """The directory of the model after its lessons; made now if it is not there."""
    made_from = {
        "base": _identity(base),
        "warmup": config.warmup.model_dump(exclude={"cache", "steps"}),
        "frozen_layers": config.learner.frozen_layers,
        "dtype": str(learning_dtype(config)),
    }
    folder = place_of(config, index, made_from)
    if not folder.exists():
        with new_directory(folder, "warmed-up model") as scratch:
            _make(config, base, index, scratch, progress)
    return folder


def _make(config: Config, base: Path, index: Path, folder: Path, progress: Progress) -> None:
    model, codec = load_model(base, device=device_of(config.model))
    freeze(model, (), config.learner.frozen_layers)
    settings = config.warmup
    schedule = Schedule(
        settings.lessons,
        (1.0,),
        batch_tokens=settings.batch_tokens,
        learning_rate=settings.learning_rate,
        language=0.0,
        decay_from=0.0,
        dtype=learning_dtype(config),
    )
    teacher = PlainTeacher(
        libraries(config, index, config.visible, natural=True), dress(config, codec), PlainSyllabus()
    )
    losses = teach(model, [teacher], schedule, None, derive(config.seed, "lessons"), progress)
    save_model(model, codec, folder)
    (folder / "warmup.json").write_text(json.dumps({"steps": len(losses), "loss": losses}), encoding="utf-8")


def _identity(model: Path) -> str:
    """By its weights and settings, wherever it lies."""
    digest = hashlib.sha256()
    for file in sorted([*model.glob("*.safetensors"), model / "config.json", *model.glob("tokenizer.json")]):
        with file.open("rb") as opened:
            digest.update(hashlib.file_digest(opened, "sha256").digest())
    return digest.hexdigest()
