"""Train the best network of every study of an experiment on images again, for more epochs: a check of short training.

All of them in one stack. Prints the error on validation and test images after the experiment's epochs and after more of
them, and whether the order of networks is the same (Spearman).

python benchmarks/studies/longer.py EXPERIMENT.toml ROWS.parquet DATA_FOLDER EPOCHS [DEVICE]
"""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy.stats import spearmanr

from comitia import ImageEvaluator, Networks, Seeds, Study, Trial
from comitia.arrays import AnyArray
from comitia.bench.cells.stacked_cells import evaluator_maker
from comitia.bench.plan.experiment_file import read_experiment


def errors_of(evaluator: ImageEvaluator, tasks: list[tuple[Trial, Seeds]]) -> AnyArray:
    """Return validation and test errors of every network, (n_networks, 2)."""
    found = [observation.loss for observation, _ in evaluator.together(tasks)]
    answers = [evaluator.test_answers(*task) for task in tasks]
    return np.column_stack([found, [(codes != evaluator.test_codes).mean() for codes in answers]])


def main(file: Path, rows: Path, data: Path, epochs: int, device: str | None = None) -> None:
    experiment = read_experiment(file)
    _, short = evaluator_maker(experiment, data, device)(experiment.cells()[0])
    assert isinstance(short.learner, Networks)
    tasks = []
    for path in sorted(rows.with_name(f"{rows.stem}-studies").glob("*.db")):
        with Study.open(path) as study:
            tasks.append((study.best_trial.trial, study.seeds))
    before = errors_of(short, tasks)
    images = (short.X, short.codes), (short.X_validation, short.validation_codes)
    assert short.X_test is not None
    assert short.test_codes is not None
    many_epochs = replace(short.learner, epochs=epochs)
    after = errors_of(ImageEvaluator(many_epochs, *images, test=(short.X_test, short.test_codes)), tasks)
    assert experiment.networks is not None
    for j, which in enumerate(("validation", "test")):
        few, many = 100 * before[:, j], 100 * after[:, j]
        spread = [f"{values.mean():.2f} ± {values.std(ddof=1):.2f} %" for values in (few, many)]
        print(
            f"{which}: {spread[0]} after {experiment.networks.epochs} epochs, {spread[1]} after {epochs}; "
            f"{len(tasks)} networks, rank correlation {spearmanr(few, many).statistic:.2f}"
        )


if __name__ == "__main__":
    toml, parquet, folder = map(Path, sys.argv[1:4])
    main(toml, parquet, folder, int(sys.argv[4]), *sys.argv[5:6])
