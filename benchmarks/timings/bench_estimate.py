"""The estimate for new rows beside a fit of 60 s: what it costs after 60 trials on 2,000 rows, by metric.

`python benchmarks/timings/bench_estimate.py`. Times are of the processor, the least of three.
"""

import time
import warnings

from sklearn.datasets import make_classification
from threadpoolctl import threadpool_limits

from comitia import AutoClassifier, Serial
from comitia.auto.estimate import Estimating
from comitia.auto.noise import Told
from comitia.auto.validation import validated
from comitia.evaluation.judged import Given
from comitia.evaluation.metrics import Target, scoring_for
from comitia.seams import Member

FIT_SECONDS = 60.0
TARGET = 0.02
"""Of a fit, for the default metric."""


def main() -> None:
    warnings.simplefilter("ignore")
    X, y = make_classification(2_000, 10, n_informative=5, flip_y=0.1, random_state=0)
    model = AutoClassifier(n_trials=60, include=["linear", "knn"], executor=Serial(), random_state=0).fit(X, y)
    history, given = model.study_.history, Given(y, model.classes_)
    members = [Member(m.config, m.weight, m.trial, m.temperature) for m in model.members_]
    for metric in ("accuracy", "neg_log_loss", "roc_auc", "balanced_accuracy", "f1"):
        scoring = scoring_for(metric, Target(y, model.classes_, 1), None)
        tunes = metric in ("balanced_accuracy", "f1")
        found = validated(history, members, given, scoring, order=[0, 1], tunes=tunes)
        assert found is not None
        told = Told(found.predictions, given, scoring)
        times = []
        for _ in range(3):
            began = time.process_time()
            Estimating(model.study_, told, told, order=[0, 1], tunes=tunes).estimate()
            times.append(time.process_time() - began)
        share = min(times) / FIT_SECONDS
        print(
            f"{metric:<20} {min(times):5.2f} s, {100 * share:4.1f} % of {FIT_SECONDS:.0f} s"
            + (f"   target {100 * TARGET:.0f} %: {'met' if share <= TARGET else 'MISSED'}" if not tunes else "")
        )


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
