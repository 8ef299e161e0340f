"""The engine of a configuration."""

from pathlib import Path

from ssp.config import Config
from ssp.engines.codec import HfCodec
from ssp.errors import ConfigError
from ssp.protocols import Engine


def open_engine(config: Config, model: Path, *, frozen: bool = False) -> tuple[Engine, HfCodec]:
    """An engine with the model of a directory, and its codec. A frozen copy is always sampled in this process."""
    if config.engine.kind == "scripted":
        raise ConfigError("engine.kind=scripted is for tests and examples: it has no model")
    if config.engine.kind == "vllm" and not frozen:
        return _vllm(config, model)
    from ssp.engines.local import LocalEngine, LocalSettings
    from ssp.engines.models import device_of, dtype_of, load_model, sampling_dtype

    weights, codec = load_model(model, dtype=dtype_of(config.model), device=device_of(config.model))
    settings = LocalSettings(
        cache_gb=config.engine.cache_gb, step_tokens=config.engine.step_tokens, products=sampling_dtype(config)
    )
    return LocalEngine(weights, codec, settings), codec


def _vllm(config: Config, model: Path) -> tuple[Engine, HfCodec]:
    """Servers that are there already, servers that we start, or vLLM beside this process."""
    from ssp.environment import quiet_vllm

    quiet_vllm()
    from ssp.engines.models import device_of
    from ssp.engines.vllm import VllmEngine
    from ssp.engines.vllm_servers import VllmServers
    from ssp.engines.weights import Exchange

    codec, settings, on_cpu = HfCodec.load(model), config.engine, device_of(config.model).type == "cpu"
    folder = Path(settings.exchange) if settings.exchange else None
    if settings.urls:
        return VllmServers(settings.urls, Exchange(model, folder), codec, patience=settings.patience), codec
    exchange, arguments = Exchange(model, folder, untie=on_cpu), vllm_arguments(config)
    if settings.replicas:
        return VllmServers.start(settings.replicas, exchange, codec, arguments), codec
    return VllmEngine(exchange, codec, arguments), codec


def vllm_arguments(config: Config) -> dict[str, object]:
    """What vLLM is told about its work, by the names of its own options."""
    from ssp.engines.models import device_of, dtype_of, sampling_dtype

    engine = config.engine
    if device_of(config.model).type == "cpu":  # eager: nothing is compiled, so nothing has to be warmed up
        memory: dict[str, object] = {"kv_cache_memory_bytes": int(engine.cache_gb * 2**30), "enforce_eager": True}
    else:
        memory = {"gpu_memory_utilization": engine.gpu_share}
    return {
        "dtype": str(sampling_dtype(config) or dtype_of(config.model)).removeprefix("torch."),
        "logprobs_mode": "processed_logprobs",
        "enable_prefix_caching": True,
        "max_num_batched_tokens": engine.step_tokens,
        "seed": 0,
        **memory,
    }
