#!/usr/bin/env bash
# The main job: every scheme, 3 runs of 30 s, on two of Pantheon's calibrated paths; the real Pantheon logs beside
# them where they are present. Usage: report.sh DUMBBELL DIRECTORY
set -euo pipefail
dumbbell=$1
out=$2
logs=${PANTHEON_LOGS:-../shared/reference/data/pantheon_logs}

# Fresh every time: finished runs of an older build must not pass for runs of this one.
rm -rf "$out" "$out-pantheon-logs"
"$dumbbell" run pantheon --schemes all --path india-aws-india,mexico-cellular --seed 1 --out "$out"
"$dumbbell" report "$out"
if [[ -d $logs ]]; then
    "$dumbbell" import pantheon "$logs" --out "$out-pantheon-logs"
    "$dumbbell" report "$out-pantheon-logs"
fi
echo "report: $out/report.html and $out/report.pdf"
[[ ! -d $out-pantheon-logs ]] || echo "imported Pantheon logs: $out-pantheon-logs/report.html"
