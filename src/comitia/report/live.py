"""What the live page shows: the newest trials at once, everything else as often as it costs little.

A look at a file that has not changed takes a fraction of a millisecond, new trials take a millisecond; the whole
document of 50,000 trials takes half a second. So that is made again only after a hundred times as long as it took:
whoever watches a run takes hardly anything from it.
"""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from comitia.arrays import Json
from comitia.auto.folder import MODEL, STUDY
from comitia.report.follow import Follower
from comitia.report.plain import plain, settings
from comitia.report.searched import branching, kind_of
from comitia.report.summarise import Found, found_by, quick_document, summary_of
from comitia.report.trials import Entry
from comitia.study.record import Header

SHARE = 0.01
"""Of one processor, for documents."""
LEAST_SECONDS = 1.0
"""Between two documents, however quick they are."""
QUIET_SECONDS = 120.0
"""Without news, after which a run may have been killed."""
MOST_OF_ERROR = 300
"""Characters of an error among the newest trials; the section of failures has more of it."""


class Live:
    """A model folder or a study's file, which may not be there yet, while a run goes on and after it.

    Parameters
    ----------
    path : Path
        Of a folder, or of a study's file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._follow()
        self._document: Json = {}
        self._version = 0
        self._is_stale, self._due_at = True, 0.0
        self._reported: tuple[tuple[int, int] | None, int] | None = None  # of what the whole report was made
        self._is_reporting = self._is_whole = False

    def document(self) -> tuple[Json, int]:
        """Return the newest document and its version."""
        with self._lock:
            self._look()
            return self._document, self._version

    def news(self, version: int | None) -> Json:
        """Return what is new for a page that has a version of the document: a few lines, and a newer document.

        With no version there is no document: the page wants the few lines alone.
        """
        with self._lock:
            self._look(with_document=version is not None)
            document = None if version in (None, self._version) else self._document
            return {"version": self._version, "now": self._now(), "document": document}

    # ---- what is new ----------------------------------------------------------------------------------------------

    @property
    def _file(self) -> Path:
        is_file = self.path.is_file() or (self.path.suffix and not self.path.is_dir())
        return self.path if is_file else self.path / STUDY

    def _follow(self) -> None:
        self._follower = Follower(self._file)
        self._found: Found | None = None
        self._found_of: tuple[Header | None, tuple[str, float] | None] = None, None
        self._branch: str | None = None
        self._changed_at = time.monotonic()

    def _look(self, *, with_document: bool = True) -> None:
        """Read what is new, and make the document again where that is due."""
        if self._file != self._follower.path:
            self._follow()  # what was nothing before is a file now, or a folder
        if self._follower.look():
            self._is_stale = True
            self._is_whole = False
            self._changed_at = time.monotonic()
        self._report()
        if with_document and self._is_stale and time.monotonic() >= self._due_at:
            began = time.thread_time()
            self._take(quick_document(self._known(with_trials=True)))
            self._due_at = time.monotonic() + max(LEAST_SECONDS, (time.thread_time() - began) / SHARE)

    def _take(self, document: Json) -> None:
        self._document = document
        self._version += 1
        self._is_stale = False

    def _known(self, *, with_trials: bool = False) -> Found:
        """Return what is known of the study; its space and metric are read once."""
        of = self._follower.header, self._follower.metric
        if self._found is None or self._found_of != of:
            self._found_of = of
            self._found = found_by(self._follower.path, self._follower.recorded)
            self._branch = branching(self._found.space)
            return self._found
        if not with_trials:
            return self._found
        recorded = self._follower.recorded
        return replace(self._found, trials=recorded.trials, problem=recorded.problem or self._found.problem)

    # ---- a run that has ended -------------------------------------------------------------------------------------

    def _report(self) -> None:
        """Have the whole report made, once, when nobody writes the study any more."""
        if self._is_reporting or self._follower.header is None or self._follower.is_open:
            return
        state = _stamp(self.path / MODEL), len(self._follower)
        if state != self._reported:
            self._reported, self._is_reporting = state, True
            threading.Thread(target=self._make_report, daemon=True).start()

    def _make_report(self) -> None:
        document = summary_of(self.path)
        with self._lock:
            self._is_reporting = False
            if not self._follower.is_open:
                self._is_whole = True
                self._take(document)

    # ---- the first lines ------------------------------------------------------------------------------------------

    def _now(self) -> Json:
        """Return how far the run is."""
        follower = self._follower
        now: Json = plain(
            {
                "state": self._state(),
                "quiet_seconds": time.monotonic() - self._changed_at,
                "n_finished": len(follower) - follower.n_pending,
                "n_pending": follower.n_pending,
                "n_failed": follower.n_failed,
                "metric": self._known().scale.name,
                "learner_name": self._branch or "",
                "best": None if follower.best is None else self._row(follower.best),
                "newest": [self._row(entry) for entry in reversed(follower.newest)],
            }
        )
        return now

    def _state(self) -> str:
        follower = self._follower
        if follower.problem is not None:
            return "damaged"
        if follower.header is None:
            return "waiting"
        if not follower.is_open:
            return "finished" if self._is_whole and self._document["headline"]["returned"] is not None else "ended"
        return "running" if time.monotonic() - self._changed_at < QUIET_SECONDS else "quiet"

    def _row(self, entry: Entry) -> Json:
        known = self._known()
        return {
            "number": entry.number,
            "learner": kind_of(entry.config, self._branch),
            "status": entry.status,
            "score": known.scale(np.array(entry.loss)),
            "seconds": entry.seconds,
            "settings": settings(entry.config, self._branch),
            "error": entry.error[:MOST_OF_ERROR],
        }


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns
