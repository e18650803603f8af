#!/usr/bin/env bash
# Writes an example of the explorer's pages for the site: site_example.sh DUMBBELL FOLDER
set -euo pipefail
dumbbell=$1
folder=$2
results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT
"$dumbbell" run --schemes cubic,bbr,copa --rate 20mbit --rtt 40ms --queue 1bdp --runs 3 --duration 10 --out "$results/example" >/dev/null 2>&1
rm -rf "$folder"
"$dumbbell" site "$results/example" --out "$folder" >/dev/null
