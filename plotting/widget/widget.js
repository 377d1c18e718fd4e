// Makes the controls of a widget live: tells the cell's program, over GoNB's
// channel, of every move, and when no more are to come.
function (id, address, texts) {
  var comm = globalThis.gonb_comm, root = document.getElementById(id);
  if (!comm || !root) return; // a saved notebook, opened again: nobody listens
  var controls = Array.from(root.querySelectorAll("input, select")), button = root.querySelector("button");
  var cell = root.closest(".jp-Cell, .cell"), serial = 1, ended = false; // 1 was the answer that brought us here

  function tell(done) {
    var positions = controls.map(function (c) { return +c.value; });
    comm.send(address, JSON.stringify({ serial: ++serial, positions: positions, done: done }));
  }
  function end() {
    if (ended) return;
    ended = true;
    clearInterval(watch);
    controls.concat(button).forEach(function (c) { c.disabled = true; });
    tell(true);
  }
  // Whether the cell's output was cleared, as when it is run again, or another cell
  // of the notebook waits for this one, which its prompt tells.
  function overtaken() {
    var notebook = cell && cell.closest(".jp-Notebook, #notebook");
    return cell && !cell.contains(root) || notebook && Array.from(notebook.querySelectorAll(".jp-InputPrompt, .input_prompt")).some(function (p) {
      return p.textContent.indexOf("[*]") >= 0 && !cell.contains(p);
    });
  }

  controls.forEach(function (c, i) {
    c.disabled = false;
    c.addEventListener("input", function () {
      if (c.type === "range") c.nextElementSibling.textContent = texts[i][c.value];
      tell(false);
    });
  });
  button.disabled = false;
  button.addEventListener("click", end);
  addEventListener("pagehide", end);
  var watch = setInterval(function () { if (overtaken()) end(); }, 300);
}
