"""Tune an SVM on a dataset that comes with scikit-learn, in two worker processes: what `make demo` runs."""

from pathlib import Path

from sklearn.datasets import load_breast_cancer
from sklearn.metrics import accuracy_score
from sklearn.model_selection import train_test_split

from comitia import Study, TableEvaluator, get_space

FOLDER = Path("demo-output")

X, y = load_breast_cancer(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, stratify=y, random_state=0)

FOLDER.mkdir(exist_ok=True)
(FOLDER / "study.db").unlink(missing_ok=True)
ready = get_space("svm-rbf")
with Study(ready.space, method="sobol", seed=0, storage=FOLDER / "study.db") as study:
    evaluator = TableEvaluator(ready.build, X_train, y_train, cv=5, metrics=["roc_auc"])
    study.run(evaluator, n_trials=100, time_limit=60, n_jobs=2, progress=True)

    print(f"\n{study.history.n_finished} trials, the best five by 5-fold error:")
    print(study.to_frame().sort_values("loss").head(5).drop(columns="error").to_string(index=False))

    [member] = study.members()
    model = ready.build(member.config, 0).fit(X_train, y_train)
    print(f"\nBest: {dict(member.config)}")
    print(f"Error on 5 folds {study.best_trial.loss:.3f} (the smallest of many, so optimistic)")
    print(f"Error on {len(y_test)} rows never used {1 - accuracy_score(y_test, model.predict(X_test)):.3f}")
    print(f"The study is in {FOLDER / 'study.db'}; Study.open() reads it again.")
