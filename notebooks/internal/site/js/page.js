"use strict";
// What makes the cells of a page run. Nothing of the engine is fetched before the reader runs one, and no
// cell runs by itself.
(() => {
  const engine = ENGINE; // the builder puts it here: {manifest, tools, editor, lite}
  const folder = document.currentScript.src.replace(/[^/]*$/, "");
  const notebook = location.pathname.replace(/.*\//, "").replace(/\.html$/, "");
  const make = (tag, properties = {}, ...children) => {
    const e = Object.assign(document.createElement(tag), properties);
    e.append(...children);
    return e;
  };

  // Texts that the reader has changed stay in the browser until they are reset.
  const kept = {
    key: (cell) => `cell ${notebook} ${cell.id}`,
    get(cell) { try { return localStorage.getItem(kept.key(cell)); } catch { return null; } },
    set(cell) {
      try {
        if (cell.text === cell.original) localStorage.removeItem(kept.key(cell));
        else localStorage.setItem(kept.key(cell), cell.text);
      } catch { /* without storage they are kept until the page is left */ }
    },
  };

  const cells = [];
  let tools = null, queue = [], current = null;

  // A cell of the page: its text in an editor, its outputs, and its buttons.
  class Cell {
    constructor(root, index) {
      this.root = root;
      this.index = index;
      this.id = root.dataset.cell;
      this.code = root.querySelector(".highlight");
      this.seconds = slower * (root.dataset.seconds || 0);
      this.original = this.code.textContent.replace(/\n+$/, "");
      this.outputs = root.querySelector(".outputs") || root.appendChild(make("div", { className: "outputs" }));
      this.buttons = {
        run: this.button("Run", "Run this cell (Shift+Enter)", () => start([this])),
        above: this.button("Run all above", "Run all cells above, then this one", () => start(cells.slice(0, index + 1))),
        stop: this.button("Stop", "Stop this cell", stop),
        reset: this.button("Reset", "Go back to the published text and outputs", () => this.reset()),
      };
      this.state = make("span", { role: "status" });
      this.code.after(make("div", { className: "run" }, ...Object.values(this.buttons), this.state));
      this.buttons.stop.hidden = true;
      this.text = kept.get(this) ?? this.original;
      this.code.addEventListener("click", () => { if (getSelection().isCollapsed) this.edit(); });
      if (this.text !== this.original) this.edit(false);
      this.mark();
    }
    button(text, title, onclick) { return make("button", { type: "button", textContent: text, title, onclick }); }
    say(text) { this.state.textContent = text; }
    mark() { this.buttons.reset.hidden = this.text === this.original && !this.changed; }

    // A published cell that takes long says so once, and runs when it is asked again.
    warns() {
      if (this.seconds < 20 || this.warned || this.text !== this.original) return false;
      this.warned = true;
      const time = this.seconds < 90 ? `${10 * Math.round(this.seconds / 10)} seconds` : `${Math.round(this.seconds / 60)} minutes`;
      this.say(`takes about ${time} in a browser: press Run again if you want to wait`);
      return true;
    }

    // edit shows the editor: a plain one at once, and the better one when it is there.
    async edit(focus = true) {
      if (this.editor) return this.editor.focus();
      const plain = make("textarea", { value: this.text, spellcheck: false, ariaLabel: "Code", autocapitalize: "off", rows: this.text.split("\n").length });
      plain.addEventListener("input", () => this.change(plain.value));
      plain.addEventListener("keydown", (e) => {
        if (e.key === "Enter" && e.shiftKey) { e.preventDefault(); start([this]); }
      });
      this.editor = { element: plain, focus: () => plain.focus(), mark() {} };
      this.frame = make("div", { className: "highlight editor" }, plain);
      this.code.after(this.frame);
      this.code.hidden = true;
      if (focus) plain.focus();
      const better = await extras();
      if (!better || this.editor?.element !== plain) return;
      const focused = document.activeElement === plain;
      this.editor = better.edit(this.text, (text) => this.change(text), () => start([this]), names);
      plain.replaceWith(this.editor.element);
      if (focused) this.editor.focus();
    }
    change(text) {
      this.text = text;
      kept.set(this);
      this.mark();
    }
    async reset() {
      this.frame?.remove();
      this.editor = null;
      this.code.hidden = false;
      this.text = this.original;
      kept.set(this);
      this.changed = false;
      this.say("");
      this.mark();
      // The outputs as they were published, not as their scripts left them.
      const page = new DOMParser().parseFromString(await (await fetch(location.pathname)).text(), "text/html");
      this.outputs.replaceChildren(...page.querySelector(`[data-cell="${this.id}"] .outputs`)?.childNodes || []);
      revive(this.outputs);
      window.MathJax?.typesetPromise?.([this.outputs]);
    }

    begin() {
      this.outputs.replaceChildren();
      this.changed = true;
      this.printed = { 1: 0, 2: 0 };
      this.lost = null;
      this.displays = new Map();
      this.buttons.stop.hidden = false;
      this.mark();
    }
    end(text) {
      this.buttons.stop.hidden = true;
      for (const block of this.outputs.querySelectorAll(":scope > .stderr")) block.textContent = placed(block.textContent, this);
      this.say(text);
    }
    print(fd, text) {
      const name = fd === 1 ? "stdout" : "stderr", room = Math.max(0, most - this.printed[fd]);
      this.printed[fd] += text.length;
      if (room > 0) {
        let block = this.outputs.lastElementChild;
        if (block?.className !== name) block = this.outputs.appendChild(make("pre", { className: name }));
        block.append(text.slice(0, room));
      }
      if (text.length <= room) return;
      this.lost ||= this.outputs.appendChild(make("pre", { className: "lost", lines: 0 }));
      this.lost.lines += text.slice(room).split("\n").length - 1;
      this.lost.textContent = `… and ${this.lost.lines.toLocaleString("en")} more lines`;
    }
    display(id, data) {
      const block = render(data);
      if (id && this.displays.has(id)) this.displays.get(id).replaceWith(block);
      else this.outputs.append(block);
      if (id) this.displays.set(id, block);
    }
    fail(text) { this.outputs.append(make("pre", { className: "error", textContent: placed(text, this) })); }
  }

  const slower = 4; // than natively, with one thread instead of several
  const most = 200_000; // characters of each stream that a cell shows

  // placed puts words in the place of the names that cells have in the compiler's errors and in traces, and
  // marks the lines.
  function placed(text, here) {
    for (const cell of cells) {
      const lines = [], of = cell === here ? "" : `cell ${cell.index + 1}, `;
      text = text.replaceAll(new RegExp(`(?:/cell/)?\\b${cell.id}:(\\d+)(?::\\d+)?(.*)`, "g"), (_, n, rest) => {
        const line = Math.min(n, cell.text.split("\n").length);
        lines.push({ line, text: rest.replace(/^: /, "") });
        return `${of}line ${line}${rest}`;
      });
      if (lines.length) cell.editor?.mark(lines);
    }
    return text;
  }

  // The editor, and Markdown, are fetched when they are first needed. Without them cells have a plain
  // editor, and Markdown stays text.
  let fetched = null;
  function extras() {
    return fetched ||= new Promise((there) => {
      if (!engine.editor) return there(null);
      const { url, integrity } = engine.editor;
      document.head.append(make("script", { src: folder + url, integrity, onload: () => there(window.mixpolicyEditor), onerror: () => there(null) }));
    });
  }

  // revive has the scripts in the element run, which those of parsed text don't.
  function revive(element) {
    for (const script of element.querySelectorAll("script")) script.replaceWith(make("script", { textContent: script.textContent }));
  }

  // render makes an element of the richest form of an output.
  function render(data) {
    const forms = {};
    for (let i = 0; i < data.length; i += 2) forms[data[i]] = data[i + 1];
    const picture = (type, content) => make("img", { className: "figure", alt: forms["text/plain"] || "a figure", src: `data:${type};base64,${content}` });
    if ("text/html" in forms) {
      const block = make("div", { className: "html", innerHTML: forms["text/html"] });
      revive(block);
      return block;
    }
    if (forms["text/markdown"]) {
      const block = make("div", { className: "prose", textContent: forms["text/markdown"] });
      extras().then((x) => {
        if (x) block.innerHTML = x.markdown(forms["text/markdown"]);
        window.MathJax?.typesetPromise?.([block]);
      });
      return block;
    }
    if (forms["image/svg+xml"]) return picture("image/svg+xml", btoa(String.fromCodePoint(...new TextEncoder().encode(forms["image/svg+xml"]))));
    if (forms["image/png"]) return picture("image/png", forms["image/png"]);
    return make("pre", { className: "result", textContent: forms["text/plain"] || "" });
  }

  // The worker of the tools, and what it tells of the cell that runs.
  function worker() {
    return tools ||= hire(folder + engine.tools, (data) => {
      if (data.answer) return asked.shift()?.(data.answer);
      if (data.result) return finish(data.result);
      if (!current || current.stopped) return;
      const { cell } = current;
      if (data.progress) cell.say(`fetching Go: ${mega(data.progress.loaded)} of ${mega(data.progress.size)} MB`);
      if (data.stage) cell.say(data.stage);
      if (data.text) cell.print(data.text.fd, data.text.text);
      if (data.display) cell.display(data.display.id, data.display.data);
      if (data.files) offer(cell, data.files);
    }, (error) => { finish({ error }); restart(); });
  }
  const seconds = (ms) => (ms / 1000).toFixed(1) + " s";
  const mega = (bytes) => (bytes / 1e6).toFixed(1);

  function offer(cell, files) {
    for (const [name, bytes] of Object.entries(files)) {
      cell.outputs.append(make("a", { className: "file", download: name, href: URL.createObjectURL(new Blob([bytes])), textContent: `Download ${name}` }));
    }
  }

  // names asks what may stand between two parts of a cell, once cells have run: nothing is fetched to edit.
  let asked = [];
  async function names(before, after) {
    if (!tools || !seen.size) return {};
    tools.post({ call: "ask", engine: engine.manifest, what: "complete", before, after });
    return new Promise((answer) => asked.push(answer));
  }

  function start(some) {
    const waiting = some.filter((cell) => cell !== current?.cell && !queue.includes(cell) && !cell.warns());
    for (const cell of waiting) cell.say("waiting");
    queue.push(...waiting);
    next();
  }
  // A cell needs what the cells above declare. Those that the session has not seen, or that were changed since, are
  // taken into it without being run.
  let seen = new Map();
  function next() {
    if (current || !queue.length) return;
    const cell = queue.shift();
    const before = cells.slice(0, cell.index).filter((c) => seen.get(c) !== c.text);
    current = { cell, text: cell.text, before, begin: performance.now() };
    cell.begin();
    cell.say("starting");
    worker().post({ call: "run", engine: engine.manifest, name: cell.id, text: cell.text, before: before.map((c) => ({ name: c.id, text: c.text })) });
  }
  function finish(result) {
    if (!current) return;
    const { cell, text, before, begin, stopped } = current;
    if (!result.error) for (const c of [...before, cell]) seen.set(c, c === cell ? text : c.text);
    const ok = !result.error && result.code === 0 && !stopped;
    if (result.error && !stopped) cell.fail(result.error);
    else if (result.code > 0) cell.print(2, `exit status ${result.code}\n`);
    cell.end(stopped ? "stopped" : ok ? seconds(performance.now() - begin) : "failed");
    if (result.times) cell.state.title = Object.entries(result.times).map(([what, ms]) => `${what} ${Math.round(ms)} ms`).join(", ");
    current = null;
    if (!ok && !stopped) clear(); // what was asked for after Stop is to run
    next();
  }
  function clear() {
    for (const cell of queue) cell.say("");
    queue = [];
  }
  function stop() {
    clear();
    if (!current) return;
    current.stopped = true;
    current.cell.end("stopped");
    worker().post({ call: "stop" });
  }
  function restart() {
    stop();
    tools?.dismiss();
    tools = null;
    for (const answer of asked.splice(0)) answer({});
    seen = new Map();
    current = null;
  }

  // The notebook with the reader's texts. What is shown of changed cells is left out.
  async function download() {
    const response = await fetch(notebook + ".ipynb"), file = await response.json();
    for (const cell of cells) {
      const saved = file.cells.find((c) => c.id === cell.id);
      if (!saved || cell.text === cell.original) continue;
      Object.assign(saved, { source: cell.text.split(/(?<=\n)/), outputs: [], execution_count: null });
    }
    const link = make("a", { download: notebook + ".ipynb", href: URL.createObjectURL(new Blob([JSON.stringify(file, null, 1)], { type: "application/x-ipynb+json" })) });
    link.click();
  }

  addEventListener("DOMContentLoaded", () => {
    const bar = document.querySelector(".bar"), why = location.protocol === "file:" ? "Cells run where the page comes from a server: go run ./notebooks site --serve"
      : !window.Worker || !window.WebAssembly || !window.DecompressionStream ? "This browser can't run the cells: it lacks WebAssembly, workers or DecompressionStream" : "";
    if (why) return bar.append(make("small", { textContent: why }));
    document.querySelectorAll("[data-cell]").forEach((root) => { if (root.querySelector(".highlight")) cells.push(new Cell(root, cells.length)); });
    const button = (text, title, onclick) => bar.insertBefore(make("button", { type: "button", textContent: text, title, onclick }), document.getElementById("code"));
    button("Run all", "Run every cell, in order", () => start(cells));
    button("Restart", "Stop, and forget what cells have declared and saved", restart);
    if (engine.lite) bar.querySelector("nav").append(make("a", { href: engine.lite + encodeURIComponent(notebook + ".ipynb"), title: "The notebook in JupyterLab, in this browser", textContent: "JupyterLite" }));
    bar.querySelector("a[download]")?.addEventListener("click", (e) => { e.preventDefault(); download(); });
  });
})();
