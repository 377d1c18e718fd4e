"""Writes nbformat.ipynb with Jupyter's own nbformat: the bytes that package ipynb must reproduce."""

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output, new_raw_cell

nb = new_notebook(metadata={"kernelspec": {"display_name": "Go (gonb)", "language": "go", "name": "gonb"}})
nb.cells = [
    new_markdown_cell("# Ψ ≥ 0 & <b>bold</b>\n\n\"quoted\" \\theta ends\n", id="a"),
    new_markdown_cell("", id="b", attachments={"x.png": {"image/png": "aGk="}}),
    new_raw_cell("raw", id="c"),
    new_code_cell("", id="d"),
    new_code_cell(
        "%%\nfmt.Println(1 < 2)",
        id="e",
        execution_count=7,
        metadata={"tags": ["timing"], "nested": {"n": 1.5, "big": 12345678901234567890}},
        outputs=[
            new_output("stream", name="stdout", text="a\nb"),
            new_output("stream", name="stderr", text="\x1b[31mred\x1b[0m\n"),
            new_output(
                "display_data",
                data={"text/html": "<i>\n1 & 2</i>", "image/png": "aGk=\n", "application/json": {"k": [1, {"l": None}]}},
                metadata={"image/png": {"width": 3}},
            ),
            new_output("execute_result", data={"text/plain": "1"}, execution_count=7),
            new_output("error", ename="ERROR", evalue="exit status 2", traceback=["line 1\nline 2", ""]),
        ],
    ),
]
nbformat.write(nb, "nbformat.ipynb")
