"""Where the suite's own YAML files are."""

from pathlib import Path

DATA = Path(__file__).parent / "data"
