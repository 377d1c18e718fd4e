"""Execute one notebook in real Jupyter and say how it goes, a JSON object a line.

    python execute.py SOURCE TARGET SECONDS-PER-CELL

The executed notebook is written to TARGET, as far as it got if a cell failed.
"""

import json
import os
import sys
import time

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

source, target, timeout = sys.argv[1:]
notebook = nbformat.read(source, as_version=4)
start = time.monotonic()
running = 0


def say(**event):
    print(json.dumps({"seconds": time.monotonic() - start, **event}), flush=True)


def begun(cell, cell_index):
    global running
    running = cell_index


def fail(error, traceback=()):
    say(event="failed", cell=running, error=error, traceback=list(traceback))
    sys.exit(1)


client = NotebookClient(
    notebook,
    timeout=int(timeout),
    record_timing=False,
    shutdown_kernel="graceful",
    resources={"metadata": {"path": os.path.dirname(os.path.abspath(source))}},
    on_cell_start=begun,
    on_cell_executed=lambda cell, cell_index, execute_reply: say(event="executed", cell=cell_index),
)
try:
    client.execute()
except CellExecutionError as e:
    outputs = notebook.cells[running].get("outputs", [])
    fail(e.evalue, next((o.traceback for o in outputs if o.output_type == "error"), ()))
except CellTimeoutError:
    fail(f"still running after {timeout} s")
except DeadKernelError:
    fail("the kernel died")
finally:
    nbformat.write(notebook, target)
