"""Adapters: they begin as nothing, learn alone, and what is handed on is a plain model that computes the same."""

import copy
from pathlib import Path

import pytest
import torch
from peft import PeftModel
from transformers import PreTrainedModel

from ssp.config import LearnerConfig, LoraConfig
from ssp.engines.models import load_model, save_model
from ssp.errors import LearnerError
from ssp.learning.adapters import add_adapters, has_adapters, merged, switched_off
from ssp.learning.torch_learner import TorchLearner
from tests.models import codec, random_model
from tests.unit.test_learner import samples_of

LEARNER = LearnerConfig(learning_rate=1e-2, warmup_steps=0)
IDS = torch.tensor([[5, 9, 17, 3, 30, 41]])


def adapted(shape: str = "llama", above: int = 0, seed: int = 0, rank: int = 4) -> PreTrainedModel:
    model = random_model(shape)
    add_adapters(model, LoraConfig(rank=rank), above=above, seed=seed)
    return model


@torch.no_grad()
def logits(model: torch.nn.Module) -> torch.Tensor:
    result: torch.Tensor = model(input_ids=IDS).logits
    return result


def learned(model: PreTrainedModel, updates: int = 3) -> TorchLearner:
    learner = TorchLearner(model, LEARNER, steps=10)
    for step in range(updates):
        learner.update(samples_of(random_model("llama")), step)
    return learner


def plain(model: PreTrainedModel, shape: str = "llama") -> PreTrainedModel:
    """A model without adapters that has the merged weights."""
    bare = random_model(shape, seed=1)
    bare.load_state_dict(merged(model))
    return bare


@pytest.mark.parametrize("shape", ["llama", "qwen2", "gpt-neox"])
def test_new_adapters_change_nothing(shape: str) -> None:
    model, bare = adapted(shape), random_model(shape)
    assert has_adapters(model)
    assert not has_adapters(bare)
    assert torch.equal(logits(model), logits(bare))
    assert {name: value.shape for name, value in merged(model).items()} == {
        name: value.shape for name, value in bare.state_dict().items()
    }


@pytest.mark.parametrize("shape", ["llama", "qwen2"])
def test_the_merged_model_computes_the_same(shape: str) -> None:
    model = adapted(shape)
    start = logits(model)
    learned(model)
    assert (logits(model) - start).abs().max() > 0.1
    torch.testing.assert_close(logits(plain(model, shape)), logits(model), rtol=0, atol=1e-4)
    with switched_off(model):
        assert torch.equal(logits(model), start)
    assert (logits(model) - start).abs().max() > 0.1, "switched on again"


def test_only_adapters_learn() -> None:
    model = adapted()
    before = copy.deepcopy(model.state_dict())
    learned(model)
    for name, value in model.state_dict().items():
        assert torch.equal(value, before[name]) is not ("lora_B" in name or "lora_A" in name), name


def test_the_divergence_is_that_from_the_model_without_them() -> None:
    config = LearnerConfig(learning_rate=1e-2, warmup_steps=0, kl=0.5)
    samples = samples_of(random_model("llama"))
    switching = TorchLearner(adapted(), config, steps=4)
    comparing = TorchLearner(adapted(), config, steps=4, reference=random_model("llama"))
    for step in range(3):
        assert switching.update(samples, step) == pytest.approx(comparing.update(samples, step), rel=1e-4, abs=1e-6)
    assert switching.update(samples, 3)["kl"] > 0.0


def test_a_saved_learner_goes_on_as_if_nothing_had_been(tmp_path: Path) -> None:
    straight = learned(adapted(), updates=2)
    straight.save(tmp_path)
    again = TorchLearner(adapted(), LEARNER, steps=10)
    again.load(tmp_path)
    samples = samples_of(random_model("llama"), seed=5)
    for one in (straight, again):
        one.update(samples, 2)
    for name, value in again.model.state_dict().items():
        assert torch.equal(value, straight.model.state_dict()[name]), name


def test_peft_reads_what_is_saved(tmp_path: Path) -> None:
    learner = learned(adapted())
    learner.save(tmp_path)
    theirs = PeftModel.from_pretrained(random_model("llama"), tmp_path / "adapters")
    torch.testing.assert_close(logits(theirs), logits(learner.model), rtol=0, atol=1e-5)


def test_transformers_reads_the_merged_model(tmp_path: Path) -> None:
    learner = learned(adapted())
    save_model(learner.model, codec(), tmp_path, learner.weights())
    again, _ = load_model(tmp_path)
    torch.testing.assert_close(logits(again), logits(learner.model), rtol=0, atol=1e-4)


def test_going_back_to_the_first_checkpoint_is_going_back_to_nothing(tmp_path: Path) -> None:
    learner = learned(adapted())
    learner.roll_back(tmp_path)
    assert torch.equal(logits(learner.model), logits(random_model("llama")))


def test_adapters_of_another_shape_are_refused(tmp_path: Path) -> None:
    learned(adapted()).save(tmp_path)
    with pytest.raises(LearnerError, match="another model, or of other adapters"):
        TorchLearner(adapted(above=2), LEARNER, steps=1).load(tmp_path)


def test_targets_that_are_not_there_are_told() -> None:
    with pytest.raises(LearnerError, match=r"lora\.targets: .*q_prj"):
        add_adapters(random_model("llama"), LoraConfig(rank=2, targets=("q_prj",)), above=0, seed=0)


def test_low_layers_get_no_adapters() -> None:
    model = adapted(above=1)
    learning = {name for name, weights in model.named_parameters() if weights.requires_grad}
    assert learning
    assert not any(".layers.0." in name for name in learning)
    assert all(any(f".layers.{layer}." in name for name in learning) for layer in (1, 2))


@pytest.mark.parametrize("recompute", [False, True])
def test_frozen_layers_stay_and_cost_no_gradient(recompute: bool) -> None:
    model = random_model("llama")
    before = copy.deepcopy(model.state_dict())
    config = LearnerConfig(learning_rate=1e-2, warmup_steps=0, frozen_layers=2, recompute=recompute)
    TorchLearner(model, config, steps=1).update(samples_of(random_model("llama")), 0)
    for name, value in model.state_dict().items():
        below = "embed_tokens" in name or ".layers.0." in name or ".layers.1." in name
        assert torch.equal(value, before[name]) is below, name


def test_recomputing_changes_memory_only() -> None:
    results = []
    for recompute in (False, True):
        model = random_model("llama")
        config = LearnerConfig(learning_rate=1e-2, warmup_steps=0, recompute=recompute)
        TorchLearner(model, config, steps=1).update(samples_of(random_model("llama")), 0)
        results.append(model.state_dict())
    for name, value in results[0].items():
        torch.testing.assert_close(value, results[1][name], rtol=0, atol=1e-5)


def test_one_layer_has_to_learn() -> None:
    with pytest.raises(LearnerError, match="the model has 3 layers"):
        TorchLearner(random_model("llama"), LearnerConfig(frozen_layers=3), steps=1)


def test_half_precision_computes_nearly_the_same() -> None:
    samples = samples_of(random_model("llama"))
    exact = TorchLearner(random_model("llama"), LEARNER, steps=1).update(samples, 0)
    model = random_model("llama")
    half = TorchLearner(model, LEARNER, steps=1, dtype=torch.bfloat16).update(samples, 0)
    assert model.dtype is torch.float32, "what learns keeps all its bits"
    assert exact["mismatch"] < 1e-5
    assert 1e-4 < half["mismatch"] < 0.2
