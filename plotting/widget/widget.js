// Tells the cell's program, over GoNB's channel, where the controls of a widget stand,
// and tells it again and again: so nothing hangs on a message that gets lost, and
// silence tells that the page is gone. The program answers by showing the controls
// once more, with their texts, which makes them live.
function (id, address, silence, texts) {
  var root = document.getElementById(id);
  if (!root || texts && !globalThis.gonb_comm) return; // a saved notebook, opened again: nobody listens
  var cell = root.closest(".jp-Cell, .cell"), notebook = root.closest(".jp-Notebook, #notebook");
  var controls = Array.from(root.querySelectorAll("input, select")), button = root.querySelector("button");
  var serial = texts ? 2 : 1, done = false, until = texts ? Infinity : Date.now() + silence;

  function tell() {
    var comm = globalThis.gonb_comm; // GoNB may open another while the widget is live
    if (!comm || !comm._onopen_ack) return; // not open yet
    // GoNB's page gives up a channel that isn't acknowledged within half a second, which on
    // a busy machine it may not be, and the acknowledgement may be lost: it is published
    // before Jupyter's server passes messages on to the page. What we tell needs none.
    comm._onopen_ack();
    var positions = controls.map(function (c) { return +c.value; });
    comm.send(address, JSON.stringify({ serial: serial, positions: positions, done: done, hidden: document.hidden }));
  }
  function end() {
    if (done) return;
    done = true;
    until = Date.now() + silence;
    controls.concat(button).forEach(function (c) { c.disabled = true; });
    serial++;
    tell();
  }
  // Whether the output was replaced, by the program or because the cell is run again.
  function replaced() { return cell ? !cell.contains(root) : !root.isConnected; }
  // Whether another cell of the notebook waits for this one, or this one no longer runs,
  // which the prompts tell.
  function overtaken() {
    return cell && notebook && Array.from(notebook.querySelectorAll(".jp-InputPrompt, .input_prompt")).some(function (p) {
      return p.textContent.indexOf("[*]") >= 0 !== cell.contains(p);
    });
  }

  var watch = setInterval(function () {
    if (Date.now() > until || !texts && replaced()) clearInterval(watch);
    else if (texts && (replaced() || overtaken()) && !done) end();
    else tell();
  }, texts ? 300 : 100);
  if (!texts) return;
  controls.forEach(function (c, i) {
    c.disabled = false;
    c.addEventListener("input", function () {
      if (c.type === "range") c.nextElementSibling.textContent = texts[i][c.value];
      serial++;
      tell();
    });
  });
  button.disabled = false;
  button.addEventListener("click", end);
  addEventListener("pagehide", end);
}
