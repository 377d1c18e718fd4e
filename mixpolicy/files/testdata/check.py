"""Checks what package files wrote into FOLDER, and writes it again with NumPy: python3 check.py FOLDER."""
import csv
import pathlib
import sys

import numpy as np
import scipy.sparse as sp

folder = pathlib.Path(sys.argv[1])
Q = sp.load_npz(folder / "m.npz")
with np.load(folder / "m.npz") as z:
    m = dict(z)
n, k = m["c"].shape
assert Q.format == "csr" and Q.shape == (n * k, n) and Q.has_sorted_indices
assert m["alpha"].shape == (n,)

P, c, cells = np.zeros((n, k, n)), np.zeros((n, k)), 0
with open(folder / "m.csv", newline="") as f:
    for row in csv.DictReader(f):
        s, a, s2 = int(row["s"]), int(row["a"]), int(row["next"])
        P[s, a, s2], c[s, a], cells = float(row["p"]), float(row["c"]), cells + 1
assert (P.reshape(n * k, n) == Q.toarray()).all() and cells == Q.nnz
assert (c == m["c"]).all()
with np.load(folder / "psi.npz") as z:
    psi = z["psi"]
assert np.abs(psi.sum(axis=0) - 1).max() < 1e-12 and psi.shape[0] == n * k

other = {name: m[name] for name in ("alpha", "gamma") if name in m}
np.savez(folder / "state-first.npz", P=P, c=c, **other)
np.savez_compressed(folder / "action-first.npz", P=np.asfortranarray(P.transpose(1, 0, 2)), c=c.astype(">f8"), **other)
Q = sp.csr_array(P.reshape(n * k, n))
np.savez(folder / "csr.npz", data=Q.data, indices=Q.indices, indptr=Q.indptr, shape=Q.shape, format="csr", c=c, **other)
np.savez(folder / "psi-again.npz", psi=np.asfortranarray(psi))
