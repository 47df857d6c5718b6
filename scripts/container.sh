#!/usr/bin/env bash
# Builds the Dockerfile where docker works; otherwise runs its steps in a clean Debian that
# debootstrap makes in target/container. Tests what came of it. Needs the network, and root for the
# second way; PROGRAM=path puts a program that is built already into the clean Debian instead, and
# tests that it runs there.
set -euo pipefail
cd "$(dirname "$0")/.."

test_program() {
  "$@" --version
  "$@" doctor > /dev/null
  "$@" design full --factors 2 > /dev/null
  echo "the program works in its container"
}

if [ -z "${PROGRAM:-}" ] && docker info >/dev/null 2>&1; then
  docker build -t trainwright .
  test_program docker run --rm trainwright
  exit
fi
[ "$(id -u)" = 0 ] || { echo "SKIPPED: no docker, and a chroot needs root"; exit 0; }
command -v debootstrap >/dev/null || apt-get install -y -qq debootstrap >/dev/null \
  || { echo "SKIPPED: no docker, and debootstrap cannot be installed"; exit 0; }
release=$(. /etc/os-release && echo "${VERSION_CODENAME:-stable}")
folder=$PWD/target/container
if [ ! -x "$folder/bin/sh" ]; then
  rm -rf "$folder" && mkdir -p "$folder"
  debootstrap --variant=minbase "$release" "$folder" > "$folder.log" 2>&1 \
    || { tail -5 "$folder.log"; echo "SKIPPED: debootstrap cannot make a clean Debian here"; exit 0; }
fi
mounted=()
trap 'for place in "${mounted[@]}"; do umount --recursive "$place" || umount --recursive --lazy "$place" || true; done' EXIT
for place in proc dev; do
  mount --rbind "/$place" "$folder/$place" && mount --make-rslave "$folder/$place" && mounted=("$folder/$place" "${mounted[@]}")
done
if [ -n "${PROGRAM:-}" ]; then
  install -D -m 755 "$PROGRAM" "$folder/usr/local/bin/trainwright"
else
  cp /etc/resolv.conf "$folder/etc/resolv.conf"
  rm -rf "$folder/source" && mkdir "$folder/source"
  git ls-files -z | xargs -0 cp --parents -t "$folder/source"
  chroot "$folder" /bin/bash /source/scripts/container_build.sh /source /out
  install -D -m 755 "$folder/out/trainwright" "$folder/usr/local/bin/trainwright"
fi
test_program chroot "$folder" /usr/local/bin/trainwright
