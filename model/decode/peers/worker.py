"""Translates batches with CTranslate2 or PyTorch and prints times and translations as JSON; see compare.py."""

import json
import pathlib
import sys
import time


def peak_mb(pid):
    """Returns the peak memory of a process. ru_maxrss would include that of its parent."""
    return int(pathlib.Path(f"/proc/{pid}/status").read_text().split("VmHWM:")[1].split()[0]) / 1024


def ctranslate2(job):
    sys.modules["torch"] = None  # which it would import without need
    import ctranslate2 as c
    import ct2

    start = time.perf_counter()
    t = c.Translator(job["folder"], compute_type=job["type"], inter_threads=1, intra_threads=job["threads"])
    load = time.perf_counter() - start
    limits = dict(max_decoding_length=512)
    if job["exact"]:
        limits = dict(min_decoding_length=job["exact"], max_decoding_length=job["exact"])

    def translate(ids):
        out = t.translate_batch(
            [ct2.texts(s) for s in ids], beam_size=job["beam"], length_penalty=1, max_batch_size=job["batch"],
            suppress_sequences=[[s] for s in ct2.SPECIAL[:2]], **limits
        )
        return [ct2.ids(o.hypotheses[0]) for o in out]

    return load, translate, "ctranslate2 " + c.__version__


def pytorch(job):
    import ct2
    import torch
    from torch_decoder import Decoder

    torch.set_num_threads(job["threads"])
    start = time.perf_counter()
    d = Decoder(*ct2.read(job["model"]))
    load = time.perf_counter() - start

    def translate(ids):
        order = sorted(range(len(ids)), key=lambda i: -len(ids[i]))
        out = [None] * len(ids)
        for i in range(0, len(ids), job["batch"]):
            part = order[i : i + job["batch"]]
            for k, hyp in zip(part, d.translate([ids[k] for k in part], job["beam"], exact_length=job["exact"])):
                out[k] = hyp
        return out

    return load, translate, "PyTorch " + torch.__version__


def main():
    job = json.load(sys.stdin)
    load, translate, version = {"ct2": ctranslate2, "pytorch": pytorch}[job["system"]](job)
    seconds, out = [], []
    translate(job["calls"][0])  # not timed
    for call in job["calls"]:
        start = time.perf_counter()
        out += translate(call)
        seconds.append(time.perf_counter() - start)
    print(json.dumps(dict(version=version, load=load, seconds=seconds, out=out, peak=peak_mb("self"))))


if __name__ == "__main__":
    main()
