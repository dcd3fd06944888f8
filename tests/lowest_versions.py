"""Print the lowest allowed version of each dependency as pip constraints; `make test-lowest` installs them."""

import tomllib
from pathlib import Path

project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
extras = [line for lines in project.get("optional-dependencies", {}).values() for line in lines]
for line in [*project["dependencies"], *extras]:
    print(line.replace(">=", "=="))
