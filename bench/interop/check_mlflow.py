"""Trainwright against the real MLflow: its client, autologging, and what it reads of our export.

python check_mlflow.py PROGRAM FOLDER   (needs mlflow and scikit-learn)
"""

import os
import pathlib
import subprocess
import sys

program, folder = sys.argv[1], pathlib.Path(sys.argv[2])
os.environ["MLFLOW_DISABLE_TELEMETRY"] = "true"

TRAIN = """
import sys
import mlflow
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV

mlflow.sklearn.autolog()
features, classes = load_iris(return_X_y=True)
learner = LogisticRegression(C=float(sys.argv[1]), max_iter=500)
if sys.argv[2] == "grid":
    learner = GridSearchCV(learner, {"C": [0.1, float(sys.argv[1])]}, cv=2)
learner.fit(features, classes)
"""

STUDY = f"""
schema = 1
[study]
name = "iris"
[factors.c]
levels = [1, 4]
[factors.how]
levels = ["plain", "grid"]
[design]
type = "full"
[run]
mlflow = true
command = [{sys.executable!r}, "train.py", "{{c}}", "{{how}}"]
[metrics.score]
key = "training_score"
objective = "maximize"
"""

(folder / "train.py").write_text(TRAIN)
(folder / "study.toml").write_text(STUDY)
subprocess.run([program, "run", "study.toml"], cwd=folder, check=True)
trials = sorted((folder / "trainwright.trials" / "iris").glob("0*"))
assert len(trials) == 4, trials
for trial in trials:
    assert list((trial / "models").rglob("MLmodel")), trial
    assert (trial / "artifacts" / "training_confusion_matrix.png").is_file(), trial

subprocess.run([program, "export", "study.toml", "--format", "mlflow", "-o", "out.db"], cwd=folder, check=True)

import mlflow

mlflow.set_tracking_uri(f"sqlite:///{folder / 'out.db'}")
runs = mlflow.search_runs(experiment_names=["iris"], filter_string="params.how = 'grid'")
assert len(runs) == 2 and set(runs["params.c"]) == {"1", "4"}, runs
assert (runs["status"] == "FINISHED").all() and (runs["metrics.score"] > 0.9).all(), runs
client = mlflow.MlflowClient()
history = client.get_metric_history(runs["run_id"][0], "score")
assert history[-1].value == runs["metrics.score"][0], history

# And back: what MLflow has made of the file is imported again.
subprocess.run([program, "init", "again.toml", "--from", "out.db"], cwd=folder, check=True)
subprocess.run([program, "import", "out.db", "--study", "again.toml"], cwd=folder, check=True)
print(f"mlflow {mlflow.__version__}: client, autologging, export and import agree")
