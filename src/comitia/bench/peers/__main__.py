"""Build the environments of peers: `python -m comitia.bench.peers NAME [...]`; without a name, list them."""

import sys

from comitia.bench.peers.environments import ENVIRONMENTS, build, is_built, peers_folder, version_of
from comitia.bench.peers.registry import PEERS
from comitia.errors import ComitiaError


def listing() -> str:
    """Return one line per peer: what it is, and which version is built."""
    lines = [f"peers, with environments in {peers_folder()}:"]
    for peer in PEERS.values():
        state = "ready"
        if peer.environment is not None:
            built = is_built(peer.environment)
            state = version_of(peer.environment) or "built" if built else f"make peer NAME={peer.environment}"
        lines.append(f"  {peer.name:<17} {peer.kind:<8} {state:<26} {peer.tool}: {peer.summary}")
    return "\n".join(lines)


def main(names: list[str]) -> int:
    """Build what is named, peers or environments; return the exit status."""
    if not names:
        print(listing())
        return 0
    try:
        wanted = [PEERS[name].environment if name in PEERS else name for name in names]
        for name in dict.fromkeys(name for name in wanted if name is not None):
            folder = build(name)
            print(f"{name} {version_of(name)} in {folder} ({len(ENVIRONMENTS[name].steps)} steps)")
    except ComitiaError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
