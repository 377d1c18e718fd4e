"""One method of a peer, at one instance.

python peers.py WORK METHOD FOLDER reads the instance, compiles and warms up, and reports
this with a line of JSON. For every line on its input, it does the work once, writes the
answer, and reports the time. WORK is the name of a function below that returns a Work from
the instance and the name of the method."""

import json
import os
import pathlib
import resource
import sys
import time
from importlib.metadata import version
from typing import Callable, NamedTuple

# By default, OpenBLAS starts a thread for each core, even for short vectors.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

MEMORY = 16 << 30  # bytes that a peer may take


class Work(NamedTuple):
    run: Callable  # does the work, and returns the answer
    package: str  # of the peer
    calls: int = 1  # number of calls in a run; the time of one call is reported
    threads: int = 1  # number of threads that run may use


class Instance:
    """The arrays and numbers of a folder, by name."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.numbers = json.loads((self.folder / "numbers.json").read_text())

    def floats(self, name):
        return np.fromfile(self.folder / f"{name}.f64", "<f8")

    def ints(self, name):
        return np.fromfile(self.folder / f"{name}.i32", "<i4")

    def matrix(self):
        from scipy.sparse import csr_array

        ptr = self.ints("ptr")
        return csr_array((self.floats("val"), self.ints("col"), ptr), shape=(len(ptr) - 1, int(self.numbers["states"])))


def stationary(x, method):
    """The stationary measure of a chain, on its recurrent class. The Krylov methods and LU
    solve (I - P')m = p without the first state, whose mass is set to 1. This system is
    regular, and far better conditioned than the whole, singular system."""
    import scipy.sparse as sp
    import scipy.sparse.linalg as la
    from scipy.sparse.csgraph import connected_components

    P, wanted = x.matrix(), x.numbers["residual"]

    def recurrent():
        _, label = connected_components(P, connection="strong")
        row = np.repeat(label, np.diff(P.indptr))
        closed = np.setdiff1d(label, row[row != label[P.indices]])
        return np.flatnonzero(label == closed[0])

    def residual(PT, mu):
        return np.abs(PT @ mu - mu).sum()

    def power(PT):
        mu = np.full(PT.shape[0], 1 / PT.shape[0])
        while residual(PT, mu) > wanted:
            for _ in range(50):
                mu = PT @ mu
            mu /= mu.sum()
        return mu

    def arpack(PT):
        _, vectors = la.eigs(PT, k=1, which="LR", tol=wanted / 10, ncv=30)
        mu = np.abs(vectors[:, 0].real)
        return mu / mu.sum()

    def system(PT):
        A = (sp.eye_array(PT.shape[0], format="csr") - PT)[1:, 1:]
        return A.tocsr(), PT[1:, [0]].toarray().ravel()

    def whole(m):
        mu = np.concatenate([[1.0], m])
        return mu / mu.sum()

    def lu(PT):
        A, b = system(PT)
        return whole(la.splu(A.tocsc()).solve(b))

    def krylov(solve, preconditioned, **settings):
        def run(PT):
            A, b = system(PT)
            M = None
            if preconditioned:  # with the fastest of several settings that we tried
                ilu = la.spilu(A.tocsc(), drop_tol=0.1, fill_factor=5, permc_spec="NATURAL", diag_pivot_thresh=0)
                M = la.LinearOperator(A.shape, ilu.solve)
            m, rtol = np.zeros(len(b)), 1e-8
            while True:  # the solvers measure the residual in another norm
                m, _ = solve(A, b, x0=m, rtol=rtol, atol=0, M=M, **settings)
                mu = whole(m)
                if residual(PT, mu) <= wanted:
                    return mu
                rtol /= 4

        return run

    solve = {
        "power iteration": power,
        "ARPACK": arpack,
        "sparse LU": lu,
        "GMRES": krylov(la.gmres, False, restart=50),
        "GMRES, ILU": krylov(la.gmres, True, restart=50),
        "BiCGSTAB": krylov(la.bicgstab, False),
        "BiCGSTAB, ILU": krylov(la.bicgstab, True),
    }[method]

    def run():
        states = recurrent()
        mu = np.zeros(P.shape[0])
        mu[states] = solve(P[states][:, states].T.tocsr())
        return mu

    return Work(run, "scipy")


def step(x, _):
    """Algorithm 1 for the ball, d = 2. Every step updates all of lambda. The pairs were
    drawn before."""
    from math import sqrt

    import numba

    @numba.njit(fastmath=True)
    def algorithm1(pairs, psi1, psi2, q, cost, radius):
        lam = np.zeros(len(q))
        t1 = t2 = 0.5
        scale = 1 / sqrt(radius * radius - t1 * t1 - t2 * t2)
        y1, y2 = t1 * scale, t2 * scale
        sum1 = sum2 = weight = 0.0
        for t, i in enumerate(pairs):
            eta = 1 / sqrt(t + 1.0)
            factor = eta * (cost[i] - lam[i]) / q[i]
            y1 -= factor * psi1[i]
            y2 -= factor * psi2[i]
            # (3.25b): find y + z1 whose image adds up to 1. Half the sum of its entries, s, solves
            # 4 R^2 s^2 = 1 + w^2 + 2 s^2, where w is the length of the part of y orthogonal to 1.
            half = (y1 - y2) / 2
            s = sqrt((1 + 2 * half * half) / (4 * radius * radius - 2))
            y1, y2 = s + half, s - half
            weight += eta
            sum1 += eta * t1
            sum2 += eta * t2
            a, b = eta * t1, eta * t2
            for k in range(len(lam)):
                lam[k] = max(lam[k] - (a * psi1[k] + b * psi2[k]), 0.0)
            scale = radius / sqrt(1 + y1 * y1 + y2 * y2)
            t1, t2 = y1 * scale, y2 * scale
        return np.array([sum1 / weight, sum2 / weight])

    pairs = x.ints("pairs")
    rest = [x.floats(name) for name in ("psi1", "psi2", "q", "cost")] + [x.numbers["radius"]]
    algorithm1(pairs[:10], *rest)
    return Work(lambda: algorithm1(pairs, *rest), "numba", calls=len(pairs))


def mixture(x, method):
    """min b't over Psi t >= 0, 1't = 1, |t_j| <= R, or its dual
    max m - R|b - Psi'l - m1|_1 over l >= 0. Rows are divided by their greatest entries
    before the clock starts, because HiGHS treats entries below 1e-9 as zero."""
    import highspy

    d, R, b = int(x.numbers["features"]), x.numbers["radius"], x.floats("b")
    psi = np.stack([x.floats(f"psi{j}") for j in range(d)], axis=1)
    top = psi.max(axis=1)
    psi = psi[top > 0] / top[top > 0, None]
    n = len(psi)
    on_dual = method.endswith("on the dual")
    inf = highspy.kHighsInf

    lp = highspy.HighsLp()
    matrix = lp.a_matrix_
    if on_dual:
        # The variables are the n entries of l, m, and the d residuals with each sign. One row below is a column of the LP.
        eye = np.eye(d)
        columns = np.concatenate([psi, np.ones((1, d)), eye, -eye])
        lp.num_col_, lp.num_row_ = n + 1 + 2 * d, d
        lp.col_cost_ = np.concatenate([np.zeros(n), [-1.0], np.full(2 * d, R)])
        lp.col_lower_ = np.concatenate([np.zeros(n), [-inf], np.zeros(2 * d)])
        lp.col_upper_ = np.full(n + 1 + 2 * d, inf)
        lp.row_lower_ = lp.row_upper_ = b
        matrix.format_ = highspy.MatrixFormat.kColwise
        full = columns
    else:
        lp.num_col_, lp.num_row_ = d, n + 1
        lp.col_cost_ = b
        lp.col_lower_, lp.col_upper_ = np.full(d, -R), np.full(d, R)
        lp.row_lower_ = np.concatenate([np.zeros(n), [1.0]])
        lp.row_upper_ = np.concatenate([np.full(n, inf), [1.0]])
        matrix.format_ = highspy.MatrixFormat.kRowwise
        full = np.concatenate([psi, np.ones((1, d))])
    there = full != 0
    matrix.start_ = np.concatenate([[0], there.sum(axis=1).cumsum()]).astype(np.int32)
    matrix.index_ = np.nonzero(there)[1].astype(np.int32)
    matrix.value_ = full[there]
    del full, psi

    def run():
        h = highspy.Highs()
        h.silent()
        h.setOptionValue("threads", os.cpu_count())
        h.setOptionValue("solver", "ipm" if method.startswith("interior") else "simplex")
        h.passModel(lp)
        h.run()
        if h.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            raise RuntimeError(h.modelStatusToString(h.getModelStatus()))
        s = h.getSolution()
        return -np.array(s.row_dual) if on_dual else np.array(s.col_value)

    return Work(run, "highspy", threads=os.cpu_count())


def valuation(x, method):
    """A discounted MDP. Both packages maximise, so rewards are negative costs."""
    package, algorithm = method.split(" ", 1)
    n, m, gamma = int(x.numbers["states"]), int(x.numbers["actions"]), x.numbers["gamma"]
    accuracy, cost, P = x.numbers["accuracy"], x.floats("cost"), x.matrix()

    if package == "quantecon":
        from quantecon.markov import DiscreteDP
        from scipy.sparse import csr_matrix

        mdp = DiscreteDP(-cost, csr_matrix(P), gamma, np.repeat(np.arange(n), m), np.tile(np.arange(m), n))
        solve = lambda **more: mdp.solve(method=algorithm, epsilon=2 * accuracy, **more)
        if algorithm != "pi":
            solve(max_iter=2)
        return Work(lambda: -solve(max_iter=1_000_000).v, package)

    import mdpsolver

    algorithm, update, *_ = algorithm.split(", ") + ["standard"]
    probabilities, columns, k = P.data.tolist(), P.indices.tolist(), P.indptr.tolist()
    cut = lambda a: [[a[k[i] : k[i + 1]] for i in range(s * m, (s + 1) * m)] for s in range(n)]
    rewards = -cost.reshape(n, m)
    mdl = mdpsolver.model()
    mdl.mdp(discount=gamma, rewards=rewards.tolist(), tranMatProbs=cut(probabilities), tranMatColumns=cut(columns))
    del probabilities, columns
    # The default start, set before each call: otherwise, a second call would continue from the first result.
    first = rewards.max(axis=1)
    start = dict(
        initPolicy=rewards.argmax(axis=1).tolist(),
        initValueVector=(first + gamma / (1 - gamma) * first.min()).tolist(),
    )
    parallel = update == "parallel"

    def run():
        mdl.solve(
            algorithm=algorithm, tolerance=2 * accuracy, update="standard" if parallel else update,
            parallel=parallel, SORrelaxation=1.1, makeFinalCheck=False, **start,
        )
        return -np.array(mdl.getValueVector())

    return Work(run, package, threads=os.cpu_count() if parallel else 1)


def projection(x, method):
    """Projections onto the intersection of a ball and a hyperplane: one problem, whose
    parameter is the point."""
    import cvxpy as cp

    d, R = int(x.numbers["features"]), x.numbers["radius"]
    points = x.floats("y").reshape(-1, d)
    theta, y = cp.Variable(d), cp.Parameter(d)
    problem = cp.Problem(cp.Minimize(cp.sum_squares(theta - y)), [cp.sum(theta) == 1, cp.norm(theta, 2) <= R])
    settings = dict(solver=method.upper())
    if method == "SCS":
        settings.update(eps_abs=1e-7, eps_rel=1e-7)

    def project(point):
        y.value = point
        problem.solve(**settings)
        return theta.value

    project(points[0])  # compiles
    return Work(lambda: np.concatenate([project(p) for p in points]), "cvxpy", calls=len(points))


def main(work, method, folder):
    say = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what solvers print must not mix with the reports
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))

    def report(**what):
        print(json.dumps(what), file=say, flush=True)

    try:
        job = globals()[work](Instance(folder), method)
        report(package=f"{job.package} {version(job.package)}", threads=job.threads)
        for _ in sys.stdin:
            wall, cpu = time.perf_counter(), time.process_time()
            answer = job.run()
            wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
            np.asarray(answer, "<f8").tofile(pathlib.Path(folder) / "answer.f64")
            report(seconds=wall / job.calls, cpu=cpu / job.calls)
    except Exception as error:
        report(error=f"{type(error).__name__}: {error}"[:200])


main(*sys.argv[1:])
