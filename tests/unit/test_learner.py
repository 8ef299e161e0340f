"""The learner: its gradient is the policy gradient, whatever the batches; what it saves is all that it needs."""

import copy
import random
from pathlib import Path

import pytest
import torch
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedModel

from ssp.config import LearnerConfig
from ssp.errors import LearnerError
from ssp.learning.objective import k3
from ssp.learning.torch_learner import TorchLearner
from ssp.types import Role, Sample


def tiny_llama(seed: int = 0) -> LlamaForCausalLM:
    torch.manual_seed(seed)
    config = LlamaConfig(
        vocab_size=50,
        hidden_size=16,
        intermediate_size=24,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=1,
        initializer_range=0.3,
    )
    model = LlamaForCausalLM(config)
    model.eval()
    return model


@torch.no_grad()
def samples_of(
    model: PreTrainedModel, count: int = 7, seed: int = 1, proposer_temperature: float = 1.0
) -> list[Sample]:
    """Samples with the log-probabilities that the model itself gives, as an engine would record them."""
    rng = random.Random(seed)
    samples = []
    for number in range(count):
        length = rng.randint(4, 12)
        ids = tuple(rng.randrange(50) for _ in range(length))
        mask = (False, *(rng.random() < 0.6 for _ in range(length - 2)), True)
        role = Role.SOLVER if number % 2 else Role.PROPOSER
        temperature = 1.0 if role is Role.SOLVER else proposer_temperature
        logprobs = (model(input_ids=torch.tensor([ids])).logits[0] / temperature).log_softmax(-1)
        chosen = [0.0, *(logprobs[n, ids[n + 1]].item() for n in range(length - 1))]
        advantage = rng.choice((-1.0, 0.5, 2.0))
        samples.append(
            Sample(
                id=f"t{number}",
                role=role,
                group="g",
                policy_version=0,
                token_ids=ids,
                mask=mask,
                logprobs=tuple(value if masked else 0.0 for value, masked in zip(chosen, mask, strict=True)),
                advantages=tuple(advantage if masked else 0.0 for masked in mask),
            )
        )
    return samples


def weights_after(samples: list[Sample], updates: int = 1, **settings: object) -> dict[str, torch.Tensor]:
    model = tiny_llama()
    config = LearnerConfig.model_validate({"learning_rate": 1e-2, "warmup_steps": 0, **settings})
    learner = TorchLearner(model, config, steps=10, reference=tiny_llama())
    for step in range(updates):
        learner.update(samples, step)
    return {name: value.clone() for name, value in model.state_dict().items()}


def assert_equal(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor], within: float) -> None:
    for name, value in one.items():
        torch.testing.assert_close(value, other[name], rtol=0, atol=within, msg=name)


def test_the_gradient_is_that_of_the_textbook() -> None:
    """One step of AdamW on −mean(advantage × log-probability) over sampled tokens, written out without batches."""
    model = tiny_llama()
    samples = samples_of(model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2, betas=(0.9, 0.95), weight_decay=0.0)
    loss = torch.zeros(())
    tokens = 0
    for one in samples:
        logprobs = model(input_ids=torch.tensor([one.token_ids])).logits[0].log_softmax(-1)
        for place, masked in enumerate(one.mask):
            if masked:
                loss = loss - one.advantages[place] * logprobs[place - 1, one.token_ids[place]]
                tokens += 1
    (loss / tokens).backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    assert_equal(weights_after(samples), dict(model.state_dict()), within=2e-5)


def test_micro_batches_and_order_change_nothing() -> None:
    samples = samples_of(tiny_llama())
    whole = weights_after(samples)
    assert_equal(weights_after(samples, micro_tokens=16), whole, within=2e-5)
    assert_equal(weights_after(samples[::-1]), whole, within=0.0)


def test_sampler_and_learner_agree_and_the_metrics_say_so() -> None:
    model = tiny_llama()
    samples = samples_of(model)
    metrics = TorchLearner(model, LearnerConfig(), steps=1).update(samples, 0)
    assert metrics["mismatch"] < 1e-5
    assert metrics["clipped"] == 0.0
    assert metrics["tokens"] == sum(one.trained_tokens for one in samples)
    assert metrics["updates"] == 1.0


def test_each_role_is_learned_at_the_temperature_at_which_it_was_sampled() -> None:
    samples = samples_of(tiny_llama(), proposer_temperature=0.5)
    told = TorchLearner(tiny_llama(), LearnerConfig(), steps=1, temperatures={Role.PROPOSER: 0.5}).update(samples, 0)
    untold = TorchLearner(tiny_llama(), LearnerConfig(), steps=1).update(samples, 0)
    assert told["mismatch"] < 1e-5
    assert untold["mismatch"] > 0.1


def test_ratios_beyond_the_clip_get_no_credit() -> None:
    """All tokens are said to have been much less likely when sampled, and are praised: there is nothing to gain."""
    model = tiny_llama()
    shifted = [
        Sample(
            one.id,
            one.role,
            one.group,
            0,
            one.token_ids,
            one.mask,
            tuple(value - 2.0 if masked else 0.0 for value, masked in zip(one.logprobs, one.mask, strict=True)),
            tuple(1.0 if masked else 0.0 for masked in one.mask),
        )
        for one in samples_of(model)
    ]
    before = copy.deepcopy(model.state_dict())
    metrics = TorchLearner(model, LearnerConfig(learning_rate=1e-2), steps=1).update(shifted, 0)
    assert metrics["clipped"] == 1.0
    assert_equal(dict(model.state_dict()), dict(before), within=0.0)


def test_a_divergence_penalty_holds_the_model_back() -> None:
    samples = samples_of(tiny_llama())
    start = dict(tiny_llama().state_dict())

    def way(kl: float) -> float:
        after = weights_after(samples, updates=8, kl=kl, gradient_clip=100.0, learning_rate=3e-3)
        return sum(float((after[name] - start[name]).norm()) for name in start)

    assert way(50.0) < 0.7 * way(0.0)
    assert k3(torch.tensor([-1.0, -2.0]), torch.tensor([-1.0, -1.0])).tolist() == pytest.approx([0.0, 0.7182818])


def test_roles_can_be_updated_apart() -> None:
    model = tiny_llama()
    config = LearnerConfig(separate=True, mini_batches=2, epochs=2)
    metrics = TorchLearner(model, config, steps=1).update(samples_of(model), 0)
    assert metrics["updates"] == 2 * 2 * 2


def test_frozen_parts_stay_as_they_are(tmp_path: Path) -> None:
    model = tiny_llama()
    before = copy.deepcopy(model.state_dict())
    config = LearnerConfig(learning_rate=1e-2, frozen=("embed_tokens", "lm_head"))
    learner = TorchLearner(model, config, steps=4)
    learner.update(samples_of(model), 0)
    moved = {name for name, weights in model.state_dict().items() if not torch.equal(weights, before[name])}
    assert "model.layers.0.mlp.up_proj.weight" in moved
    assert not {name for name in moved if "embed_tokens" in name or "lm_head" in name}
    learner.save(tmp_path)
    twin = copy.deepcopy(model)
    again = TorchLearner(twin, config, steps=4)
    again.load(tmp_path)
    learner.update(samples_of(model, seed=2), 1)
    again.update(samples_of(twin, seed=2), 1)
    for name, weights in twin.state_dict().items():
        assert torch.equal(weights, model.state_dict()[name]), name


@pytest.mark.parametrize(("parts", "complaint"), [(("embedings",), "has no part 'embedings'"), ((".",), "nothing")])
def test_freezing_what_is_not_there_or_everything_is_refused(parts: tuple[str, ...], complaint: str) -> None:
    with pytest.raises(LearnerError, match=complaint):
        TorchLearner(tiny_llama(), LearnerConfig(frozen=parts), steps=1)


def test_going_on_from_what_was_saved_is_going_on(tmp_path: Path) -> None:
    model = tiny_llama()
    samples = samples_of(model)
    config = LearnerConfig(learning_rate=1e-2)
    straight = TorchLearner(model, config, steps=4)
    straight.update(samples, 0)
    straight.save(tmp_path)
    twin = TorchLearner(copy.deepcopy(model), config, steps=4)
    twin.load(tmp_path)
    for learner in (straight, twin):
        learner.update(samples, 1)
    assert_equal(dict(straight.weights()), dict(twin.weights()), within=0.0)
    assert (twin.updates, twin.version) == (2, 2)


def test_a_gradient_that_is_not_finite_changes_nothing() -> None:
    model = tiny_llama()
    samples = samples_of(model)
    with torch.no_grad():
        model.lm_head.weight[3, 3] = float("nan")
    before = model.model.embed_tokens.weight.clone()
    with pytest.raises(LearnerError, match="not finite"):
        TorchLearner(model, LearnerConfig(), steps=1).update(samples, 0)
    assert torch.equal(model.model.embed_tokens.weight, before)


def test_nothing_to_learn_from_is_no_update() -> None:
    model = tiny_llama()
    learner = TorchLearner(model, LearnerConfig(), steps=1)
    assert learner.update([], 0) == {"updates": 0.0, "tokens": 0.0}
    assert learner.version == 0


def test_a_penalty_needs_the_starting_model() -> None:
    with pytest.raises(LearnerError, match="starting model"):
        TorchLearner(tiny_llama(), LearnerConfig(kl=0.1), steps=1)


def test_a_damaged_optimizer_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "optimizer.safetensors").write_bytes(b"nonsense")
    with pytest.raises(LearnerError, match="can't be read"):
        TorchLearner(tiny_llama(), LearnerConfig(), steps=1).load(tmp_path)
