"""Execute one notebook in Jupyter, and print each event of a cell as a line of JSON.

    python execute.py SOURCE TARGET SECONDS-PER-CELL

The executed notebook is written to TARGET. If a cell failed, the later cells have
no fresh outputs. Two runs with the same outputs write the same bytes.
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
            # What the kernel writes while it shuts down does not belong to the cell.
            self.nb.cells[cell_index] = copy.deepcopy(cell)
            raise


def tidy():
    """Remove what differs between two runs with the same outputs.

    Versions differ, and so does the order between streams and displays, which reach
    Jupyter by different pipes. Afterwards, streams come first, and displays keep their order.
    """
    notebook.metadata = {
        "kernelspec": {"display_name": "Go (gonb)", "language": "go", "name": "gonb"},
        "language_info": {"file_extension": ".go", "mimetype": "text/x-go", "name": "go"},
    }
    for cell in notebook.cells:
        for key in "execution", "scrolled", "collapsed":
            cell.metadata.pop(key, None)
        if cell.cell_type == "code":
            cell.outputs.sort(key=lambda o: (o.output_type != "stream", o.get("name") == "stderr"))
            for output in cell.outputs:
                if "execution_count" in output:
                    output.execution_count = None


client = Client(
    notebook,
    kernel_name="gonb",  # whatever the notebook's own metadata say
    timeout=int(timeout),
    iopub_timeout=int(timeout) or 10**9,  # by default, outputs that arrive after four seconds would be left out
    record_timing=False,
    coalesce_streams=True,
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
except Exception as e:
    print(f"{type(e).__name__}: {e}", file=sys.stderr, flush=True)
    os._exit(1)  # without the tracebacks of unfinished tasks
finally:
    tidy()
    nbformat.write(notebook, target)
