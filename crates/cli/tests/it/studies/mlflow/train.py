"""Logs as programs do: without a word of runs, in a run of its own, and by the client alone."""

import sys

import mlflow

x = float(sys.argv[1])

mlflow.log_param("x", x)
mlflow.log_metric("y", 1.0)
mlflow.end_run()

mlflow.set_experiment("an experiment of this program")
with mlflow.start_run(run_name="mine", tags={"who": "me"}) as run:
    mlflow.log_params({"x": x, "how": "run"})
    for step in range(1, 4):
        mlflow.log_metrics({"loss": x / step, "y": x * step}, step=step)
    with mlflow.start_run(nested=True):
        mlflow.log_metric("y", 99.0)
    client = mlflow.MlflowClient()
    history = client.get_metric_history(run.info.run_id, "loss")
    assert [point.value for point in history] == [x, x / 2, x / 3], history
    assert client.get_run(run.info.run_id).data.tags["who"] == "me"
    assert len(client.search_runs([run.info.experiment_id])) == 2
    mlflow.log_text("left here", "note.txt")

client = mlflow.MlflowClient()
again = client.create_run(client.create_experiment("another"))
client.log_metric(again.info.run_id, "y", x * 10, step=10)
client.set_terminated(again.info.run_id)
assert mlflow.get_tracking_uri().startswith("http://127.0.0.1:")
