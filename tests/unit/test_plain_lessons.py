"""Lessons for pre-trained models: what is taught can be seen by those who are taught."""

import random
import re
from itertools import islice, pairwise
from pathlib import Path

import pytest

from ssp.agents.agent import Task
from ssp.config import load_config
from ssp.search.index import build_index, open_index
from ssp.seeds.mining import is_date, mine
from ssp.text import leaks
from ssp.types import Doc, Role, Seed
from ssp.warmup.askable import askable
from ssp.warmup.cloze import ClozeLibrary
from ssp.warmup.kept import dress
from ssp.warmup.lessons import Lesson, play_lesson
from ssp.warmup.plain import PlainSyllabus, PlainTeacher, proposer
from tests.models import codec

CONFIG = load_config(preset="smol", overrides=["agent.observation_tokens=400", "agent.turn_tokens=128"])
TOWNS = [
    f"{first}{last}"
    for first in ("Oak", "Dun", "Vel", "Har", "Kar", "Zis")
    for last in ("mere", "ford", "beck", "wick")
]
PROPOSED = re.compile(r"<think>(?P<note>.+)</think>\s*<question>(?P<question>.+)</question>")


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ClozeLibrary:
    """Towns whose mayors come from other towns."""
    rng = random.Random(0)
    docs = []
    for number, town in enumerate(TOWNS):
        mayor = f"Mira {town}son"
        docs.append(Doc(f"t{number}", town, f"{town} was founded in 1{700 + number}. The mayor of {town} is {mayor}."))
        docs.append(Doc(f"p{number}", mayor, f"{mayor} was born in {rng.choice(TOWNS)}. She was trained by Mira Duhn."))
    index = tmp_path_factory.mktemp("towns") / "index"
    build_index(docs, index)
    return ClozeLibrary(docs, [one.answer for one in mine(docs)], open_index(index, compiled=False), 300)


def lessons(library: ClozeLibrary, kind: str, count: int = 20) -> list[Lesson]:
    reading, solving, proposing = (float(name == kind) for name in ("reading", "solving", "proposing"))
    teacher = PlainTeacher([library], dress(CONFIG, codec()), PlainSyllabus(reading, solving, proposing))
    made = list(islice(teacher.lessons(7), 3 * count))
    return [one for one in made if one.kind == kind][:count]


def parts(lesson: Lesson) -> list[tuple[bool, str]]:
    """What is given and what is taught, in turns."""
    turns: list[tuple[bool, list[int]]] = []
    for token, taught in zip(lesson.token_ids, lesson.mask, strict=True):
        if not turns or turns[-1][0] is not taught:
            turns.append((taught, []))
        turns[-1][1].append(token)
    return [(taught, codec().decode(tuple(ids))) for taught, ids in turns]


def test_readers_answer_several_questions_from_documents_that_come_once(library: ClozeLibrary) -> None:
    """Some are put the other way round: the answer is given, and a question without it is to be found."""
    said = known = asked = 0
    for lesson in lessons(library, "reading"):
        turns = parts(lesson)
        documents = turns[0][1].partition("Question:")[0]
        for (_, given), (_, told) in pairwise(turns):
            if answer := re.fullmatch(r"<answer>(.+)</answer>", told):
                unknown = answer[1].strip() == "unknown"
                said, known = said + 1, known + (not unknown)
                assert unknown or leaks(documents, [answer[1]]), told
            elif proposed := PROPOSED.fullmatch(told):
                wanted = re.search(r"Answer:\n(.+?)(?:<|$)", given, re.MULTILINE)
                assert wanted
                assert leaks(documents, [wanted[1]])
                assert leaks(proposed["note"], [wanted[1]])
                assert not leaks(proposed["question"], [wanted[1]])
                asked += 1
    assert said > 20
    assert 0.6 < known / said < 1.0
    assert asked >= 5


def test_solvers_answer_with_what_they_were_shown(library: ClozeLibrary) -> None:
    made = lessons(library, "solving")
    assert len(made) == 20
    for lesson in made:
        turns = parts(lesson)
        answer = re.fullmatch(r"<answer>(.+)</answer>", turns[-1][1])
        assert answer
        assert leaks("".join(text for taught, text in turns[1:] if not taught), [answer[1]])


def test_proposers_ask_for_what_they_were_given_and_do_not_say_it(library: ClozeLibrary) -> None:
    made = lessons(library, "proposing")
    assert len(made) == 20
    for lesson in made:
        turns = parts(lesson)
        given = re.search(r"Answer:\n(.+?)(?:<|$)", turns[0][1], re.MULTILINE)
        proposed = PROPOSED.fullmatch(turns[-1][1])
        assert given
        assert proposed
        assert not leaks(proposed["question"], [given[1]]), proposed["question"]
        assert leaks("".join(text for taught, text in turns[1:] if not taught), [given[1]]), "it was found"


def test_the_same_seed_gives_the_same_lessons(library: ClozeLibrary) -> None:
    assert lessons(library, "reading") == lessons(library, "reading")


def test_what_a_proposer_notes_it_has_just_been_shown(library: ClozeLibrary) -> None:
    """A note begins with the subject of a document that was found and ends with what was looked for."""
    noted = 0
    for lesson in lessons(library, "proposing"):
        turns = parts(lesson)
        sought = re.search(r"Answer:\n(.+?)(?:<|$)", turns[0][1], re.MULTILINE)
        assert sought
        target = sought[1].strip()
        for (_, found), (_, said) in pairwise(turns[1:]):
            if note := re.match(r"<think>\s*(?P<subject>[^:]+): (?P<told>.+?)\s*\.\s*</think>", said):
                assert f" {note['subject']}: " in found
                assert note["told"].endswith(target)
                target = note["subject"]
                noted += 1
    assert noted >= 20


def test_askable_seeds_are_those_that_a_demonstrated_proposer_gets_to_the_end_with(library: ClozeLibrary) -> None:
    """A town is mentioned by those who were born there, a year by the town that was founded in it: one and two hops."""
    answers = [*TOWNS, *(str(1700 + number) for number in range(len(TOWNS))), "Nowhere"]
    seeds = [Seed(answer, answer, hops=4) for answer in answers]
    found = {seed.answer: seed.hops for seed in askable(seeds, library, k=3, most=2)}
    assert "Nowhere" not in found
    assert {found.get(town) for town in TOWNS} == {1, None}, "nobody was born in some"
    assert 2 in found.values()
    assert {seed.answer: seed.hops for seed in askable(seeds, library, k=3, most=1)} == dict.fromkeys(found, 1)
    for answer, hops in found.items():
        task = Task("lesson", Role.PROPOSER, {"answer": answer, "hops": hops})
        agent = dress(CONFIG, codec())
        behaviour = proposer(library, agent.protocol, answer, hops, random.Random(0))
        assert parts(play_lesson(agent, library, task, behaviour, "proposing"))[-1][1].rstrip().endswith("</question>")


def test_most_lessons_ask_for_something_else_than_dates(library: ClozeLibrary) -> None:
    """Half of what these documents say with one object is a date; of the puzzles it is a quarter."""
    people = [
        Doc(
            f"{n}", f"Ida Kern{n}", f"Ida Kern{n} (born 19{n + 10} in Oak{n}mere) is a painter. She died in 20{n + 10}."
        )
        for n in range(30)
    ]
    answers = [*(f"Oak{n}mere" for n in range(30)), *(f"{c}{n + 10}" for n in range(30) for c in (19, 20)), "painter"]
    natural = ClozeLibrary(people, answers, library.searcher, natural=True)
    for some in (library, natural):
        rng = random.Random(0)
        assert 60 < sum(is_date(some.puzzle(1, rng).answer or "") for _ in range(400)) < 140


def test_no_kind_of_question_outweighs_the_others(tmp_path: Path) -> None:
    """Of a hundred directors, ten birthplaces and eighty dates of two kinds, sixty, ten and sixty are asked for."""
    docs = [Doc(f"f{n}", f"Trust {n}", f"Trust {n} is a film directed by Ida Kern{n}.") for n in range(100)]
    docs += [Doc(f"p{n}", f"Ida Kern{n}", f"Ida Kern{n} was born in Oak{n}mere.") for n in range(10)]
    docs += [
        Doc(f"d{n}", f"Mira{n}", f"Mira{n} was founded in 15{n + 10}. It was closed in 16{n + 10}.") for n in range(40)
    ]
    build_index(docs, tmp_path / "index")
    answers = [*(f"Ida Kern{n}" for n in range(100)), *(f"Oak{n}mere" for n in range(10))]
    answers += [f"{century}{n + 10}" for n in range(40) for century in (15, 16)]
    library = ClozeLibrary(docs, answers, open_index(tmp_path / "index", compiled=False), natural=True)
    found = askable([Seed(answer, answer) for answer in answers], library, k=3, most=1)
    assert sum(seed.answer.startswith("Ida") for seed in found) == 60
    assert sum(seed.answer.startswith("Oak") for seed in found) == 10
    assert sum(is_date(seed.answer) for seed in found) == 60
    directors = [int(seed.answer.removeprefix("Ida Kern")) for seed in found if seed.answer.startswith("Ida")]
    assert max(directors) > 75, "not just the first ones"
    assert directors == sorted(directors), "in the order of the corpus"
