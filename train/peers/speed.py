"""Measures training steps of tfm and of PyTorch alternately on one machine and prints a table of the medians.

Usage:

    speed.py LENGTHS.tsv [--threads 1,2] [--rounds 3] [--program step.py] [--tfm BINARY] [--only base,tiny]

Requires a Python with torch. --program is a program with the arguments and the output of step.py. Without --tfm, tfm is built
from this source tree. LENGTHS.tsv holds the sentence lengths of tiny for both programs, as curve.go writes them. Each round runs every
program once, because the speed of a machine drifts; a program's figure is the median of its rounds. tfm has no bf16 figures where
`tfm bench` has no bf16 benchmarks.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent


def ours(binary, work, bf16, threads, lengths):
    name = work + ("-bf16" if bf16 else "-float32")
    command = [binary, "bench", "-here", "-json", "-only", name, "-threads", str(threads)] + (["-lengths", lengths] if work == "tiny" else [])
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode == 2 and bf16:  # usage error: no such benchmark on this machine
        return None
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}: {done.stderr.strip()}")
    step = json.loads(done.stdout)["training"][0]
    rate = step["source_tokens_per_second"]["median"] + step["target_tokens_per_second"]["median"]
    return step["seconds_per_step"]["median"], rate, step["peak_memory"]["bytes"]


def theirs(program, work, bf16, threads, lengths):
    command = [sys.executable, program, work, "--threads", str(threads), "--rounds", "5"] + ["--bf16"] * bf16 + (["--lengths", lengths] if work == "tiny" else [])
    step = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()[-1])
    return step["seconds_per_step"], step["tokens_per_second"], step["peak_memory_bytes"]


def main():
    p = argparse.ArgumentParser(description="Measures training steps of tfm and of PyTorch alternately.")
    p.add_argument("lengths")
    p.add_argument("--threads", default="1,2")
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--program", default=str(HERE / "step.py"))
    p.add_argument("--tfm", help="a binary")
    p.add_argument("--only", default="base,tiny")
    args = p.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        binary = args.tfm or folder + "/tfm"
        if not args.tfm:
            subprocess.run(["go", "build", "-o", binary, "./cmd/tfm"], cwd=HERE.parent.parent, check=True)
        measured = {}
        for i in range(args.rounds):
            for work in args.only.split(","):
                for threads in map(int, args.threads.split(",")):
                    for bf16 in (False, True):
                        print(f"round {i + 1} of {args.rounds}: {work}, {threads} threads, {'bf16' if bf16 else 'float32'}", file=sys.stderr)
                        for name, measure, program in (("tfm", ours, binary), ("PyTorch", theirs, args.program)):
                            measured.setdefault((work, threads, bf16), {}).setdefault(name, []).append(measure(program, work, bf16, threads, args.lengths))
    print("| step | threads | precision | tfm s/step | PyTorch s/step | tfm tokens/s | PyTorch tokens/s | ratio of tokens/s | tfm memory | PyTorch memory |")
    print("| --- " * 10 + "|")
    for (work, threads, bf16), programs in measured.items():
        median = {name: [statistics.median(x) for x in zip(*runs)] for name, runs in programs.items() if None not in runs}
        they, we = median["PyTorch"], median.get("tfm")
        cells = [work, threads, "bf16" if bf16 else "float32", f"{we[0]:.2f}" if we else "", f"{they[0]:.2f}", f"{we[1]:,.0f}" if we else "", f"{they[1]:,.0f}",
                 f"{we[1] / they[1]:.2f}" if we else "", f"{we[2] / 1e9:.2f} GB" if we else "", f"{they[2] / 1e9:.2f} GB"]
        print("| " + " | ".join(map(str, cells)) + " |")


main()
