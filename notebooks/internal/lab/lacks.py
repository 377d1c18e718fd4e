# Prints the parts of Jupyter that this interpreter lacks, or nothing.
from importlib.metadata import version, PackageNotFoundError
lacks = []
for name, least in ("jupyterlab", (4, 0)), ("nbconvert", (7, 0)), ("nbclient", (0, 10)):
    try:
        have = version(name)
    except PackageNotFoundError:
        have = "0.0"
    if tuple(int(part) for part in have.split(".")[:2]) < least:
        lacks.append("{} ≥ {}.{} (there is {})".format(name, *least, "none" if have == "0.0" else have))
print(" and ".join(lacks), end="")
