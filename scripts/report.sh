#!/usr/bin/env bash
# The main job. `simulated`: every scheme, 3 runs of 30 s, on two of Pantheon's calibrated paths, and the report. `real`: the
# same controllers with real packets where the machine permits them, and the real Pantheon logs where PANTHEON_LOGS names
# their folder. Usage: report.sh simulated|real DUMBBELL DIRECTORY
set -euo pipefail
part=$1
dumbbell=$2
out=$3

simulated() {
    # Fresh every time: finished runs of an older build must not pass for runs of this one.
    rm -rf "$out" "$out-emulated" "$out-pantheon-logs"
    "$dumbbell" run pantheon --schemes all --path india-aws-india,mexico-cellular --seed 1 --out "$out"
    echo "Where this machine permits them, runs with real packets are reported in \
$(basename "$out-emulated")/report.html, beside this directory." > "$out/notes.txt"
    "$dumbbell" report "$out"
    echo "report: $out/report.html and $out/report.pdf"
}

real() {
    # Real packets need rights that not every machine gives. Neither that nor a machine too busy to keep their times fails
    # the job.
    emulated=0
    "$dumbbell" run --schemes cubic,kernel-cubic,bbr --path buffer-bdp --backend emu --duration 10 --seed 1 \
        --out "$out-emulated" || emulated=$?
    if [[ -f $out-emulated/experiment.toml ]]; then
        "$dumbbell" report "$out-emulated"
        echo "with real packets: $out-emulated/report.html"
        [[ $emulated -eq 0 ]] || echo "some runs with real packets do not count: that report says why" >&2
    else
        echo "no report with real packets: the reason is above"
    fi

    if [[ -n ${PANTHEON_LOGS:-} ]]; then
        "$dumbbell" import pantheon "$PANTHEON_LOGS" --out "$out-pantheon-logs"
        "$dumbbell" report "$out-pantheon-logs"
        echo "imported Pantheon logs: $out-pantheon-logs/report.html"
    fi
}

"$part"
