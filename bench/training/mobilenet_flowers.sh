#!/usr/bin/env bash
# MobileNetV2 from scratch on the flowers, one seed: width 0.5 at 96 x 96 with random flips, zooms
# and contrast, 90 epochs of a falling rate and 12 more from a smaller one with more weight decay.
# It takes eleven minutes on two cores; THREADS changes no bit of the result.
# Data: DATA (default ../shared/data) with flowers/small192.
set -euo pipefail
cd "$(dirname "$0")/../.."
cargo build --release
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
target/release/trainwright data prepare "${DATA:-../shared/data}/flowers/small192" \
  --out "$work/flowers" --size 112 --shards 4 --split 0.8,0,0.2 --pixels
train() {
  target/release/trainwright train --network mobilenet-v2:0.5 --data "$work/flowers" \
    --augment flip,crop:96,zoom:0.4,contrast:0.7-1.3 --batch 32 --optimizer nesterov \
    --schedule cosine --label-smoothing 0.1 --threads "${THREADS:-$(nproc)}" --json "$@"
}
train --lr 0.05 --warmup 3 --weight-decay 0.0001 --epochs 90 --seed 1 \
  --export "$work/first.safetensors" >"$work/first.jsonl"
train --lr 0.02 --weight-decay 0.0005 --epochs 12 --seed 2 \
  --weights "$work/first.safetensors" >"$work/second.jsonl"
python3 bench/training/mobilenet_flowers.py "$work/first.jsonl" "$work/second.jsonl" \
  bench/training/mobilenet_flowers.json
