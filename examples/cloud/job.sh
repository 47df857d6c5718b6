# Stands for a job on a cluster: sh job.sh TYPE NODES. It says how long such a job would take by a
# formula, instead of starting machines.
case "$1" in
*2xlarge) cores=8 ;;
*xlarge) cores=4 ;;
*) cores=2 ;;
esac
case "$1" in
c*) memory=$((cores * 2)) ;;
m*) memory=$((cores * 4)) ;;
*) memory=$((cores * 8)) ;;
esac
awk -v cores=$((cores * $2)) -v memory=$((memory * $2)) -v nodes="$2" 'BEGIN {
  time = 120 + 3600 / cores + 5 * nodes
  if (memory < 24) time *= 2.5
  printf "::metric {\"elapsed_s\": %.1f}\n", time
}'
