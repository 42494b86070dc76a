#!/bin/bash
# A Slurm "cluster" on one Debian machine, to try the recipe: installs Slurm, runs a job array of eight tasks, kills one of them, takes
# it over, and merges.
#
# As root, in a container or a virtual machine, with `cargo` and `cargo-cobalt` in PATH: ./one-machine.sh CLONE FOLDER
# CLONE is a clone of Cobalt; FOLDER is where the package, the results and Slurm's own files go.
set -euo pipefail
clone=$(realpath "$1")
mkdir -p "$2"
folder=$(realpath "$2")
recipe=$(realpath "$(dirname "$0")")

# Slurm: one controller, one node. Its tasks share the processors, however few there are.
command -v slurmctld sbatch munged >/dev/null || apt-get install --yes --no-install-recommends munge slurm-client slurmctld slurmd
slurm="$folder/slurm"
mkdir -p "$slurm/state" "$slurm/spool" /run/munge
[ -s /etc/munge/munge.key ] || (umask 377 && head -c 1024 /dev/urandom >/etc/munge/munge.key)
chown -R munge: /etc/munge /run/munge
cat >"$slurm/slurm.conf" <<CONF
ClusterName=one
SlurmctldHost=$(hostname -s)(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
StateSaveLocation=$slurm/state
SlurmdSpoolDir=$slurm/spool
SlurmctldPidFile=$slurm/slurmctld.pid
SlurmdPidFile=$slurm/slurmd.pid
SlurmctldLogFile=$slurm/slurmctld.log
SlurmdLogFile=$slurm/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
ReturnToService=2
NodeName=$(hostname -s) NodeAddr=127.0.0.1 CPUs=4 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
CONF
export SLURM_CONF="$slurm/slurm.conf"
pgrep -x munged >/dev/null || runuser -u munge -- munged
slurmctld
slurmd
trap 'kill $(cat "$slurm/slurmd.pid" "$slurm/slurmctld.pid")' EXIT
until sinfo --noheader --format %T 2>/dev/null | grep -q idle; do sleep 1; done

# An experiment of 80 items; the agent takes a second for each.
package="$folder/package"
mkdir -p "$package/src" "$package/tests"
cat >"$package/Cargo.toml" <<MANIFEST
[package]
name = "slow"
edition = "2024"

[workspace]

[dev-dependencies]
cobalt = { package = "cobalt-evals", path = "$clone/cobalt", default-features = false }

[[test]]
name = "evals"
harness = false
MANIFEST
cat >"$package/tests/evals.rs" <<'EVALS'
use std::time::Duration;

use cobalt::{ExactMatch, Item};

#[cobalt::experiment(dataset = "items.jsonl", evaluators = [ExactMatch::new("exact", "expectedOutput")], concurrency = 1)]
fn doubles(item: Item) -> String {
    std::thread::sleep(Duration::from_secs(1));
    let number: u64 = item["input"].as_str().and_then(|text| text.parse().ok()).unwrap_or_default();
    (number * 2).to_string()
}

fn main() {
    cobalt::main();
}
EVALS
touch "$package/src/lib.rs"
# A gate, which the merge evaluates although there is no checkout in its folder.
printf '[ci]\nthresholds = ["score.avg >= 0.99"]\n' >"$package/cobalt.toml"
for number in $(seq 80); do
    printf '{"id":"n%s","input":"%s","expectedOutput":"%s"}\n' "$number" "$number" $((number * 2))
done >"$package/items.jsonl"
cp "$clone/Cargo.lock" "$package/Cargo.lock"

# Build once.
(cd "$package" && cargo cobalt archive --output "$folder/cobalt-archive.tar.zst")

# Run eight tasks, on nodes that have no Cargo.
mkdir -p "$folder/bin" "$folder/work"
cp "$(command -v cargo-cobalt)" "$folder/bin/"
cd "$folder/work"
# A folder as the remote store; on a cluster, `s3://bucket/prefix`.
export COBALT_REMOTE="$folder/store"
job=$(PATH="$folder/bin:/usr/bin:/bin" sbatch --parsable --export=PATH,COBALT_REMOTE,USER=root "$recipe/cobalt.sbatch" "$folder/cobalt-archive.tar.zst")
echo "job array $job"

# Kill the third task once it has finished a few items, as if its machine had lost power.
until grep -q '"shard":{"index":3' .cobalt/runs/*.jsonl 2>/dev/null; do sleep 0.5; done
sleep 4
task=$(squeue --noheader --jobs "${job}_3" --format %A)
kill -KILL $(scontrol listpids "$task" | awk '$1 ~ /^[0-9]+$/ { print $1 }')

# Wait for the others, run the remaining items of the dead task, and merge.
export PATH="$folder/bin:/usr/bin:/bin"
cargo-cobalt cobalt merge --remote "$job" --archive "$folder/cobalt-archive.tar.zst" --take-over --dead-after 30s --ci -- --quiet
cargo-cobalt cobalt history
