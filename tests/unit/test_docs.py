"""Documentation that can't drift from the code."""

import re
from pathlib import Path

import pytest
from scripts.reference import FOLDER, PAGES

from ssp import __version__
from ssp.cli.main import COMMANDS

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("name", PAGES)
def test_reference_pages_are_up_to_date(name: str) -> None:
    assert (FOLDER / name).read_text(encoding="utf-8") == PAGES[name](), "run: make docs"


def test_every_command_is_documented() -> None:
    page = (FOLDER / "cli.md").read_text(encoding="utf-8")
    assert all(f"## ssp {name}" in page for name in COMMANDS)


def test_the_changelog_knows_this_version() -> None:
    assert f"## {__version__}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "page", ["README.md", "CONTRIBUTING.md", *(f"docs/{p.name}" for p in (ROOT / "docs").glob("*.md"))]
)
def test_links_lead_somewhere(page: str) -> None:
    path = ROOT / page
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", path.read_text(encoding="utf-8")):
        if not target.startswith(("http://", "https://")):
            assert (path.parent / target).exists(), f"{page} links to {target}"


def test_commands_in_the_readme_exist() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    named = set(re.findall(r"^(?:\.venv/bin/)?ssp (\w+)", text, flags=re.MULTILINE))
    assert named
    assert named <= set(COMMANDS)


def test_every_pinned_dependency_is_exact() -> None:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pins = [line for line in lines if line and not line.startswith("#")]
    assert all(re.fullmatch(r"[A-Za-z0-9_.\-]+==[^\s;]+", pin) for pin in pins)
    assert "torch==2.13.0" in pins
    assert any(pin.startswith("transformers==5.19.") for pin in pins)


@pytest.mark.parametrize("page", [ROOT / "README.md", *(ROOT / "docs").glob("*.md")], ids=lambda page: page.name)
def test_no_placeholder_is_left(page: Path) -> None:
    assert not re.search(r"^(?:[A-Z]+TABLE|TODO|TBD|XXX)\b", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
