# Everyday commands; `just` lists them.
default:
    @just --list

# The quick start: a real study, its verdict and its report.
start:
    cargo run --release -- run examples/quickstart/study.toml --report report.html

# Format and lints, in seconds after a build.
check:
    cargo fmt --all --check
    bash scripts/lint.sh

# Everything that must pass.
test:
    bash scripts/test.sh

# Everything that must pass, and what takes longer: thousands of simulated studies, benchmarks against peers, kills, fuzzing.
full: test
    cargo test --release -p trainwright --features parquet
    PYSPARK_PYTHON="$(bash scripts/spark_python.sh)" cargo test --release -p trainwright-engine -p trainwright-cli --test it spark -- --ignored --test-threads 1
    cargo test --release -p trainwright-analysis -p trainwright-queueing -p trainwright-plan --test it -- --ignored --nocapture
    bash scripts/python_tests.sh --full
    bash scripts/wheel.sh
    target/python-venv/bin/python bench/python/run.py
    bash bench/bookkeeping/run.sh
    bash bench/stores/run.sh
    bash bench/plan/run.sh
    cargo test --release -p trainwright-records --features turbojpeg,object-stores
    bash bench/interop/run.sh
    bash bench/interop/mlflow.sh
    bash bench/datapath/run.sh
    bash bench/chaos/run.sh 500
    bash bench/attribution/run.sh
    bash bench/chaos/ranks.sh 50
    FRAME_LIMIT_MS=100 node crates/web/browser/check.mjs target/release/trainwright
    bash bench/web/run.sh
    bash fuzz/run.sh 30
    bash scripts/release.sh
    bash scripts/container.sh
    bash scripts/docs.sh

# The documentation site, in target/site.
docs:
    bash scripts/docs.sh

# A release archive, in target/release-archive.
release:
    bash scripts/release.sh

# Where the build time goes.
timings:
    cargo build --release --timings
