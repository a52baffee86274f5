"""Writes whole-*.pt, one object in both layouts of torch.save, and whole.safetensors with its
tensors, in the types of the file and contiguous.

usage: python gen_torchfile.py FOLDER    (needs torch, numpy, safetensors)
"""
import os, sys
from collections import OrderedDict
import torch
from safetensors.torch import save_file

out = sys.argv[1]
torch.manual_seed(1)
base = torch.randn(6, 5)
cube = torch.randn(2, 3, 4)
tied = torch.randn(3, 2)
floats = OrderedDict(
    f32=torch.randn(2, 3), f64=torch.randn(3, dtype=torch.float64), f16=torch.randn(2, 2).half(), bf16=torch.randn(3).bfloat16(),
    scalar=torch.tensor(-2.5), empty=torch.zeros(0, 3),
    transposed=base.t(), rows=base[2:4], columns=base[1:, ::2], one_column=base[:, 3], permuted=cube.permute(2, 0, 1), part=cube[1:, :, 1:3],
    swapped=cube.transpose(0, 1), half_columns=torch.randn(4, 3).half().t(), parameter=torch.nn.Parameter(torch.randn(2)))
floats["first.weight"] = floats["second.weight"] = torch.nn.Parameter(tied)
floats["whole"], floats["base_t"] = base, base.t()[1:3]
floats._metadata = OrderedDict(version=1)
ints = dict(i64=torch.tensor([[-1, 2**40]]), i32=torch.tensor([-3, 4], dtype=torch.int32), i16=torch.tensor([-5, 6], dtype=torch.int16),
    i8=torch.tensor([-7, 8], dtype=torch.int8), u8=torch.tensor([9, 250], dtype=torch.uint8), bool=torch.tensor([True, False, True]),
    u16=torch.tensor([1, 65535], dtype=torch.uint16))
whole = {"model": floats, "ints": ints, "optimizer": {"state": {0: {"step": torch.tensor(3.0), "avg": torch.ones(2)}}, "groups": [{"lr": 0.1, "params": [0, 300, 70000, -1]}]},
    "list": [torch.ones(1), "text", (torch.zeros(2), None)], "epoch": 3, "large": 2**100, "done": True, "name": "ä" * 200, "size": torch.Size([2, 3]),
    "dtype": torch.float32}


def tensors(prefix, value):
    if isinstance(value, torch.Tensor):
        return {prefix: value.detach().clone().contiguous()}
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, (list, tuple)) else []
    found = {}
    for key, v in items:
        found |= tensors(prefix + "." + str(key) if prefix else str(key), v)
    return found


def write(name, value, **options):
    torch.save(value, os.path.join(out, name + ".pt"), **options)


save_file(tensors("", whole), os.path.join(out, "whole.safetensors"))
write("whole-zip", whole)
write("whole-legacy", whole, _use_new_zipfile_serialization=False)
