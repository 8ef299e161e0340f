"""The tiny model's tokenizer: byte-level BPE, tags as single tokens, a chat template."""

from collections.abc import Iterable

from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

from ssp.agents.protocol import ALL_TAGS

END, USER, ASSISTANT, PAD = "<|end|>", "<|user|>", "<|assistant|>", "<|pad|>"
TAGS = tuple(f"<{slash}{tag}>" for tag in ALL_TAGS for slash in ("", "/"))
CHAT_TEMPLATE = (
    "{% for message in messages %}{% if message['role'] == 'user' %}<|user|>{{ message['content'] }}"
    "{% else %}<|assistant|>{{ message['content'] }}<|end|>{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)


def train_tokenizer(texts: Iterable[str], size: int) -> PreTrainedTokenizerFast:
    """A tokenizer of at most `size` tokens. A word is cut the same way at the start of a text as inside it, so that
    a name is the same tokens wherever it stands, which makes copying easy to learn. Numbers are cut into pairs of
    digits: as words of their own most would be too rare to be learned."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.ByteLevel(add_prefix_space=True), pre_tokenizers.Split(Regex("Ġ?[0-9]{1,2}"), "isolated")]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        special_tokens=[PAD, END, USER, ASSISTANT, *TAGS],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    wrapped = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, eos_token=END, pad_token=PAD, extra_special_tokens=[USER, ASSISTANT, *TAGS]
    )
    wrapped.chat_template = CHAT_TEMPLATE
    return wrapped
