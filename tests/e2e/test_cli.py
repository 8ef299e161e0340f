"""The commands of the README, and one clear line for every mistake."""

import asyncio
import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ssp.ablations.gates import score_gates
from ssp.cli.main import COMMANDS
from ssp.records import encode
from ssp.types import (
    Doc,
    Episode,
    Hit,
    Outcome,
    Problem,
    Role,
    SearchCall,
    Seed,
    Segment,
    Status,
    Trajectory,
    Verdict,
)
from tests.e2e.conftest import Run, command
from tests.judge_server import JudgeServer


def good(done: subprocess.CompletedProcess[str]) -> str:
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_world_index_search(ssp: Run, tmp_path: Path) -> None:
    counts = json.loads(good(ssp("world", "--out", "w", "--articles", 300, "--json")))
    assert counts["articles"] == 300
    assert good(ssp("index", "w/corpus.jsonl", "--out", "idx")).startswith("idx: bm25 index of 300 documents")
    first = json.loads((tmp_path / "w" / "corpus.jsonl").read_text().splitlines()[0])
    hits = json.loads(good(ssp("search", "idx", first["title"], "-k", 2, "--json")))["hits"]
    assert hits[0] == {**first, "score": hits[0]["score"]}
    assert 1 <= len(hits) <= 2
    assert first["title"] in good(ssp("search", "idx", first["title"]))
    assert good(ssp("search", "idx", "qqq")).strip() == "nothing found"
    assert "all files are sound" in good(ssp("index", "--verify", "idx"))


SMALL = "world.articles=200 warmup.steps=3 warmup.cache=cache game.seeds=4 eval.questions=3".split()
SMALL_RUN = tuple(part for one in SMALL for part in ("--set", one))
QUICK = (*SMALL_RUN, "--set", "steps=0")


def test_train_plays_and_leaves_a_run_directory(ssp: Run, tmp_path: Path) -> None:
    result = json.loads(good(ssp("train", *SMALL_RUN, "--set", "steps=2", "--json")))
    assert result["run"] == "runs/tiny-001"
    assert result["steps"] == 2
    assert result["funnel"]["proposed"] == 8
    assert set(result["eval"]["final"]) == {"world-1", "world-2", "world-3", "world-4"}
    assert result["eval"]["start"]["world-1"]["n"] == 3
    assert {path.name for path in (tmp_path / "runs" / "tiny-001").iterdir()} == {
        ".lock", "checkpoints", "config.json", "episodes.jsonl", "evals.jsonl", "index", "metrics.jsonl",
        "log.txt", "report.html", "versions.json", "world",
    }  # fmt: skip
    assert len((tmp_path / "runs" / "tiny-001" / "episodes.jsonl").read_text().splitlines()) == 8
    shown = good(ssp("train", "--resume"))
    assert "held-out questions" in shown
    assert "report.html" in shown


def test_the_second_run_finds_the_model_made(ssp: Run, tmp_path: Path) -> None:
    assert json.loads(good(ssp("train", *QUICK, "--json")))["steps"] == 0
    [made] = (tmp_path / "cache" / "warmup").iterdir()
    model = tmp_path / "runs" / "tiny-001" / "checkpoints" / "step-000000" / "model" / "model.safetensors"
    assert model.read_bytes() == (made / "model.safetensors").read_bytes()
    stamp = (made / "model.safetensors").stat().st_mtime_ns
    text = good(ssp("train", *QUICK))
    assert [made] == list((tmp_path / "cache" / "warmup").iterdir())
    assert (made / "model.safetensors").stat().st_mtime_ns == stamp
    assert "runs/tiny-002" in text


def test_ask_and_play(ssp: Run, tmp_path: Path) -> None:
    """With a model that has learned next to nothing: what is said is nonsense, but it is said in order."""
    good(ssp("train", *QUICK, "--out", "run"))
    asked = json.loads(good(ssp("ask", "run", "Who is the mother of Mira Dolven?", "--json")))
    assert asked["transcript"].startswith("<|user|> Question:\n Who is the mother of Mira Dolven?<|assistant|>")
    assert asked["status"] in {"finished", "no_final", "malformed", "turn_limit", "length"}
    assert "→" in good(ssp("ask", "run", "Who is the mother of Mira Dolven?", "--temperature", 1))
    played = good(ssp("play", "run", "--hops", 2, "--seed", 3))
    assert "2 hops" in played
    assert "== verdict: " in played
    assert "proposer: " in played
    given = json.loads(good(ssp("play", "run", "--answer", "Dunford", "--json")))
    assert given["seed"]["answer"] == "Dunford"
    model = "run/checkpoints/step-000000/model"
    own = ("--index", "run/index", "--set", "agent.prompts=brief")
    assert json.loads(good(ssp("ask", model, "Who?", *own, "--json")))["transcript"].startswith("<|user|>")
    assert ssp("ask", model, "Who?").stderr.startswith("ssp: a model needs something to search: --index DIR")


def test_eval_and_compare(ssp: Run, tmp_path: Path) -> None:
    good(ssp("train", *QUICK, "--out", "run"))
    scored = json.loads(good(ssp("eval", "run", "--on", "world-1,world-2", "--limit", 4, "--json")))
    assert set(scored["sets"]) == {"world-1", "world-2"}
    assert scored["sets"]["world-1"]["n"] == 4
    later = json.loads(good(ssp("eval", "run", "--on", "world-1", "--skip", 2, "--limit", 2, "--json")))
    assert later["sets"]["world-1"]["n"] == 2
    low, high = scored["sets"]["world-1"]["ci95"]
    assert low <= scored["sets"]["world-1"]["accuracy"] <= high
    assert scored["macro"]["sets"] == 2
    assert (tmp_path / scored["folder"] / "world-1.jsonl").exists()
    questions = (tmp_path / "run" / "world" / "questions.jsonl").read_text().splitlines()[:3]
    (tmp_path / "mine.jsonl").write_text("\n".join(questions))
    for name in ("a", "b"):
        asked = ("eval", "run", "--on", "mine.jsonl", "--samples", 2, "--out", name)
        assert "pass@2" in good(ssp(*asked))
    told = good(ssp("eval", "--compare", "a", "b"))
    assert "no difference is shown" in told
    [pair] = json.loads(good(ssp("eval", "--compare", "a", "b", "--json")))["sets"]["mine"]["pairs"]
    assert (pair["n"], pair["difference"]) == (3, 0.0)
    model = "run/checkpoints/step-000000/model"
    corpus = ("--corpus", "run/world/corpus.jsonl", "--set", "agent.prompts=brief")
    assert json.loads(good(ssp("eval", model, "--on", "mine.jsonl", *corpus, "--json")))["sets"]["mine"]["n"] == 3
    several = good(ssp("eval", "run", model, "--on", "mine.jsonl", "--corpus", "run/world/corpus.jsonl"))
    assert several.splitlines()[0] == "| model | mine | avg |"
    assert len(several.splitlines()) == 4
    for wrong, complaint in (
        (("run", model, "--on", "mine.jsonl", "--out", "x"), "--out is for one target"),
        (("run", "--on", "hotpotqa", "--data", "nowhere"), "HotpotQA is not in nowhere: put hotpotqa.jsonl"),
        (("run", "--on", "world-9"), "no set world-9; this run's world has world-1"),
        (("run", "--on", "world-1", "--skip", 100_000), "--skip 100000 leaves none"),
        ((model, "--on", "world"), "belong to a run"),
        ((model, "--on", "mine.jsonl", "--corpus", "absent"), "no index and no corpus at absent"),
        (("run", "--on", "mine.jsonl", "--samples", 3, "--out", "a"), "other settings (samples"),
    ):
        refused = ssp("eval", *wrong)
        assert refused.returncode == 2, wrong
        [line] = refused.stderr.splitlines()
        assert complaint in line


def test_doctor_times_a_step_and_leaves_nothing(ssp: Run, tmp_path: Path) -> None:
    found = json.loads(good(ssp("doctor", "--step", *QUICK, "--json")))["findings"]
    assert re.search(r"at most about .* with \d of \d+ seeds", found[-1]["says"])
    assert not (tmp_path / "runs").exists()


def test_a_model_as_judge(ssp: Run, tmp_path: Path) -> None:
    good(ssp("train", *QUICK, "--out", "run"))
    questions = (tmp_path / "run" / "world" / "questions.jsonl").read_text().splitlines()[:3]
    (tmp_path / "mine.jsonl").write_text("\n".join(questions))
    server = JudgeServer()
    settings = ("kind=llm", f"url={server.url}", "model=m", f"cache={tmp_path / 'judge.sqlite'}", "attempts=1")
    told = [part for one in settings for part in ("--set", f"judge.{one}")]
    healthy = json.loads(good(ssp("doctor", *told, "--judge", "--json")))
    assert all(one["fine"] for one in healthy["findings"])
    assert healthy["judge"]["judged"] == healthy["judge"]["cases"] >= 150
    assert "wrong, but passed" in good(ssp("doctor", *told, "--judge"))
    scored = json.loads(good(ssp("eval", "run", "--on", "mine.jsonl", *told, "--json")))["sets"]["mine"]
    assert (scored["n"], scored["unjudged"]) == (3, 0)
    server.kill()
    sick = ssp("doctor", *told)
    assert sick.returncode == 2
    assert "BAD  judge" in sick.stdout
    assert "not ready: judge" in sick.stderr


def test_a_terminal_without_unicode_gets_an_answer(ssp: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "c.jsonl").write_text('{"id": "1", "title": "北京", "text": "首都"}\n')
    good(ssp("index", "c.jsonl", "--out", "idx"))
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    assert "\\u5317" in good(ssp("search", "idx", "首都"))


NOTES = {
    "oakmere": "# Oakmere\n\nOakmere is a town on the Velbeck. Its mayor is Mira Dolven.",
    "mira": "# Mira Dolven\n\nMira Dolven was born in Dunford in 1843. She works for Karsa Mills.",
    "dunford": "# Dunford\n\nDunford is a town of 1,200 inhabitants on the Velbeck, upstream of Oakmere.",
    "velbeck": "# Velbeck\n\nThe Velbeck is a river of 312 km. It rises in Harrowland.",
    "karsa": "# Karsa Mills\n\nKarsa Mills is a company. It was founded by Tom Lund in Dunford.",
    "lund": "# Tom Lund\n\nTom Lund lives in Oakmere. He wrote a book on the Velbeck, printed on 3 June 1887.",
}


def test_the_whole_way_with_a_folder_of_documents(ssp: Run, tmp_path: Path) -> None:
    """Seeds, self-play, report, export; and the same command for the evaluation of what came out."""
    (tmp_path / "notes").mkdir()
    for name, text in NOTES.items():
        (tmp_path / "notes" / f"{name}.md").write_text(text)
    mined = json.loads(good(ssp("seeds", "notes", "--out", "seeds.jsonl", "--json")))
    assert mined["documents"] == 6
    assert set(mined["kinds"]) >= {"title", "date", "number"}
    assert "exists already" in ssp("seeds", "notes", "--out", "seeds.jsonl").stderr
    own = ("--set", "corpus=notes", "--set", "eval.reserve=0.3", "--set", "seeds=seeds.jsonl")
    good(ssp("train", *SMALL_RUN, *own, "--out", "run"))
    assert "dunford.md" in good(ssp("search", "run/index", "inhabitants"))
    played = (tmp_path / "run" / "episodes.jsonl").read_text().splitlines()
    answers = {json.loads(line)["seed"]["answer"] for line in played}
    assert answers
    assert answers <= {json.loads(line)["answer"] for line in (tmp_path / "seeds.jsonl").read_text().splitlines()}
    assert "report.html" in good(ssp("report", "run"))
    nothing = ssp("report", "run", "--export", "problems.jsonl")  # a model of three steps asks nothing that holds
    assert nothing.returncode == 2
    assert "no question of run was verified" in nothing.stderr
    assert "ends in .jsonl or .parquet" in ssp("report", "run", "--export", "problems.txt").stderr
    bench = json.loads(good(ssp("report", "run", "--benchmark", "bench.jsonl", "--json")))
    assert bench["questions"] == 0
    assert bench["left_out"]["not verified"] >= 1
    mined_by_itself = ssp("train", *SMALL_RUN, "--set", "corpus=notes", "--out", "other")
    assert mined_by_itself.returncode == 0
    assert (tmp_path / "other" / "seeds.jsonl").exists()


def test_dry_run_prints_the_configuration_and_writes_nothing(ssp: Run, tmp_path: Path) -> None:
    text = good(ssp("train", "--dry-run", "--set", "seed=7"))
    assert "seed = 7" in text
    assert json.loads(good(ssp("train", "--dry-run", "--json")))["preset"] == "tiny"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["", *COMMANDS])
def test_help(ssp: Run, name: str) -> None:
    assert "Usage: ssp" in good(ssp(*([name] if name else []), "--help"))


MISTAKES = [
    (["train", "--set", "game.hops=[0,0]"], "game.hops takes shares"),
    (["train", "--set", "game.hops=[-1,2]"], "game.hops takes shares"),
    (["train", "--set", "world.hops=2"], "game.hops asks for 3 hops, world.hops has 2"),
    (["train", "--set", "learner.learning_rate=inf"], "learner.learning_rate: Input should be a finite number"),
    (["train", "--resume", "--dry-run"], "goes on with a run as it was configured"),
    (["train", "--resume", "--out", "absent"], "there is no run at absent"),
    (["ask", "absent", "Who?"], "no run and no model at absent"),
    (["serve", "idx", "--host", ""], "--host is empty"),
    (["eval"], "say what to evaluate"),
    (["eval", "absent"], "belong to a run"),
    (["eval", "absent", "--samples", "0"], "at least 1"),
    (["eval", "--compare", "absent", "absent"], "holds no evaluation"),
    (["eval", "run", "--compare", "a", "b"], "no run besides"),
    (["wrld"], 'Did you mean "world"'),
    (["world"], "--out"),
    (["world", "--out", "w", "--articles", "many"], "articles"),
    (["world", "--out", "w", "--articles", "5"], "at least 100"),
    (["world", "--out", "w", "--hops", "9"], "between 1 and 4"),
    (["world", "--out", "w", "--richness", "9"], "one of 1, 2, 3"),
    (["world", "--out", "w", "--articles", "100000000000"], "at most"),
    (["world", "--out", "taken"], "exists already"),
    (["world", "--out", "taken/file/below"], "can't write"),
    (["index", "--out", "i"], "name a corpus"),
    (["index", "good.jsonl"], "--out DIR"),
    (["index", "absent.jsonl", "--out", "i"], "no corpus at absent.jsonl"),
    (["index", "bad.jsonl", "--out", "i"], "bad.jsonl:2: not valid JSON"),
    (["index", "twice.jsonl", "--out", "i"], "two documents with the id"),
    (["index", "good.jsonl", "--out", "taken"], "exists already"),
    (["index", "good.jsonl", "--out", "i", "--kind", "magic"], "magic"),
    (["index", "good.jsonl", "--out", "i", "--kind", "dense", "--encoder", "./none"], "no encoder directory at ./none"),
    (["index", "--verify", "taken"], "is not an index"),
    (["index", "--verify"], "name an index"),
    (["index", "good.jsonl", "--out", "i", "--encoder", "foo"], "--kind dense or hybrid"),
    (["world", "--out", "w", "--seed", "99999999999999999999999"], "a seed is"),
    (["train", "--set", "seed=18446744073709551616"], "setting seed"),
    (["search", "absent", "query"], "no index at absent"),
    (["search", "absent"], "query"),
    (["search", "taken", "query", "-k", "0"], "at least 1"),
    (["search", "x" * 300, "query"], "too long"),
    (["serve", "absent"], "no index at absent"),
    (["serve", "absent", "--threads", "0"], "--threads must be at least 1"),
    (["serve", "absent", "--topk", "0"], "--topk must be between"),
    (["train", "absent.toml"], "no configuration file"),
    (["train", "--preset", "none"], "there is: one-gpu, paper, smol, tiny"),
    (["train", "--set", "model.path=absent"], "no Hugging Face model directory"),
    (["ask", "some/model", "Who?", "--index", "taken"], "not an index"),
    (["ask", "taken", "Who?"], "neither a run"),
    (["ask", "taken", " "], "the question is empty"),
    (["play", "taken", "--attempts", "0"], "at least 1"),
    (["train", "--set", "world.article=200"], "did you mean 'world.articles'?"),
    (["train", "--set", "corpus=absent", "--set", "steps=0"], "no corpus at absent"),
    (["train", "--set", "corpus=absent"], "no corpus at absent"),
    (["train", "--set", "seeds=absent.jsonl"], "can't read seeds from absent.jsonl"),
    (["train", "--set", "corpus=good.jsonl"], "nothing to propose for"),
    (["ablate", "rolls"], "there are roles, rag"),
    (["ablate", "roles", "--seeds", "0"], "--seeds must be at least 1"),
    (["seeds", "absent", "--out", "s.jsonl"], "no corpus at absent"),
    (["seeds", "good.jsonl", "--out", "s.jsonl"], "nothing to mine"),
    (["report", "absent"], "absent has no metrics"),
    (["report", "taken", "--export", "problems.csv"], "ends in .jsonl or .parquet"),
    (["data", "pull", "squad"], "SQuAD 1.1 comes from"),
    (["doctor", "--set", "judge.kind=llm"], "judge.kind=llm needs judge.url=ADDRESS"),
    (["train", "--set", "credit.proposer=grpo"], "set game.proposals to 2 or more"),
    (["train", "--set", "game.attempts=1"], "set game.attempts to 2 or more"),
    (["train", "--set", "game.hops=[]"], "setting game.hops"),
    (["train", "--resume"], "there is no run in runs/ to go on with"),
    (["train", "--resume", "--set", "seed=1"], "only --set steps=N can be changed"),
    (["train", "--init", "absent"], "no Hugging Face model directory"),
    (["train", "--out", "taken"], "exists already"),
]


@pytest.mark.parametrize(
    ("arguments", "complaint"), MISTAKES, ids=lambda value: " ".join(value) if isinstance(value, list) else ""
)
def test_a_mistake_gets_one_line_and_leaves_nothing(
    ssp: Run, tmp_path: Path, arguments: list[str], complaint: str
) -> None:
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "file").write_text("mine")
    (tmp_path / "good.jsonl").write_text('{"id": "1", "title": "t", "text": "words"}\n')
    (tmp_path / "bad.jsonl").write_text('{"id": "1", "title": "t", "text": "words"}\nnonsense\n')
    (tmp_path / "twice.jsonl").write_text('{"id": "1", "text": "words"}\n' * 2)
    before = sorted(path.name for path in tmp_path.rglob("*"))
    done = ssp(*arguments)
    assert done.returncode == 2, done.stderr
    assert complaint in done.stderr
    assert done.stderr.count("\n") == 1, done.stderr
    assert "Traceback" not in done.stderr
    after = sorted(path.name for path in tmp_path.rglob("*"))
    assert [name for name in after if name != "runs"] == before


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_command_leaves_nothing_half_written(tmp_path: Path, how: signal.Signals) -> None:
    arguments = [*command(), "world", "--out", "big", "--articles", "2000000"]
    process = subprocess.Popen(arguments, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while not list(tmp_path.glob(".big.*/corpus.jsonl")) and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(how)
    _, complaint = process.communicate(timeout=60)
    assert process.returncode == 130
    assert complaint.splitlines()[-1] == "ssp: stopped"
    assert list(tmp_path.iterdir()) == []


def test_a_larger_world_needs_hardly_more_memory(tmp_path: Path) -> None:
    """Articles are written one at a time: ten times as many may cost a few bytes each, not their text."""
    script = (
        "import resource, sys\nfrom ssp.cli.main import main\n"
        "assert main(['world', '--out', sys.argv[1], '--articles', sys.argv[2]]) == 0\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )

    def peak(articles: int) -> int:
        arguments = [sys.executable, "-c", script, str(tmp_path / str(articles)), str(articles)]
        done = subprocess.run(arguments, capture_output=True, text=True, check=True)
        return int(done.stdout.splitlines()[-1])

    assert peak(60_000) - peak(6_000) < 25_000, "kilobytes"


def test_an_ablation_goes_on_where_it_was_and_ends_in_a_table(ssp: Run, tmp_path: Path) -> None:
    small = (*SMALL_RUN, "--set", "steps=1", "--set", "eval.questions=2", "--seeds", "1", "--out", "out")
    told = good(ssp("ablate", "penalty", *small, timeout=600))
    assert "| −0.1 | death spiral |" in told
    runs = {run: (run / "metrics.jsonl").stat().st_mtime_ns for run in (tmp_path / "out" / "runs").iterdir()}
    assert len(runs) == 2
    assert "<td>death spiral</td>" in (tmp_path / "out" / "penalty.html").read_text()
    again = json.loads(good(ssp("ablate", "penalty", *small, "--json")))
    assert {len(arm["runs"]) for arm in again["arms"].values()} == {1}
    assert runs == {run: (run / "metrics.jsonl").stat().st_mtime_ns for run in (tmp_path / "out" / "runs").iterdir()}


def test_gates_are_held_against_the_oracle(ssp: Run, tmp_path: Path) -> None:
    """Two questions of a run with the same evidence, one true and one not; a reader of three steps finds neither."""
    good(ssp("train", *QUICK, "--out", "run"))
    row = json.loads((tmp_path / "run" / "world" / "questions.jsonl").read_text().splitlines()[0])
    found = tuple(Doc(one, one, f"A text of its own, {one}.") for one in ("d1", "d2"))
    call = SearchCall("something", tuple(Hit(doc, rank, 1.0) for rank, doc in enumerate(found, 1)), 0.0)
    lines = []
    for number, answer in enumerate((row["answers"][0], "Nobody At All")):
        seed = Seed(f"s{number}", answer, hops=1)
        proposal = Trajectory(
            f"p{number}", Role.PROPOSER, (Segment.prompt("x", (1,)),), (call,), Status.FINISHED, 0, row["question"]
        )
        problem = Problem(
            f"q{number}", seed.id, row["question"], answer, proposal_id=proposal.id, hops=1, evidence=found
        )
        verdict = Verdict(Outcome.REJECTED, "rag: no")
        lines.append(encode(Episode(f"e{number}", 0, seed, proposal, problem, verdict, rewards={proposal.id: 0.0})))
    (tmp_path / "run" / "episodes.jsonl").write_bytes(b"\n".join(lines) + b"\n")
    scores = {one.gate: one for one in asyncio.run(score_gates(tmp_path / "run"))}
    assert (scores["none"].questions, scores["none"].true, scores["none"].accepted) == (2, 1, 2)
    assert (scores["none"].precision, scores["none"].recall) == (0.5, 1.0)
    assert all(scores[f"rag, {noise} noise documents"].accepted == 0 for noise in (0, 1, 4, 7))
    assert scores["closed-book"].accepted == 2, "who knows nothing answers nothing without documents"
