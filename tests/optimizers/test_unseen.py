"""No proposal twice in finite spaces."""

from comitia import History, Observation, Space, Trial
from comitia.optimizers.unseen import Unseen


def test_suggestions_in_a_small_space_follow_the_ranking_however_much_is_known() -> None:
    """Beyond a hundred known candidates the rest was once drawn at random."""
    space = Space({"x": list(range(20)), "y": list(range(20))})
    history = History(2, space=space)
    assert space.all is not None
    for number, config in enumerate(c for c in space.decode(space.all) if c["x"] < 15):
        x = space.encode([config])[0]
        trial = Trial(number, number, tuple(x.tolist()), config)
        history.append(trial)
        history.finish(Observation(trial, "ok", ((config["x"] - 14) ** 2 + config["y"],)))
    unseen = Unseen(space, history)
    assert space.all is not None
    known_first = space.encode([*(c for c in space.decode(space.all) if c["x"] < 15), {"x": 19, "y": 3}])
    best = unseen.best(known_first)
    assert best is not None
    assert space.decode(best[None])[0] == {"x": 19, "y": 3}
    assert unseen.best(known_first) is None
