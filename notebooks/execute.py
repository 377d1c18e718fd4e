"""Execute one notebook in real Jupyter and say how it goes, a JSON object a line.

    python execute.py SOURCE TARGET SECONDS-PER-CELL

The executed notebook is written to TARGET, as far as it got if a cell failed.
"""

import copy
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


def fail(event, error):
    say(event=event, cell=running, error=error)
    sys.exit(1)


class Client(NotebookClient):
    async def async_execute_cell(self, cell, cell_index, **kwargs):
        try:
            return await super().async_execute_cell(cell, cell_index, **kwargs)
        except CellTimeoutError:
            # What the kernel adds while it is shut down is not the cell's.
            self.nb.cells[cell_index] = copy.deepcopy(cell)
            raise


client = Client(
    notebook,
    timeout=int(timeout),
    iopub_timeout=int(timeout),  # after four seconds outputs that haven't come yet would be left out
    record_timing=False,
    shutdown_kernel="graceful",
    resources={"metadata": {"path": os.path.dirname(os.path.abspath(source))}},
    on_cell_start=begun,
    on_cell_executed=lambda cell, cell_index, execute_reply: say(event="executed", cell=cell_index),
)
try:
    client.execute()
except CellExecutionError as e:
    fail("failed", e.evalue)
except CellTimeoutError:
    fail("stopped", f"still running after {timeout} s")
except DeadKernelError:
    fail("stopped", "the kernel died")
finally:
    nbformat.write(notebook, target)
