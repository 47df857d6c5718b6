"""Makes the files of other programs that the tests of `import` and `init --from` read.

python make.py FOLDER   (needs mlflow, optuna and tensorboardX from PyPI, and hyperfine)
"""

import json
import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys

os.environ["MLFLOW_DISABLE_TELEMETRY"] = "true"
# The file store is in maintenance since MLflow 3.
os.environ["MLFLOW_ALLOW_FILE_STORE"] = "true"

import mlflow
import optuna
from tensorboardX import SummaryWriter

optuna.logging.set_verbosity(optuna.logging.ERROR)
folder = pathlib.Path(sys.argv[1]).absolute()
folder.mkdir(parents=True, exist_ok=True)


def log_to_mlflow(address):
    """Four finished runs of `digits`, and one that fails."""
    mlflow.set_tracking_uri(address)
    mlflow.set_experiment("digits")
    for lr in ["0.01", "0.1"]:
        for optimizer in ["sgd", "adam"]:
            with mlflow.start_run(run_name=f"{optimizer} {lr}"):
                mlflow.log_params({"lr": lr, "optimizer": optimizer, "epochs": 3})
                for step in range(3):
                    loss = float(lr) * 10 / (step + 1) + (optimizer == "adam")
                    mlflow.log_metric("loss", loss, step=step)
                mlflow.log_metric("val/acc", 0.9 - float(lr))
    try:
        with mlflow.start_run():
            mlflow.log_params({"lr": "0.1", "optimizer": "adam"})
            raise RuntimeError("as it happens")
    except RuntimeError:
        pass


def compact(path):
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA page_size = 512")
    connection.execute("VACUUM")
    connection.close()


def mlflow_files():
    runs = folder / "mlruns"
    log_to_mlflow(runs.as_uri())
    shutil.rmtree(runs / "0")
    for meta in runs.rglob("meta.yaml"):
        meta.write_text(meta.read_text().replace(folder.as_uri(), "file:///runs"))
    for tags in runs.rglob("tags"):
        shutil.rmtree(tags)
    database = folder / "mlflow.db"
    log_to_mlflow(f"sqlite:///{database}")
    connection = sqlite3.connect(database)
    for table, column in [("experiments", "artifact_location"), ("runs", "artifact_uri")]:
        connection.execute(f"UPDATE {table} SET {column} = 'file:///runs'")
    connection.execute("DELETE FROM tags")
    connection.commit()
    connection.close()
    compact(database)


def optuna_storage():
    """Conditional, stepped, whole and logarithmic parameters; one trial is pruned."""

    def objective(trial):
        lr = trial.suggest_float("lr", 1e-4, 1e-1, log=True)
        layers = trial.suggest_int("layers", 1, 4)
        drop = trial.suggest_float("drop out", 0.0, 0.5, step=0.1)
        optimizer = trial.suggest_categorical("optimizer", ["sgd", "adam"])
        if optimizer == "sgd":
            trial.suggest_float("momentum", 0.0, 0.9)
        if trial.number == 3:
            raise optuna.TrialPruned
        return lr * layers + drop

    database = folder / "optuna.db"
    study = optuna.create_study(
        storage=f"sqlite:///{database}",
        study_name="tuning",
        direction="maximize",
        sampler=optuna.samplers.RandomSampler(seed=1),
    )
    study.optimize(objective, n_trials=8)
    compact(database)


def tensorboard_folder():
    for lr in [0.1, 0.2]:
        for batch in [16, 32]:
            name = f"lr={lr},batch={batch}"
            writer = SummaryWriter(str(folder / "tensorboard" / name))
            for step in range(3):
                writer.add_scalar("loss", lr * batch / (step + 1), step)
                writer.add_scalar("val/acc", 0.5 + lr * step, step)
            writer.close()


def hyperfine_files():
    scan = ["hyperfine", "-N", "--warmup", "1", "--runs", "3"]
    subprocess.run(
        [*scan, "-L", "n", "1,2", "-L", "kind", "a,b", "printf %0{n}d-{kind} 7"]
        + ["--export-json", str(folder / "hyperfine-scan.json")],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    subprocess.run(
        [*scan, "--ignore-failure", "true", "false", "echo hello"]
        + ["--export-json", str(folder / "hyperfine-commands.json")],
        check=True,
        stdout=subprocess.DEVNULL,
    )


mlflow_files()
optuna_storage()
tensorboard_folder()
hyperfine_files()
versions = {"mlflow": mlflow.__version__, "optuna": optuna.__version__}
versions["hyperfine"] = subprocess.check_output(["hyperfine", "--version"], text=True).strip()
print(json.dumps(versions))
