"""The tree of settings: what can be set, what it means, what it is by default."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

DEFAULT_PRESET = "tiny"
_CHARACTERS = 3  # of a token, at least


class Section(BaseModel):
    """A branch of the tree."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


class WorldConfig(Section):
    """The generated world, used when `corpus` is "world"."""

    articles: int = Field(
        2000, ge=100, le=50_000_000, description="Articles in the encyclopedia, held-out ones included."
    )
    richness: Literal[1, 2, 3] = Field(
        1, description="How varied the language is; 1 suits a model of a few million parameters."
    )
    hops: int = Field(4, ge=1, le=4, description="Longest chains among seeds and evaluation questions.")


class SearchConfig(Section):
    """What agents search with."""

    kind: Literal["bm25", "dense", "hybrid", "http"] = Field(
        "bm25", description="Embedded index of this kind, or a service."
    )
    url: str | None = Field(None, description="Address of the search service; only with kind http.")
    k: int = Field(3, ge=1, le=100, description="Documents per search.")
    encoder: str = Field(
        "minilm", description="Sentence encoder of dense and hybrid: a directory, a hub name, or minilm."
    )


class ModelConfig(Section):
    """The policy."""

    path: str = Field(
        "tiny",
        min_length=1,
        description="A Hugging Face directory, a name of `ssp models list` or of the hub; tiny: the generated one.",
    )
    device: str = Field(
        "auto", min_length=1, description="Where it learns and is sampled from: cpu, cuda, cuda:1; auto: a GPU if any."
    )
    dtype: Literal["auto", "float32", "bfloat16", "float16"] = Field(
        "auto", description="Numbers it computes with; auto: bfloat16 on a GPU that has it, else float32."
    )


class LoraConfig(Section):
    """Adapters instead of all weights: little memory, and the starting model stays at hand as their absence."""

    rank: int = Field(
        0, ge=0, le=1024, description="Rank of the adapters; 0: no adapters, the weights themselves learn."
    )
    alpha: int = Field(32, ge=1, description="Adapters count alpha / rank.")
    targets: tuple[str, ...] = Field(
        (),
        strict=False,
        description="Layers with adapters, by the last part of their names; none: all linear ones.",
    )


class WarmupConfig(Section):
    """What comes before self-play: making the generated model, or lessons for a pre-trained one."""

    steps: int = Field(1400, ge=1, description="Optimizer steps of the generated model's warm-up.")
    lessons: int = Field(
        0,
        ge=0,
        description="Steps of lessons from the corpus for a pre-trained model; 0: it plays as it comes.",
    )
    learning_rate: float = Field(1e-4, gt=0.0, description="Of these lessons.")
    batch_tokens: int = Field(2048, ge=16, description="Most tokens of a step of these lessons.")
    cache: str = Field("~/.cache/ssp", min_length=1, description="Where warmed-up models are kept for later runs.")


class EngineConfig(Section):
    """What samples from the policy."""

    kind: Literal["local", "vllm", "scripted"] = Field("local", description="Which engine samples.")
    cache_gb: float = Field(
        2.0, gt=0.0, description="Memory for keys and values, in GiB; vLLM on a GPU takes gpu_share."
    )
    step_tokens: int = Field(4096, ge=16, description="Most tokens that are computed in one step.")
    dtype: Literal["float32", "bfloat16", "float16"] | None = Field(
        None, description="Numbers that are multiplied with when sampling, if other than model.dtype."
    )
    urls: tuple[str, ...] = Field(
        (), strict=False, description="Servers of vLLM, with kind vllm; without any, vLLM runs beside this process."
    )
    replicas: int = Field(0, ge=0, description="Servers of vLLM to start on this machine, and to end with the run.")
    exchange: str | None = Field(
        None, min_length=1, description="Folder through which servers of vLLM get new weights; all must see it."
    )
    patience: float = Field(600.0, gt=0.0, description="Seconds to wait while no server of vLLM answers.")
    gpu_share: float = Field(0.5, gt=0.0, lt=1.0, description="Share of a GPU's memory that vLLM may take.")


class AgentConfig(Section):
    """How agents talk and what they may use."""

    protocol: Literal["search-r1", "r-search", "tool-call"] = Field("search-r1", description="The dialect of tags.")
    prompts: Literal["en", "zh", "brief"] = Field("en", description="What the roles are told; brief suits tiny models.")
    searches: int = Field(4, ge=0, le=64, description="Searches per trajectory; one more turn follows, without search.")
    turn_tokens: int = Field(512, ge=1, description="Most tokens sampled in one turn.")
    response_tokens: int = Field(4096, ge=1, description="Most tokens after the prompt, sampled and observed together.")
    observation_tokens: int = Field(768, ge=1, description="Most tokens of one search result, over its documents.")
    corrections: int = Field(1, ge=0, le=8, description="How often an unreadable action is answered with a hint.")


class GameConfig(Section):
    """One step of the game."""

    seeds: int = Field(64, ge=1, description="Seeds per step.")
    proposals: int = Field(1, ge=1, le=64, description="Proposals per seed.")
    attempts: int = Field(5, ge=1, le=64, description="Attempts at each problem.")
    temperature: float = Field(1.0, gt=0.0, description="Of sampling in the game; evaluation is greedy.")
    proposer_temperature: float | None = Field(None, gt=0.0, description="The same for proposers, if it is another.")
    roles: Literal["both", "solver", "proposer"] = Field("both", description="Whose trajectories are learned from.")
    proposer: Literal["policy", "start"] = Field(
        "policy", description="Who proposes: the policy as it is, or a frozen copy of the model at the start."
    )
    solver_first: int = Field(0, ge=0, description="First steps in which only the solver learns.")
    hops: tuple[float, ...] | None = Field(
        None,
        min_length=1,
        strict=False,
        description="Shares of seeds that ask for 1, 2, … hops; without it as they come.",
    )

    curriculum: float = Field(
        0.0,
        ge=0.0,
        le=1.0,
        description="Success with two (three, …) hops from which one more is asked for in full; 0: at once.",
    )

    def temperature_of(self, role: str) -> float:
        own = self.proposer_temperature if role == "proposer" else None
        return self.temperature if own is None else own


class VerifyConfig(Section):
    """What a question has to pass before it is played."""

    least_words: int = Field(4, ge=1, description="Shortest question.")
    most_words: int = Field(100, ge=1, description="Longest question.")
    min_searches: int = Field(1, ge=0, description="Different queries that a proposer must have made at least.")
    as_many_as_hops: bool = Field(True, description="Proposers must search at least as often as hops are asked for.")
    answer_in_queries: bool = Field(True, description="Whether proposers may search for the answer itself.")
    rag: bool = Field(True, description="Whether a reader must find the answer in the proposer's documents.")
    noise_docs: int = Field(4, ge=0, description="Documents of other proposals that are mixed in.")
    reader: Literal["policy", "start", "service"] = Field(
        "policy",
        description="Who reads: the policy, a frozen copy of its start, or a service (reader.url).",
    )
    deep: bool = Field(
        False, description="Refuse questions of several hops that are answered without what the last search found."
    )
    closed_book: bool = Field(False, description="Refuse questions that are answered without documents.")
    unique: int = Field(0, ge=0, description="Further independent readings that must all agree.")
    unique_temperature: float = Field(1.0, ge=0.0, description="At which they are sampled; at 0 they differ in order.")
    necessary: bool = Field(False, description="Refuse questions that are answered whichever document is left out.")


class ServiceConfig(Section):
    """A model behind an OpenAI-compatible API."""

    url: str | None = Field(None, description="Address of an OpenAI-compatible API.")
    model: str | None = Field(None, description="The model's name there.")
    key_variable: str | None = Field(None, description="Environment variable that holds the key, if one is needed.")
    concurrency: int = Field(16, ge=1, description="Most requests at the same time.")
    timeout: float = Field(60.0, gt=0.0, description="Seconds to wait for a reply.")
    attempts: int = Field(5, ge=1, description="Tries before something is left undecided.")
    tokens: int = Field(512, ge=1, description="Longest reply.")


class JudgeConfig(ServiceConfig):
    """Who decides whether an answer is right where it is not the same to the letter."""

    kind: Literal["exact", "llm"] = Field("exact", description="Equal after normalisation, or a model besides.")
    cache: str | None = Field("~/.cache/ssp/judge.sqlite", description="Where verdicts are remembered.")


class ReaderConfig(ServiceConfig):
    """Who reads for verification, with verify.reader=service."""


class RewardConfig(Section):
    """What proposers get; solvers get 1 for a right answer and 0 for a wrong one."""

    shape: Literal["one_minus_acc", "learnability", "band", "variance", "dr_zero"] = Field(
        "one_minus_acc", description="By the share p of right answers."
    )
    band_low: float = Field(0.2, ge=0.0, le=1.0, description="Shape band: lowest p that is rewarded.")
    band_high: float = Field(0.8, ge=0.0, le=1.0, description="Shape band: highest p that is rewarded.")
    format_share: float = Field(0.5, ge=0.0, description="Shape dr_zero: for any valid question.")
    valid: float = Field(0.0, ge=0.0, description="Added for any valid question, whatever the shape.")
    invalid: float = Field(0.0, le=0.0, description="For an invalid question; less than 0 makes proposers collapse.")


Method = Literal["grpo", "hrpo", "reinforce", "reinforce-batch", "reinforce-running", "reinforce++", "rae"]


class CreditConfig(Section):
    """How rewards become advantages."""

    solver: Method = Field("grpo", description="What an attempt is compared with.")
    proposer: Method = Field("reinforce-batch", description="What a proposal is compared with.")
    deviation: bool = Field(False, description="GRPO: divide by the deviation of the group.")
    memory: float = Field(0.9, ge=0.0, lt=1.0, description="How slowly running means move.")
    proposer_weight: float = Field(1.0, ge=0.0, description="By what the proposer's advantages are multiplied.")
    balance: float = Field(
        1.0, ge=1.0, description="Solver: up to this factor, rarer hop counts weigh more, so that all weigh the same."
    )
    drop_equal: bool = Field(True, description="Leave out groups of attempts whose rewards are all equal.")


class PoolConfig(Section):
    """Earlier problems that fill a batch in which too few new ones are valid."""

    fill: Literal["reset", "reuse", "resample", "none"] = Field(
        "reset", description="Pool emptied now and then, kept, more seeds drawn instead, or batches left short."
    )
    reset_every: int = Field(10, ge=1, description="Fill reset: steps after which the pool is emptied.")
    resample_rounds: int = Field(3, ge=1, description="Fill resample: most rounds of drawing seeds.")
    max_age: int = Field(1000, ge=1, description="Steps after which a problem leaves the pool.")
    size: int = Field(4096, ge=1, description="Most problems in the pool.")


class LearnerConfig(Section):
    """How the policy is updated."""

    learning_rate: float = Field(1e-6, gt=0.0, description="Of AdamW.")
    warmup_steps: int = Field(5, ge=0, description="Updates over which the learning rate rises.")
    decay: Literal["none", "linear", "cosine"] = Field("none", description="How it falls towards the last step.")
    weight_decay: float = Field(0.0, ge=0.0, description="Of AdamW.")
    clip_low: float = Field(0.2, gt=0.0, lt=1.0, description="Ratios below 1 minus this get no further credit.")
    clip_high: float = Field(0.285, gt=0.0, description="Ratios above 1 plus this get no further credit.")
    kl: float = Field(0.0, ge=0.0, description="Weight of the divergence from the starting model (k3), if not 0.")
    entropy: float = Field(0.0, ge=0.0, description="Weight of an entropy bonus.")
    gradient_clip: float = Field(1.0, gt=0.0, description="Largest norm of a gradient.")
    mini_batches: int = Field(1, ge=1, description="Updates per pass over a step's samples.")
    epochs: int = Field(1, ge=1, description="Passes over a step's samples.")
    separate: bool = Field(False, description="One update per role instead of one for both.")
    average: Literal["token", "sequence"] = Field("token", description="Whether long trajectories count for more.")
    frozen: tuple[str, ...] = Field(
        (), strict=False, description="Parts of the model that don't learn, by parts of their names."
    )
    frozen_layers: int = Field(0, ge=0, description="Lowest layers that don't learn, nor the tables of words then.")
    recompute: bool = Field(
        False, description="Compute activations again for the gradient: less memory, a third more time."
    )
    micro_tokens: int = Field(4096, ge=16, description="Most tokens computed together; decides memory, not results.")
    dtype: Literal["float32", "bfloat16", "float16"] | None = Field(
        None, description="Numbers that updates and lessons are computed with, if other than model.dtype."
    )


class EvalConfig(Section):
    """Held-out questions during a run."""

    every: int = Field(0, ge=0, description="Steps between evaluations; 0: at start and end only.")
    questions: int = Field(100, ge=0, description="Questions per set (of the world: hop count), at start and end.")
    questions_between: int = Field(40, ge=0, description="The same, in between.")
    sets: tuple[str, ...] = Field(
        (),
        strict=False,
        description="Sets of questions to ask besides the world's own: names as for `ssp eval`, or files.",
    )
    data: str = Field("~/.local/share/ssp/data", min_length=1, description="Folder with the files of the named sets.")
    reserve: float = Field(
        0.1, ge=0.0, lt=1.0, description="Share of a corpus's answers that training never sees, for a benchmark of it."
    )


class CheckpointConfig(Section):
    """What is kept for resuming."""

    every: int = Field(1, ge=1, description="Steps between checkpoints; a crash loses at most these.")
    keep: int = Field(2, ge=1, description="Newest checkpoints that are kept; the first and the last stay anyway.")


Action = Literal["ignore", "warn", "stop", "roll-back"]


class HealthConfig(Section):
    """What is done when a run falls sick: nothing, a warning, an end, or a return to the last good checkpoint."""

    window: int = Field(5, ge=1, description="Steps over which metrics are averaged before an alarm.")
    patience: float = Field(
        1800.0, ge=0.0, description="Seconds to wait between steps for a judge or reader that does not answer."
    )
    death_spiral: Action = Field("warn", description="Hardly any question is valid, after more were.")
    saturation: Action = Field("warn", description="Solvers answer nearly everything: nothing is left to learn.")
    tool_abandonment: Action = Field("warn", description="Solvers stop searching.")
    entropy_collapse: Action = Field("warn", description="Samples hardly differ any more.")
    duplicates: Action = Field("warn", description="The same questions are proposed again and again.")
    pool_overfit: Action = Field("warn", description="Pooled problems are solved, new ones are not.")
    outage: Action = Field("warn", description="Search, engine or judge fail for many trajectories.")
    nothing_to_learn: Action = Field("warn", description="No group of attempts has different rewards.")
    mismatch: Action = Field("warn", description="Sampler and learner disagree about probabilities.")

    @property
    def checkpoints_needed(self) -> int:
        """To roll back there must be one from before the window."""
        return self.window + 1 if "roll-back" in self.model_dump().values() else 0


class Config(Section):
    """Everything a run is made from."""

    preset: str = Field(DEFAULT_PRESET, description="The preset that this configuration started from.")
    seed: int = Field(0, ge=0, lt=2**63, description="All randomness of the run is derived from it.")
    steps: int = Field(60, ge=0, description="Self-play steps.")
    corpus: str = Field(
        "world",
        min_length=1,
        description='What is searched: "world" (generated), a corpus file or folder, "wiki-multihop" (pulled), '
        'or "service": it is elsewhere.',
    )
    seeds: str | None = Field(
        None,
        min_length=1,
        description="Answers to propose for, a JSONL file; else the world's, or mined from the corpus.",
    )
    monitors: tuple[Literal["tensorboard", "trackio", "wandb"], ...] = Field(
        (), strict=False, description="Trackers that follow the run beside its own files."
    )
    world: WorldConfig = WorldConfig()
    search: SearchConfig = SearchConfig()
    model: ModelConfig = ModelConfig()
    lora: LoraConfig = LoraConfig()
    warmup: WarmupConfig = WarmupConfig()
    engine: EngineConfig = EngineConfig()
    agent: AgentConfig = AgentConfig()
    game: GameConfig = GameConfig()
    verify: VerifyConfig = VerifyConfig()
    reader: ReaderConfig = ReaderConfig()
    judge: JudgeConfig = JudgeConfig()
    reward: RewardConfig = RewardConfig()
    credit: CreditConfig = CreditConfig()
    pool: PoolConfig = PoolConfig()
    learner: LearnerConfig = LearnerConfig()
    eval: EvalConfig = EvalConfig()
    checkpoint: CheckpointConfig = CheckpointConfig()
    health: HealthConfig = HealthConfig()

    @property
    def visible(self) -> int:
        """Characters of each document that agents see, if all that a search finds are long."""
        return _CHARACTERS * self.agent.observation_tokens // self.search.k
