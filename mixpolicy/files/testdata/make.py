"""Makes the fixtures in this folder: python3 make.py. Made with NumPy 2.4.6 and SciPy 1.17.1.

The model has 3 states and 2 actions. Action 0 moves down or up by one, or stays; action 1
moves to state 0. The probabilities are multiples of 1/8, which float32 represents exactly.
The probabilities of float32.npz are thirds, which float32 only approximates.
"""
import pathlib

import numpy as np
import scipy.sparse as sp

here = pathlib.Path(__file__).parent
n, m = 3, 2
P = np.zeros((m, n, n))
P[0] = [[0.75, 0.25, 0], [0.5, 0.25, 0.25], [0, 0.625, 0.375]]
P[1, :, 0] = 1
c = np.array([[0, 3], [1, 4], [2, 5]])
alpha, gamma = np.array([0.5, 0.25, 0.25]), 0.875
Q = sp.csr_array(P.transpose(1, 0, 2).reshape(n * m, n))
csr = dict(data=Q.data, indices=Q.indices, indptr=Q.indptr, shape=Q.shape)


def save(name, compressed=False, **arrays):
    (np.savez_compressed if compressed else np.savez)(here / name, **arrays)


save("action-first.npz", P=P, c=c)
save("state-first.npz", compressed=True, P=P.transpose(1, 0, 2), c=c, gamma=gamma, alpha=alpha)
save("fortran.npz", P=np.asfortranarray(P), c=np.asfortranarray(c.astype(">i2")))
save("big-endian.npz", P=P.astype(">f4"), c=c.astype(">f8"), gamma=np.array([gamma])[0])
save("csr.npz", **csr, format="csr", c=c.astype("u1"), gamma=gamma, alpha=alpha)
sp.save_npz(here / "scipy.npz", Q)
with np.load(here / "scipy.npz") as z:  # what save_npz itself writes, and c
    save("scipy.npz", **z, c=c)
save("float32.npz", P=np.full((m, n, n), 1 / 3, np.float32), c=c.astype(np.float32))
save("square.npz", P=np.array([np.eye(2), np.full((2, 2), 0.5)]), c=np.zeros((2, 2)))
save("psi.npz", psi=np.array([[0.5, 0, 0.125], [0, 0.5, 0.125], [0.25, 0, 0.25], [0, 0.25, 0.25], [0.25, 0, 0.125], [0, 0.25, 0.125]]))

# What is refused.
save("complex.npz", P=P.astype(complex), c=c)
save("object.npz", P=P, c=np.array([[0, None]]))
save("record.npz", P=P, c=np.zeros(3, [("x", "f8"), ("y", "f8")]))
save("csc.npz", **csr, format="csc", c=c)
save("nan.npz", P=np.where(P == 0.625, np.nan, P), c=c)
