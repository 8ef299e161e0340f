"""Draw docs/images/world.svg: a real three-hop question of the default world and the articles that it takes."""

from html import escape
from pathlib import Path

from ssp.rng import python_random
from ssp.worlds.articles import article
from ssp.worlds.questions import Chain, follow, word_question
from ssp.worlds.world import World, WorldSettings

TARGET = Path(__file__).resolve().parent.parent / "docs" / "images" / "world.svg"
PATH = ("author", "birthplace", "river")
WIDTH, CARD, GAP, HEIGHT = 980, 300, 25, 270
INK, PAPER, CARD_FILL, ACCENT, MUTED = "#1f2933", "#ffffff", "#f5f7fa", "#c2410c", "#64748b"


def example(world: World) -> Chain:
    relations = [world.schema.relation(name) for name in PATH]
    chains = (follow(world, start, relations) for start in world.island.ranges[relations[0].subject])
    return next(chain for chain in chains if chain is not None)


def wrap(text: str, width: int) -> list[str]:
    lines = [""]
    for word in text.split():
        if len(lines[-1]) + len(word) + 1 > width:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return lines


def line(x: float, y: float, text: str, size: int, fill: str = INK, weight: int = 400, anchor: str = "start") -> str:
    style = f'font-size="{size}" fill="{fill}" font-weight="{weight}" text-anchor="{anchor}"'
    return f'<text x="{x}" y="{y}" {style}>{escape(text)}</text>'


def card(world: World, entity: int, next_name: str, number: int) -> list[str]:
    """An article, with what leads on in colour."""
    x, y = GAP + number * (CARD + GAP / 2 + 3), 78
    doc = article(world, entity)
    parts = [f'<rect x="{x}" y="{y}" width="{CARD}" height="150" rx="8" fill="{CARD_FILL}" stroke="#cbd5e1"/>']
    parts += [line(x + 14, y + 26, f"{number + 1}. {doc.title}", 15, weight=700)]
    row = y + 50
    for sentence in doc.text.split(". "):
        found = next_name in sentence
        for text in wrap(sentence.rstrip(".") + ".", 36):
            parts.append(line(x + 14, row, text, 13, ACCENT if found else MUTED, 600 if found else 400))
            row += 18
    return parts


def draw(world: World) -> str:
    chain = example(world)
    question = word_question(world, chain, python_random(0, "picture"))
    steps = [*chain.path, chain.answer]
    body = [line(WIDTH / 2, 34, question, 18, weight=700, anchor="middle")]
    body += [
        line(
            WIDTH / 2,
            58,
            "one search with the question finds the first article; each article names what to search for next",
            13,
            MUTED,
            anchor="middle",
        )
    ]
    for number, entity in enumerate(chain.path):
        body += card(world, entity, world.name(steps[number + 1]), number)
    body += [line(WIDTH / 2, HEIGHT - 14, f"Answer: {world.name(chain.answer)}", 16, ACCENT, 700, "middle")]
    inner = "\n".join(body)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="system-ui, sans-serif">\n'
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="{PAPER}"/>\n{inner}\n</svg>\n'
    )


def main() -> None:
    TARGET.parent.mkdir(parents=True, exist_ok=True)
    TARGET.write_text(draw(World(WorldSettings())), encoding="utf-8")


if __name__ == "__main__":
    main()
