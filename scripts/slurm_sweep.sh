#!/usr/bin/env bash
#SBATCH --job-name=onedial
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=1
#SBATCH --gpus-per-node=8
#SBATCH --cpus-per-task=32
#SBATCH --time=04:00:00
#SBATCH --signal=TERM@120
#SBATCH --requeue
#SBATCH --output=runs/slurm-%j.log
#SBATCH --open-mode=append
#
# One sweep over all GPUs of all nodes, from the repository's folder:
#
#     sbatch scripts/slurm_sweep.sh runs/mistral --model mistralai/Mistral-7B-Instruct-v0.3 --panel my_panel.csv
#
# The first argument is the run's folder, on a file system that all nodes see; the rest are options of
# experiments/steer_sweep.py. A job that was preempted, requeued or submitted again goes on where it stopped: --resume
# begins the run where there is none. Two minutes before the time is over Slurm sends SIGTERM, and what was finished is kept.
set -euo pipefail
out=${1:?the folder of the run}
shift

if [ -n "${SLURM_JOB_NODELIST:-}" ]; then
    first=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
else
    first=$(hostname)
fi
processes=${PROCESSES_PER_NODE:-${SLURM_GPUS_ON_NODE:-1}}
port=${RENDEZVOUS_PORT:-$((20000 + ${SLURM_JOB_ID:-0} % 20000))}
export OMP_NUM_THREADS=${OMP_NUM_THREADS:-1}

launcher=(torchrun
    --nnodes="${SLURM_JOB_NUM_NODES:-1}" --nproc_per_node="$processes"
    --rdzv_backend=c10d --rdzv_endpoint="$first:$port" --rdzv_id="${SLURM_JOB_ID:-alone}")
program=(experiments/steer_sweep.py --out "$out" --resume "$@")

if command -v srun > /dev/null && [ -n "${SLURM_JOB_ID:-}" ]; then
    exec srun --kill-on-bad-exit=1 "${launcher[@]}" "${program[@]}"
fi
exec "${launcher[@]}" "${program[@]}"
