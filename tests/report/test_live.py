"""What the live page is told, from before a run to after it."""

import json
import time
from pathlib import Path
from typing import Any

import pytest
from sklearn.datasets import load_breast_cancer

from comitia import AutoClassifier, Study
from comitia.arrays import Json
from comitia.report import live as live_module
from comitia.report.live import Live

SPACE = [{"kind": ["a"], "x": (0.0, 1.0)}, {"kind": ["b"], "y": (0.0, 1.0)}]


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make documents whenever there is something new."""
    monkeypatch.setattr(live_module, "LEAST_SECONDS", 0.0)
    monkeypatch.setattr(live_module, "SHARE", 1e9)


def now(live: Live) -> Json:
    news = live.news(None)
    assert news["document"] is None
    json.dumps(news, allow_nan=False)
    found: Json = news["now"]
    return found


def test_a_study_is_followed_from_before_it_begins(tmp_path: Path) -> None:
    live = Live(tmp_path / "study.db")
    document, version = live.document()
    assert now(live)["state"] == "waiting"
    assert document["problem"] is None
    with Study(SPACE, "rs", seed=0, storage=tmp_path / "study.db", direction="maximize") as study:
        assert now(live)["state"] == "running"
        trials = study.ask(3)
        study.tell(trials[2], 7.0)
        study.tell(trials[0], error="<script>")
        news = live.news(version)
        assert news["version"] > version
        assert news["document"]["headline"]["n_finished"] == 2
        assert live.news(news["version"])["document"] is None
        found = now(live)
        assert (found["n_finished"], found["n_failed"], found["n_pending"]) == (2, 1, 1)
        assert (found["best"]["score"], found["best"]["number"]) == (7.0, 2)
        assert {row["error"] for row in found["newest"]} == {"<script>", ""}
        assert found["learner_name"] == "kind"
    assert now(live)["state"] == "ended"


def test_a_run_without_news_may_have_been_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    live = Live(tmp_path / "study.db")
    with Study(SPACE, "rs", seed=0, storage=tmp_path / "study.db"):
        assert now(live)["state"] == "running"
        monkeypatch.setattr(live_module, "QUIET_SECONDS", 0.0)
        assert now(live)["state"] == "quiet"


def test_a_folder_that_does_not_exist_is_waited_for_and_ends_in_the_whole_report(tmp_path: Path) -> None:
    live = Live(tmp_path / "model")
    assert now(live)["state"] == "waiting"
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    seen: list[Any] = []

    def look(study: Study, observation: object) -> None:
        seen.append(now(live))

    (tmp_path / "model").mkdir()
    model = AutoClassifier(
        n_trials=2,
        include=["linear"],
        n_jobs=1,
        random_state=0,
        storage=tmp_path / "model" / "study.db",
        callbacks=[look],
    )
    model.fit(X[:200], y[:200])
    assert [found["n_finished"] for found in seen] == [1, 2]
    assert {found["state"] for found in seen} == {"running"}
    model.study_.close()
    model.save(tmp_path / "model")
    deadline = time.monotonic() + 60
    while now(live)["state"] != "finished":
        assert time.monotonic() < deadline
        time.sleep(0.02)
    document, _ = live.document()
    assert model.estimate_ is not None
    assert document["headline"]["estimate"]["score"] == pytest.approx(model.estimate_.score, rel=1e-4)


def test_documents_are_made_less_often_the_longer_they_take(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_module, "SHARE", 1e-9)
    live = Live(tmp_path / "study.db")
    with Study(SPACE, "rs", seed=0, storage=tmp_path / "study.db") as study:
        version = live.document()[1]
        study.tell(study.ask()[0], 1.0)
        news = live.news(version)
        assert (news["version"], news["document"]) == (version, None)  # not yet
        assert news["now"]["n_finished"] == 1  # but this, at once


def test_a_damaged_study_gives_a_document_that_says_so(tmp_path: Path) -> None:
    (tmp_path / "study.db").write_bytes(b"SQLite format 3\0" + bytes(range(200)))
    live = Live(tmp_path)
    assert now(live)["state"] == "damaged"
    assert "study.db" in live.document()[0]["problem"]
