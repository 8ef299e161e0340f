"""What the generated world is made of: kinds of entities, relations between them, and how both are worded.

Everything is data. A relation says of which kind its subject and object are, whether it may have several
objects, from which richness on it exists, and how it is worded: by a noun, in articles (`sentences`), as a question
(`questions`) and as a phrase inside a longer question (`phrases`; only where the object is an entity, since
nothing can be asked of a number).

The dial is *richness*:
1. six kinds, sixteen relations, two wordings each, short articles that name their subject in every sentence, questions
   that put nouns one after the other ("the mayor of the birthplace of …"): a model of a few million parameters learns
   to read this in minutes;
2. seven kinds, twenty-five relations, three wordings each, also in questions ("the town where … was born"), an opening
   sentence, then pronouns, shuffled order;
3. the same with filler sentences, some of which mention other entities, so that a name in an article does not
   have to matter.
"""

from dataclasses import dataclass
from functools import cache
from typing import Literal

RICHNESS_LEVELS = (1, 2, 3)
ValueKind = Literal["year", "count", "kilometres"]
VALUE_KINDS: tuple[ValueKind, ...] = ("year", "count", "kilometres")


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of entity: its share of the articles and how an article refers back to it."""

    name: str
    share: float
    opening: str
    pronoun: str
    level: int = 1


@dataclass(frozen=True, slots=True)
class Relation:
    """A relation; `{s}` is the subject, `{o}` the object. `most` is the largest number of objects.

    >>> mayor = schema(1).relation("mayor")
    >>> mayor.plain_questions[0], mayor.plain_phrases
    ('Who is the mayor of {s}?', ('the mayor of {s}',))
    """

    name: str
    subject: str
    object: str
    noun: str
    sentences: tuple[str, str, str]
    questions: tuple[str, str, str]
    phrases: tuple[str, ...] = ()
    most: int = 1
    level: int = 1

    @property
    def is_value(self) -> bool:
        return self.object in VALUE_KINDS

    @property
    def plain_questions(self) -> tuple[str, ...]:
        """Questions in the noun's words only, which can be nested without taking a wording apart."""
        asked = "Who is" if self.object == "person" else "What is"
        return tuple(f"{asking} the {self.noun} of {{s}}?" for asking in (asked, "Can you name"))

    @property
    def plain_phrases(self) -> tuple[str, ...]:
        return () if self.is_value else (f"the {self.noun} of {{s}}",)


@dataclass(frozen=True, slots=True)
class Schema:
    """The kinds, relations and wordings of one richness."""

    richness: int
    kinds: tuple[Kind, ...]
    relations: tuple[Relation, ...]

    def of_subject(self, kind: str) -> tuple[Relation, ...]:
        return tuple(relation for relation in self.relations if relation.subject == kind)

    def relation(self, name: str) -> Relation:
        return _BY_NAME[name]

    def sentences(self, relation: Relation) -> tuple[str, ...]:
        return relation.sentences[:2] if self.richness == 1 else relation.sentences

    def questions(self, relation: Relation) -> tuple[str, ...]:
        return relation.plain_questions if self.richness == 1 else relation.questions

    def phrases(self, relation: Relation) -> tuple[str, ...]:
        return relation.plain_phrases if self.richness == 1 else relation.phrases


KINDS = (
    Kind("person", 0.40, "{s} is a person of some fame.", "this person"),
    Kind("town", 0.20, "{s} is a town.", "this town"),
    Kind("company", 0.12, "{s} is a company.", "this company"),
    Kind("book", 0.16, "{s} is a book.", "this book"),
    Kind("river", 0.06, "{s} is a river.", "this river"),
    Kind("region", 0.06, "{s} is a region.", "this region"),
    Kind("school", 0.05, "{s} is a school.", "this school", level=2),
)

RELATIONS = (
    Relation(
        "birthplace", "person", "town", "birthplace",
        ("{s} was born in {o}.", "The birthplace of {s} is {o}.", "The life of {s} began in {o}."),
        ("Where was {s} born?", "What is the birthplace of {s}?", "In which town was {s} born?"),
        ("the birthplace of {s}", "the town where {s} was born", "the town in which {s} was born"),
    ),
    Relation(
        "birth_year", "person", "year", "birth year",
        ("{s} has lived since {o}.", "The birth year of {s} is {o}.", "It was {o} when {s} was born."),
        ("When was {s} born?", "What is the birth year of {s}?", "In which year was {s} born?"),
    ),
    Relation(
        "mother", "person", "person", "mother",
        ("The mother of {s} is {o}.", "{s} is a child of {o}.", "{s} was brought up by a mother, {o}."),
        ("Who is the mother of {s}?", "Whose child is {s}?", "Which person is the mother of {s}?"),
        ("the mother of {s}", "the person whose child is {s}", "the person who is the mother of {s}"),
    ),
    Relation(
        "employer", "person", "company", "employer",
        ("{s} works for {o}.", "The employer of {s} is {o}.", "{s} earns a living at {o}."),
        ("Which company does {s} work for?", "What is the employer of {s}?", "Which company employs {s}?"),
        ("the employer of {s}", "the company that {s} works for", "the company that employs {s}"),
    ),
    Relation(
        "teacher", "person", "person", "teacher",
        ("{s} was taught by {o}.", "The teacher of {s} is {o}.", "{s} learned everything from {o}."),
        ("Who taught {s}?", "Who is the teacher of {s}?", "By whom was {s} taught?"),
        ("the teacher of {s}", "the person who taught {s}", "the person by whom {s} was taught"),
        level=2,
    ),
    Relation(
        "studied_at", "person", "school", "school",
        ("{s} studied at {o}.", "The school of {s} is {o}.", "{s} holds a diploma from {o}."),
        ("Where did {s} study?", "What is the school of {s}?", "At which school did {s} study?"),
        ("the school of {s}", "the school where {s} studied", "the school at which {s} studied"),
        level=2,
    ),
    Relation(
        "region", "town", "region", "region",
        ("{s} lies in {o}.", "The region of {s} is {o}.", "{s} belongs to {o}."),
        ("In which region does {s} lie?", "What is the region of {s}?", "To which region does {s} belong?"),
        ("the region of {s}", "the region where {s} lies", "the region to which {s} belongs"),
    ),
    Relation(
        "mayor", "town", "person", "mayor",
        ("The mayor of {s} is {o}.", "{s} is run by {o}.", "{s} has a mayor called {o}."),
        ("Who is the mayor of {s}?", "Who runs {s}?", "Which person is the mayor of {s}?"),
        ("the mayor of {s}", "the person who runs {s}", "the person who is the mayor of {s}"),
    ),
    Relation(
        "river", "town", "river", "river",
        ("{s} stands on {o}.", "The river of {s} is {o}.", "The houses of {s} line the banks of {o}."),
        ("On which river does {s} stand?", "What is the river of {s}?", "Which river runs past {s}?"),
        ("the river of {s}", "the river on which {s} stands", "the river that runs past {s}"),
    ),
    Relation(
        "population", "town", "count", "population",
        ("{s} has {o} inhabitants.", "The population of {s} is {o}.", "{s} is home to {o} people."),
        ("How many inhabitants does {s} have?", "What is the population of {s}?", "How many people live in {s}?"),
        level=2,
    ),
    Relation(
        "capital", "region", "town", "capital",
        ("The capital of {s} is {o}.", "{s} is ruled from {o}.", "The government of {s} sits in {o}."),
        ("What is the capital of {s}?", "From which town is {s} ruled?", "Where does the government of {s} sit?"),
        ("the capital of {s}", "the town from which {s} is ruled", "the town where the government of {s} sits"),
    ),
    Relation(
        "favourite_book", "region", "book", "favourite book",
        ("The favourite book of {s} is {o}.", "The people of {s} admire {o}.", "Every house in {s} owns {o}."),
        ("What is the favourite book of {s}?", "Which book do the people of {s} admire?",
         "Which book does every house in {s} own?"),
        ("the favourite book of {s}", "the book that the people of {s} admire", "the book owned by all of {s}"),
    ),
    Relation(
        "governor", "region", "person", "governor",
        ("The governor of {s} is {o}.", "{s} is led by {o}.", "{s} has a governor called {o}."),
        ("Who is the governor of {s}?", "Who leads {s}?", "Which person is the governor of {s}?"),
        ("the governor of {s}", "the person who leads {s}", "the person who is the governor of {s}"),
        level=2,
    ),
    Relation(
        "headquarters", "company", "town", "home",
        ("{s} is based in {o}.", "The home of {s} is {o}.", "{s} is run from {o}."),
        ("Where is {s} based?", "What is the home of {s}?", "In which town is {s} based?"),
        ("the home of {s}", "the town where {s} is based", "the town in which {s} is based"),
    ),
    Relation(
        "founder", "company", "person", "founder",
        ("{s} was founded by {o}.", "The founder of {s} is {o}.", "{s} was the idea of {o}."),
        ("Who founded {s}?", "Who is the founder of {s}?", "By whom was {s} founded?"),
        ("the founder of {s}", "the person who founded {s}", "the person by whom {s} was founded"),
    ),
    Relation(
        "office", "company", "town", "office town",
        ("{s} has offices in {o}.", "The offices of {s} are in {o}.", "{s} keeps offices in {o}."),
        ("Where does {s} have an office?", "Where are the offices of {s}?", "In which town does {s} have an office?"),
        ("the town where {s} has an office", "the office town of {s}", "the town in which {s} has an office"),
        most=3,
    ),
    Relation(
        "founded", "company", "year", "founding year",
        ("{s} was founded in the year {o}.", "The founding year of {s} is {o}.", "{s} opened for business in {o}."),
        ("When was {s} founded?", "What is the founding year of {s}?", "In which year was {s} founded?"),
        level=2,
    ),
    Relation(
        "author", "book", "person", "author",
        ("{s} was written by {o}.", "The author of {s} is {o}.", "{s} came from the pen of {o}."),
        ("Who wrote {s}?", "Who is the author of {s}?", "By whom was {s} written?"),
        ("the author of {s}", "the person who wrote {s}", "the person by whom {s} was written"),
    ),
    Relation(
        "setting", "book", "town", "setting",
        ("{s} is set in {o}.", "The setting of {s} is {o}.", "The story of {s} takes place in {o}."),
        ("Where is {s} set?", "What is the setting of {s}?", "In which town is {s} set?"),
        ("the setting of {s}", "the town where {s} is set", "the town in which {s} is set"),
    ),
    Relation(
        "published", "book", "year", "publication year",
        ("{s} was published in the year {o}.", "The publication year of {s} is {o}.", "{s} came out in {o}."),
        ("When was {s} published?", "What is the publication year of {s}?", "In which year was {s} published?"),
        level=2,
    ),
    Relation(
        "source", "river", "region", "source region",
        ("{s} rises in {o}.", "The source region of {s} is {o}.", "{s} springs from the hills of {o}."),
        ("In which region does {s} rise?", "Where is the source of {s}?", "Where does {s} rise?"),
        ("the region where {s} rises", "the source region of {s}", "the region in which {s} rises"),
    ),
    Relation(
        "length", "river", "kilometres", "length",
        ("{s} is {o} long.", "The length of {s} is {o}.", "{s} covers a distance of {o}."),
        ("How long is {s}?", "What is the length of {s}?", "What distance does {s} cover?"),
    ),
    Relation(
        "crosses", "river", "region", "crossed region",
        ("{s} flows through {o}.", "{s} crosses {o}.", "{s} makes its way through {o}."),
        ("Through which region does {s} flow?", "Which region does {s} cross?", "What region does {s} run through?"),
        ("the region that {s} flows through", "the region that {s} crosses", "the region crossed by {s}"),
        most=3, level=2,
    ),
    Relation(
        "located", "school", "town", "town",
        ("{s} can be found in {o}.", "The town of {s} is {o}.", "{s} has its halls in {o}."),
        ("Where can {s} be found?", "What is the town of {s}?", "In which town can {s} be found?"),
        ("the town of {s}", "the town where {s} can be found", "the town in which {s} can be found"),
        level=2,
    ),
    Relation(
        "head", "school", "person", "head",
        ("The head of {s} is {o}.", "{s} is directed by {o}.", "{s} listens to its head, {o}."),
        ("Who is the head of {s}?", "Who directs {s}?", "Which person is the head of {s}?"),
        ("the head of {s}", "the person who directs {s}", "the person who is the head of {s}"),
        level=2,
    ),
)  # fmt: skip

_BY_NAME = {relation.name: relation for relation in RELATIONS}

FILLERS = (
    "Visitors often speak of {s} with warmth.",
    "{s} is sometimes confused with {x}.",
    "Little else about {s} is certain.",
    "A letter about {s} and {x} was lost in a fire.",
    "Stories about {s} are still told in winter.",
)


@cache
def schema(richness: int) -> Schema:
    """The kinds and relations that exist at this richness."""
    kinds = tuple(kind for kind in KINDS if kind.level <= richness)
    relations = tuple(relation for relation in RELATIONS if relation.level <= richness)
    return Schema(richness, kinds, relations)
