"""The generated model: tokenizer, weights and warm-up."""

import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

from ssp.agents.prompts import prompt_set
from ssp.config import Config
from ssp.engines.codec import HfCodec
from ssp.engines.models import save_model
from ssp.files import new_directory
from ssp.rng import derive
from ssp.warmup.behaviours import HASTY_QUESTION, Habits
from ssp.warmup.circuits import LAID, rareness
from ssp.warmup.kept import dress, libraries, place_of
from ssp.warmup.lessons import Syllabus, Teacher
from ssp.warmup.library import Library
from ssp.warmup.looking import Marks
from ssp.warmup.model import TinyShape, tiny_model
from ssp.warmup.teach import Progress, Schedule, teach
from ssp.warmup.tokenizer import train_tokenizer

SHAPE = TinyShape()
VOCABULARY = 4096  # enough for every word of the world to be one token, names and numbers included
HASTY = 0.45  # share of proposing lessons, in the last stage: enough to be a habit, and to have something to unlearn
_FIRST = Syllabus(
    reading=0.63,
    solving=0.12,
    proposing=0.15,
    asking=0.1,
    hops=(0.25, 0.4, 0.25, 0.1),
    questions=7,
    chains=2,
    backwards=0.4,
    neighbours=0.1,
    noise=2,
    unanswerable=0.06,
    unsaid=0.06,
)
_SECOND = replace(
    _FIRST, reading=0.53, solving=0.17, proposing=0.23, asking=0.07, neighbours=0.35, unanswerable=0.18, unsaid=0.15
)
_THIRD = replace(
    _FIRST,
    chains=3,
    reading=0.5,
    solving=0.22,
    proposing=0.31 / (1 - HASTY),  # haste comes on top: there is as much practice in proposing well as without it
    asking=0.05,
    habits=Habits(hasty=HASTY),
    neighbours=0.6,
    noise=3,
    unanswerable=0.3,
    unsaid=0.22,
)
STAGES = ((0.31, _FIRST), (0.54, _SECOND), (1.0, _THIRD))  # ever more similar names to tell apart, and ever more play


def warmed_up_model(config: Config, index: Path, progress: Progress) -> Path:
    """The directory of the warmed-up model for this configuration; made now if it is not there.

    For the generated world, lessons come from a sibling of it; for a corpus, from its documents in the index.
    """
    folder = warmed_up_place(config, index)
    if not folder.exists():
        with new_directory(folder, "warmed-up model") as scratch:
            _make(config, libraries(config, index), scratch, progress)
    return folder


def warmed_up_place(config: Config, index: Path) -> Path:
    return place_of(config, index, {"steps": config.warmup.steps, "shape": asdict(SHAPE)})


def _make(config: Config, libraries: Sequence[Library], folder: Path, progress: Progress) -> None:
    texts = [text for library in libraries for text in library.texts()]
    tokenizer = train_tokenizer([*_own_words(config), *texts], VOCABULARY)
    codec = HfCodec(tokenizer)
    assert tokenizer.eos_token_id is not None
    assert tokenizer.pad_token_id is not None
    rare = rareness(map(codec.encode_untrusted, texts), len(codec))
    weights = derive(config.seed, "weights")
    model = tiny_model(tokenizer.eos_token_id, tokenizer.pad_token_id, rare, SHAPE, weights)
    schedule = Schedule(config.warmup.steps, tuple(end for end, _ in STAGES), gentle=LAID)
    teachers = [Teacher(libraries, dress(config, codec), syllabus) for _, syllabus in STAGES]
    losses = teach(model, teachers, schedule, Marks.of(codec), derive(config.seed, "warm-up"), progress)
    save_model(model, codec, folder)
    (folder / "warmup.json").write_text(json.dumps({"steps": len(losses), "loss": losses}), encoding="utf-8")


def _own_words(config: Config) -> list[str]:
    """What agents are told and say beside the documents' language."""
    prompts = prompt_set(config.agent.prompts)
    count = " ".join(f"{number}:" for number in range(1, 10))
    said = f"{count} Ask: unknown {HASTY_QUESTION}"
    return [*prompts.roles.values(), *prompts.phrases.values(), prompts.document, said]
