#!/usr/bin/env bash
# The main job: every scheme, 3 runs of 30 s, on two of Pantheon's calibrated paths; the same path with real packets
# where the machine permits them; the real Pantheon logs where they are present. Usage: report.sh DUMBBELL DIRECTORY
set -euo pipefail
dumbbell=$1
out=$2
logs=${PANTHEON_LOGS:-../shared/reference/data/pantheon_logs}

# Fresh every time: finished runs of an older build must not pass for runs of this one.
rm -rf "$out" "$out-emulated" "$out-pantheon-logs"
"$dumbbell" run pantheon --schemes all --path india-aws-india,mexico-cellular --seed 1 --out "$out"

# Real packets need rights that not every machine gives. Neither that nor a machine too busy to keep their times fails
# the job: the report says it.
emulated=0
messages=$(mktemp)
trap 'rm -f "$messages"' EXIT
"$dumbbell" run --schemes cubic,kernel-cubic,bbr --path buffer-bdp --backend emu --duration 10 --seed 1 \
    --out "$out-emulated" 2> "$messages" || emulated=$?
cat "$messages" >&2
if [[ -f $out-emulated/experiment.toml ]]; then
    "$dumbbell" report "$out-emulated"
    note="Runs with real packets are reported in $(basename "$out-emulated")/report.html, beside this directory."
else
    reason=$(grep '^dumbbell: ' "$messages" | tail -n 1)
    note="No runs with real packets: ${reason#dumbbell: }"
fi
echo "$note" > "$out/notes.txt"
"$dumbbell" report "$out"

if [[ -d $logs ]]; then
    "$dumbbell" import pantheon "$logs" --out "$out-pantheon-logs"
    "$dumbbell" report "$out-pantheon-logs"
fi
echo "report: $out/report.html and $out/report.pdf"
if [[ -d $out-emulated ]]; then
    echo "with real packets: $out-emulated/report.html"
    [[ $emulated -eq 0 ]] || echo "some runs with real packets do not count: that report says why" >&2
else
    echo "$note"
fi
[[ ! -d $out-pantheon-logs ]] || echo "imported Pantheon logs: $out-pantheon-logs/report.html"
