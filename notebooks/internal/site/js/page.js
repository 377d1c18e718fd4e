// The cells of a page. The page fetches nothing of the engine before the reader runs a cell, and no cell runs by itself.
(() => {
  const engine = ENGINE; // the builder puts it here: {manifest, editor, lite}
  const folder = document.currentScript.src.replace(/[^/]*$/, "");
  const here = () => location.href.replace(/#.*/, "");
  const notebook = decodeURIComponent(location.pathname.replace(/.*\//, "").replace(/\.html$/, ""));
  const make = (tag, properties = {}, ...children) => {
    const e = Object.assign(document.createElement(tag), properties);
    e.append(...children);
    return e;
  };

  const button = (text, onclick, title = "", ariaLabel = text) => make("button", { type: "button", textContent: text, title, ariaLabel, onclick });

  // Texts that the reader has changed stay in the browser until they are reset.
  const stored = (f, cell) => { try { return f(localStorage, `cell ${notebook} ${cell.id}`); } catch { return null; /* there is no storage */ } };
  const keep = (cell) => stored((s, key) => cell.text === cell.original ? s.removeItem(key) : s.setItem(key, cell.text), cell);

  const lite = engine.lite && engine.lite + encodeURIComponent(notebook + ".ipynb");
  const cells = [], queue = [];
  let go = null, current = null;

  // A cell of the page: its text in an editor, its outputs, and its buttons.
  class Cell {
    constructor(root, index) {
      Object.assign(this, { root, index, id: root.dataset.cell, name: `cell ${index + 1}`, code: root.querySelector(".highlight"), because: [] });
      this.seconds = 4 * (root.dataset.seconds || 0); // an estimate: a browser is slower, and has one thread instead of several
      this.text = this.original = this.code.textContent.replace(/\n+$/, "");
      const outputs = root.querySelector(".outputs") || root.appendChild(make("div", { className: "outputs" }));
      this.outputs = Object.assign(outputs, { role: "log", ariaLabel: `Output of ${this.name}` });
      Object.assign(this.code, { tabIndex: 0, role: "group", ariaLabel: `Code of ${this.name}` });
      const whose = make("p", { className: "whose", hidden: true });
      Object.assign(this, { whose, state: make("span", { role: "status" }), changes: make("div", { hidden: true }) });
      this.buttons = {
        run: this.button("Run", () => current?.cell === this && !current.stopped ? stop() : start([this]), "Shift+Enter or Ctrl+Enter"),
        edit: this.button("Edit", () => this.edit(0), "or press the code; Escape leaves the editor"),
        uses: this.button("Run what uses it", () => start([this, ...this.users()]), "with the cells that use its declarations"),
        diff: this.button("Changes", () => this.compare(this.changes.hidden), "compared with the published text"),
        link: this.button("Link to the change", async () => copy(this, here() + await pack(changes())), "copies an address that shows the changed cells of this page"),
        lite: this.button("Open in JupyterLite", () => { cells.forEach(keep); open(lite + "#mine"); }, "with all changes of this page"),
        reset: this.button("Reset", () => this.take(this.original), "to the published text and output"),
        undo: this.button("Undo", () => this.take(this.before), "back to the text before"),
      };
      this.code.after(make("div", { className: "run" }, ...Object.values(this.buttons), make("details", {}, make("summary", { textContent: "More" }),
        this.button("Run all above", () => start(cells.slice(0, index + 1)), "then this one"),
        this.button("Copy link", () => copy(this, here() + "#" + root.id)), this.button("Copy code", () => copy(this, this.text)),
        this.button("Cite", () => copy(this, citation(this)), "copies BibTeX")), this.state), this.changes);
      this.outputs.before(this.whose);
      this.code.addEventListener("click", () => {
        const at = getSelection(), before = document.createRange();
        if (!at.isCollapsed) return;
        before.setStart(this.code, 0);
        if (this.code.contains(at.anchorNode)) before.setEnd(at.anchorNode, at.anchorOffset);
        this.edit(before.toString().length);
      });
      root.addEventListener("keydown", (e) => {
        const held = e.shiftKey || e.ctrlKey || e.metaKey;
        if (e.key !== "Enter" || !held && e.target !== this.code) return;
        e.preventDefault();
        e.stopPropagation();
        held ? start([this]) : this.edit(0);
      }, true);
    }
    button(text, onclick, more) { return button(text, onclick, more && `${text} ${this.name}: ${more}`, `${text}, ${this.name}`); }
    say(...parts) { this.state.replaceChildren(...parts); }
    users() { return cells.filter((c) => c.because.includes(this)); }
    // mark shows the buttons that have something to do, and says to which text the outputs belong.
    mark() {
      const changed = this.text !== this.original, { edit, uses, diff, link, lite: other, reset, undo } = this.buttons;
      const moves = new Map([[edit, this.editor], [uses, !this.users().length], [diff, !changed], [link, !changed],
        [other, !changed || !lite || !stored((s) => s, this)], // JupyterLite takes what is stored
        [reset, !changed && this.made === this.published.made], [undo, (this.before ?? this.text) === this.text]]);
      if (moves.get(document.activeElement)) this.buttons.run.focus({ preventScroll: true });
      for (const [button, hidden] of moves) button.hidden = !!hidden;
      if (!this.changes.hidden) this.compare(changed);
      const old = this.made.text !== this.text ? `Output of ${this.made.text === this.original ? "the published text" : "an earlier text"}, not of the text above`
        : this.because.length ? `Output from before the change of ${this.because.map((c) => c.name).join(", ")}` : "";
      Object.assign(this.whose, { textContent: old, hidden: !old || !this.outputs.childNodes.length });
      this.outputs.classList.toggle("old", !this.whose.hidden);
    }
    compare(show) {
      this.changes.hidden = !show;
      this.buttons.diff.ariaExpanded = show;
      this.changes.replaceChildren(show ? difference(this.original, this.text) : "");
    }

    // A published cell that takes long says so once, and runs when Run is pressed again.
    warns() {
      if (this.seconds < 20 || this.warned || this.text !== this.original) return false;
      const time = this.seconds < 90 ? `${10 * Math.round(this.seconds / 10)} seconds` : `${Math.round(this.seconds / 60)} minutes`;
      this.say(`takes about ${time} in a browser: press Run again if you want to wait`);
      return this.warned = true;
    }

    // edit shows the editor, with the caret at this place: a plain editor at once, and CodeMirror when it has been fetched.
    async edit(caret) {
      if (this.editor) return this.editor.focus();
      const plain = this.editor = make("textarea", {
        value: this.text, rows: this.text.split("\n").length, ariaLabel: `Code of ${this.name}`, spellcheck: false, autocapitalize: "off",
        oninput: () => this.change(plain.value), mark() {},
      });
      const onkeydown = (e) => { if (e.key === "Escape" && !e.defaultPrevented) this.buttons.run.focus(); };
      this.frame = make("div", { className: "highlight editor", onkeydown }, plain);
      this.code.after(this.frame);
      this.code.hidden = true;
      if (caret !== undefined) {
        plain.setSelectionRange(caret, caret);
        plain.focus({ preventScroll: true });
      }
      this.mark();
      const better = await extras();
      if (!better || this.editor !== plain) return;
      const focused = document.activeElement === plain;
      this.editor = better.edit(this.text, plain.ariaLabel, plain.selectionStart, plain.selectionEnd, (text) => this.change(text), names);
      plain.replaceWith(this.editor);
      if (focused) this.editor.focus();
    }
    change(text) {
      this.text = text;
      keep(this);
      if (location.hash.startsWith(linked)) { // from now on, the texts are the reader's
        history.replaceState(null, "", location.pathname + location.search);
        cells.forEach(keep);
      }
      check();
    }
    // take replaces the text, and Undo reverses this. With the published text, the published outputs return.
    take(text, keeps = true) {
      if (current?.cell === this) stop();
      this.frame?.remove();
      this.editor = null;
      this.code.hidden = false;
      [this.before, this.text] = [this.text, text];
      if (text !== this.original) this.edit();
      else if (this.made !== this.published.made) {
        this.outputs.replaceChildren(...this.published.outputs.childNodes);
        this.made = this.published.made;
      }
      if (keeps) keep(this);
      this.say("");
      check();
    }

    begin() {
      // Charts stay live outside the page if they are in an element of the class cell.
      if (this.made === this.published.made) this.published.outputs = make("div", { className: "cell" }, ...this.outputs.childNodes);
      this.outputs.replaceChildren();
      this.made = needs(this, declared());
      this.displays = new Map();
      this.runs("Stop");
      check();
    }
    runs(text) { Object.assign(this.buttons.run, { textContent: text, ariaLabel: `${text}, ${this.name}` }); }
    end(text) {
      this.runs("Run");
      for (const block of this.outputs.querySelectorAll(":scope > .stderr")) {
        const shown = places(block.textContent, this);
        if (shown !== block.textContent) block.textContent = shown;
      }
      this.say(text);
    }
    print(fd, text) {
      const className = fd === 1 ? "stdout" : "stderr", last = this.outputs.lastElementChild;
      write(last?.className === className ? last : this.outputs.appendChild(make("pre", { className })), text);
    }
    lose(lines) { this.display({ id: "lost", block: make("pre", { className: "lost", textContent: more(lines) }) }); }
    display({ id, forms, block = render(forms) }) {
      const old = this.displays.get(id);
      old ? old.replaceWith(block) : this.outputs.append(block);
      if (id) this.displays.set(id, block);
    }
    fail(text) { this.outputs.append(make("pre", { className: "error", textContent: places(text, this) })); }
  }

  // What an output rests on: the cell's text, and the declarations in cells above that it uses, directly or through other declarations.
  const words = (text) => new Set(text.match(/[\p{L}_][\p{L}\p{N}_]*/gu));
  const declared = () => cells.map((cell) => {
    const code = cell.text.replace(/[ \t]*\/\/.*$/gm, "").split(/^%%/m)[0];
    return code.split(/^(?=(?:func|type|var|const)\b)/m).flatMap((p) => {
      const text = p.trim(), name = "[\\p{L}_][\\p{L}\\p{N}_]*";
      const found = text.matchAll(new RegExp(text.startsWith("func") ? `^func\\s*(?:\\([^)]*\\)\\s*)?(${name})` : text.startsWith("type") ? `^type\\s+(${name})`
        : `^(?:var|const|\\t)[ (]*(${name}(?:, *${name})*)`, "gmu"));
      return [...found].flatMap((m) => m[1].split(/, */)).map((name) => ({ cell, text, name, words: words(text) }));
    });
  });
  function needs(cell, parts) {
    const named = words(cell.text), used = [], above = Map.groupBy(parts.slice(0, cell.index).flat(), (p) => p.name);
    for (const word of named) {
      for (const p of above.get(word) ?? []) used.push(p), p.words.forEach((w) => named.add(w)); // the loop also reaches the added words
    }
    return { text: cell.text, used };
  }
  // check finds the outputs that rest on declarations that have changed since the outputs were made.
  function check() {
    const parts = declared();
    const without = (some, others) => some.filter((p) => !others.some((o) => o.text === p.text)).map((p) => p.cell);
    for (const cell of cells) {
      const { used } = needs(cell, parts);
      const since = cell.made.text === cell.text ? [...without(used, cell.made.used), ...without(cell.made.used, used)] : [];
      cell.because = cells.filter((c) => since.includes(c));
    }
    for (const cell of cells) cell.mark();
  }

  // difference marks the lines of the first text that the second lacks, and the lines that are new in the second.
  function difference(one, other) {
    const a = one.split("\n"), b = other.split("\n"), same = [...a, 0].map(() => new Uint32Array(b.length + 1));
    for (let i = a.length; i--;) for (let j = b.length; j--;) same[i][j] = a[i] === b[j] ? same[i + 1][j + 1] + 1 : Math.max(same[i + 1][j], same[i][j + 1]);
    const shown = make("pre", { className: "diff", tabIndex: 0, role: "group", ariaLabel: "Changes" });
    for (let i = 0, j = 0; i < a.length || j < b.length;) {
      if (i < a.length && a[i] === b[j]) shown.append(`  ${a[i++]}\n`, b[j++].slice(0, 0));
      else if (i < a.length && (j === b.length || same[i + 1][j] >= same[i][j + 1])) shown.append(make("del", { textContent: `- ${a[i++]}\n` }));
      else shown.append(make("ins", { textContent: `+ ${b[j++]}\n` }));
    }
    return shown;
  }

  // The page shows the changes in a link. Changed cells run only when the reader presses Run.
  const changes = () => new Map(cells.filter((c) => c.text !== c.original).map((c) => [c.id, c.text]));
  async function follow() {
    if (!location.hash.startsWith(linked) || location.hash.length > 100_000) return;
    const texts = await unpack(location.hash).catch(() => new Map());
    if (!texts.size) said.textContent = "The link is damaged, so it changes no cell.";
    const other = cells.filter((c) => texts.has(c.id) && texts.get(c.id) !== c.text);
    for (const cell of other) {
      cell.take(texts.get(cell.id), false);
      cell.compare(true);
      cell.say("changed by the link, not run yet");
    }
    other[0]?.root.scrollIntoView();
  }
  async function copy(cell, text) {
    try { await navigator.clipboard.writeText(text); cell.say("copied"); } catch { prompt("To copy:", text); }
  }
  // citation returns BibTeX that names the cell and the version of the engine.
  function citation(cell) {
    const about = (name, or) => document.querySelector(`meta[name="citation_${name}"]`)?.content || or;
    return `@misc{${notebook}-${cell.id},\n  title = {${about("title", document.title)}, ${cell.name}},\n  author = {{${about("author", "")}}},
  url = {${about("public_url", here())}#${cell.root.id}},\n  version = {${engine.manifest.url.split(".")[1]}},
  urldate = {${new Date().toISOString().slice(0, 10)}},\n}\n`;
  }

  // places replaces the names of cells in a text by words, and marks the lines that the text names.
  function places(text, here) {
    const found = [], said = placed(text, cells, here, ({ cell, line, rest }) => found.push({ cell, line, text: rest.replace(/^: /, "") }));
    for (const [cell, lines] of Map.groupBy(found, (f) => f.cell)) cell.editor?.mark(lines);
    return said;
  }

  // write adds text to a block as in a terminal. It draws an unfinished line again with each part that arrives.
  function write(block, text) {
    block.last ||= Object.assign(block.appendChild(make("span")), { text: "", codes: new Map() });
    const lines = (block.last.text + text).split("\n"), last = block.last.text = lines.pop();
    if (lines.length) block.last.before(...painted(lines.join("\n") + "\n", block.last.codes));
    block.last.replaceChildren(...painted(last, new Map(block.last.codes)));
  }
  function painted(text, style) {
    const seen = text.replace(/.*\r.*/g, (line) => line.split("\r").reduce((was, now) => now + was.slice(now.length)));
    return seen.replace(/\x1b\[[\d;?]*[A-Za-ln-z]/g, "").split(/\x1b\[([\d;]*)m/).map((part, i) => {
      if (i % 2 === 0) return style.size ? make("span", { className: [...style.values()].join(" "), textContent: part }) : part;
      for (const n of part.split(";").map(Number)) {
        const kind = Math.floor(n / 10) % 6, of = n % 10; // 3x and 9x colour the text, 4x and 10x its background
        if (!n) style.clear();
        else if (kind < 3) kind ? style.delete(of) : style.set(of, `ansi-${of}`);
        else if (of === 8) break; // 38 and 48 choose from larger palettes
        else of === 9 ? style.delete(-kind) : style.set(-kind, `ansi-${kind}${of}`);
      }
      return "";
    });
  }

  // The editor and Markdown are fetched when they are first needed. Without them, cells have a plain editor, and Markdown stays text.
  let fetched = null;
  const extras = () => fetched ||= new Promise((there) => {
    const { url, integrity } = engine.editor ?? {}, onload = () => there(window.mixpolicyEditor), onerror = onload;
    url ? document.head.append(make("script", { src: folder + url, integrity, onload, onerror })) : onload();
  });

  // render makes an element of the richest form of an output.
  function render(forms) {
    const { "text/html": html, "text/markdown": markdown, "image/svg+xml": svg, "image/png": png, "text/plain": plain = "" } = forms;
    const picture = (type, content) => make("img", { className: "figure", alt: plain || "a figure", src: `data:${type};base64,${content}` });
    if (html !== undefined) return make("div", { className: "html" }, document.createRange().createContextualFragment(html)); // its scripts run
    if (markdown) {
      const block = make("div", { className: "prose", textContent: markdown });
      extras().then((x) => {
        if (x) block.innerHTML = x.markdown(markdown);
        window.MathJax?.typesetPromise?.([block]);
      });
      return block;
    }
    if (svg) return picture("image/svg+xml", base64(new TextEncoder().encode(svg)));
    if (png) return picture("image/png", png);
    return make("pre", { className: "result", textContent: plain });
  }

  // run returns the engine, which reports on the running cell.
  const run = () => go ||= startEngine(engine.manifest, folder, { ...added }, ({ progress, stage, text, lost, display, files = {} }) => {
    if (!current || current.stopped) return;
    const { cell } = current;
    if (progress) cell.say(make("progress", { value: progress.loaded, max: progress.size, ariaLabel: "fetched" }), fetching(progress));
    if (stage) cell.say(stage);
    if (text) cell.print(text.fd, text.text);
    if (lost) cell.lose(lost);
    if (display) cell.display(display);
    for (const [name, bytes] of Object.entries(files)) {
      cell.outputs.append(Object.assign(button(`Download ${name}`, () => save(name, bytes)), { className: "file" }));
    }
  });

  function save(name, data, type) {
    const href = URL.createObjectURL(new Blob([data], { type }));
    make("a", { download: name, href }).click();
    setTimeout(() => URL.revokeObjectURL(href), 60_000);
  }
  // Files that the reader adds are in the folder where programs run, until the page is closed.
  const added = {};
  async function add({ target }) {
    for (const file of target.files) added[file.name] = new Uint8Array(await file.arrayBuffer());
    said.textContent = `Cells can read ${[...target.files].map((f) => f.name).join(", ")}: os.ReadFile(${JSON.stringify(target.files[0]?.name)})`;
    go?.add(added);
    target.value = "";
  }

  // names returns what may stand between two parts of a cell, once cells have run. Editing alone does not fetch the engine.
  const names = async (before, after) => seen.size ? go.ask("complete", before, after).catch(() => ({})) : {};

  function start(some) {
    const waiting = some.filter((cell) => (cell !== current?.cell || current.stopped) && !queue.includes(cell) && !cell.warns());
    for (const cell of waiting) cell.say("waiting");
    queue.push(...waiting);
    next();
  }
  // A cell needs the declarations above. If the session lacks the present text of an earlier cell, the text is added without being run.
  const seen = new Map();
  async function next() {
    if (current || !queue.length) return;
    const cell = queue.shift(), begin = performance.now(), ask = ({ id, text }) => ({ name: id, text }), asked = ask(cell);
    const before = cells.slice(0, cell.index).filter((c) => seen.get(c.id) !== c.text).map(ask);
    const now = current = { cell };
    cell.begin();
    cell.say("starting");
    const result = await run().run(asked, before);
    if (current !== now) return;
    if (!result.error) for (const { name, text } of [...before, asked]) seen.set(name, text);
    const { stopped } = now, ok = !result.error && result.code === 0 && !stopped;
    if (result.error && !stopped) cell.fail(result.error);
    else if (result.code > 0) cell.print(2, `exit status ${result.code}\n`);
    cell.end(stopped ? "stopped" : ok ? `${((performance.now() - begin) / 1000).toFixed(1)} s` : "failed");
    current = null;
    if (!ok && !stopped) clear(); // cells that were started after Stop do run
    next();
  }
  const clear = () => queue.splice(0).forEach((cell) => cell.say(""));
  function stop() {
    clear();
    if (!current) return;
    current.stopped = true;
    current.cell.end("stopped");
    go.stop();
  }
  function restart() {
    stop();
    go?.dismiss();
    go = current = null;
    seen.clear();
  }

  async function download() { // with the reader's texts, and without the outputs of the cells that the reader changed
    const file = await (await fetch(notebook + ".ipynb")).json(), texts = changes();
    for (const cell of file.cells.filter((c) => texts.has(c.id))) {
      Object.assign(cell, { source: texts.get(cell.id).split(/(?<=\n)/), outputs: [], execution_count: null });
    }
    save(notebook + ".ipynb", JSON.stringify(file, null, 1), "application/x-ipynb+json");
  }

  // With the service worker, the page and its parts are available without a network.
  addEventListener("load", async () => {
    try {
      await navigator.serviceWorker.register(new URL("../sw.js", folder));
      const { active } = await navigator.serviceWorker.ready;
      active.postMessage([here(), ...performance.getEntriesByType("resource").map((e) => e.name)]);
    } catch { /* the browser has none, or stores nothing */ }
  });

  const said = make("small", { role: "status" }); // in the bar
  document.addEventListener("readystatechange", () => { // the text has arrived; MathJax and ECharts may arrive much later
    const bar = document.querySelector(".bar"), why = location.protocol === "file:" ? "Cells run only if the page comes from a server: go run ./notebooks site --serve"
      : !window.WebAssembly || !Promise.withResolvers ? "This browser can't run the cells: it is older than 2024, or has no WebAssembly" : "";
    if (why) return document.querySelector(".door").replaceChildren(why);
    document.querySelectorAll("[data-cell]").forEach((root) => { if (root.querySelector(".highlight")) cells.push(new Cell(root, cells.length)); });
    if (!cells.length) return;
    const published = declared();
    for (const cell of cells) {
      cell.published = { made: cell.made = needs(cell, published) };
      cell.text = stored((s, key) => s.getItem(key), cell) ?? cell.text;
      if (cell.text !== cell.original) cell.edit();
    }
    check();
    const file = make("input", { type: "file", multiple: true, onchange: add });
    const all = button("Run all", () => start(cells), "Run every cell, in order"), adds = button("Add a file", () => file.click(), "that cells can read");
    document.getElementById("code").before(all, button("Restart", restart, "Stop, and forget what the cells have declared and saved"), adds);
    bar.append(said);
    const title = "The notebook in JupyterLab, in this browser";
    if (lite) bar.querySelector("nav").append(make("a", { href: lite, title, textContent: "JupyterLite" }));
    bar.querySelector("a[download]")?.addEventListener("click", (e) => { e.preventDefault(); download(); });
    follow();
    addEventListener("hashchange", follow);
  }, { once: true });
})();
