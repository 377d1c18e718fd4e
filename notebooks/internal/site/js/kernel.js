// The kernel of JupyterLite: the engine of pages behind Jupyter's messages, in a container of module federation, as JupyterLab loads it.
(() => {
  const engine = ENGINE; // the builder puts it here: {manifest, name, notebooks}
  const folder = new URL("../../../../go/", document.currentScript.src).href;
  const kernels = new Map(); // by their ids

  // A link to a page of the edition, which is not a file of JupyterLite, leads to the page of the site.
  addEventListener("click", (e) => {
    const page = e.target.closest?.("a[href]")?.href.match(/\/build\/([^/?#]+\.html)(?:\?[^#]*)?(#.*)?$/);
    if (!page) return;
    e.preventDefault();
    e.stopImmediatePropagation();
    window.open(new URL("../" + page[1] + (page[2] ?? ""), folder));
  }, true);

  // shipped returns the cells of the site's own notebook with this path. Their texts may be lists of lines.
  const shipped = async (path) => (await (await fetch(new URL("../lite/files/" + encodeURIComponent(path), folder))).json()).cells;
  const whole = (v) => Array.isArray(v) ? v.join("") : v;

  // trusting removes marks of trust from a notebook. JupyterLab runs scripts in the outputs of cells with such a mark, and
  // whoever writes a notebook can set the mark. A cell that the site ships keeps its mark as long as its outputs are the site's.
  const trusting = async (file) => {
    const marked = Object.values(file.content?.cells ?? {}).filter((c) => c.metadata?.trusted);
    if (!marked.length) return file;
    const shown = ({ outputs }) => JSON.stringify(outputs?.map((o) => Object.entries(o.data ?? {}).map(([type, v]) => [type, whole(v)]).sort()));
    const ours = engine.notebooks.includes(file.path) ? await shipped(file.path) : [];
    for (const c of marked) c.metadata.trusted = ours.some((o) => o.id === c.id && o.metadata.trusted && shown(o) === shown(c));
    return file;
  };

  // meet copies the texts that the reader has changed on the page into the notebook, if the reader comes from the page. A button leads
  // back to the page, which shows the texts that differ from its own. Neither the copying nor the button runs a cell.
  let sent = location.hash === "#mine" && new URLSearchParams(location.search).get("path");
  async function meet({ context: { path, model }, toolbar, revealed }, Button) {
    if (!engine.notebooks.includes(path)) return;
    const page = path.replace(/\.ipynb$/, ""), published = new Map((await shipped(path)).map((c) => [c.id, whole(c.source)]));
    const there = (c) => localStorage.getItem(`cell ${page} ${c.id}`) ?? published.get(c.id), here = (c) => c.sharedModel.getSource();
    const differing = () => [...model.cells].filter((c) => c.type === "code" && published.has(c.id) && here(c) !== there(c));
    await revealed;
    for (const cell of path === sent ? differing() : []) {
      const text = there(cell), was = published.get(cell.id);
      if (text === was || here(cell) !== was && !confirm(`Replace your changed text of this cell with the text from the page?\n\n${here(cell)}`)) continue;
      cell.sharedModel.setSource(text);
      cell.clearExecution();
    }
    if (path === sent) sent = "";
    async function onClick() {
      const texts = differing().map((c) => [c.id, here(c)]), link = texts.length ? await pack(texts) : "";
      window.open(new URL(`../${encodeURIComponent(page)}.html${link}`, folder));
    }
    toolbar.addItem("page", new Button({ label: "Show on the page", tooltip: "Open the page of this notebook, with the changes that I have made here", onClick }));
  }

  // makeKernel returns the class of kernels. Each kernel has a separate session, and workers from its first cell on.
  const makeKernel = (BaseKernel, contents) => class extends BaseKernel {
    cells = new Map(); // cells that were run, by their names in the engine
    busy = Promise.resolve(); // resolved when the engine has finished the last cell
    had = new Map(); // times of the last change of the files that programs find, by their names

    dispose() {
      kernels.delete(this.id);
      this.go?.dismiss();
      super.dispose();
    }
    async kernelInfoRequest() {
      const modes = { codemirror_mode: "go", pygments_lexer: "go", nbconvert_exporter: "" };
      const language_info = { name: "go", version: "", mimetype: "text/x-go", file_extension: ".go", ...modes };
      const about = { implementation: "mixpolicy", implementation_version: "1", banner: "Go, compiled and run in the browser", help_links: [] };
      return { status: "ok", protocol_version: "5.3", language_info, ...about };
    }
    async isCompleteRequest() { return { status: "unknown" }; }

    get engine() { return this.go ||= startEngine(engine.manifest, folder, {}, (told) => this.hear(told)); }

    executeRequest({ code: text }) {
      const count = this.executionCount, given = this.parent?.metadata?.cellId, id = /^[\w-]+$/.test(given ?? "") ? given : `cell-${count}`;
      const cell = this.cell = { id, text, name: `cell [${count}]`, progress: `progress ${id}`, lost: 0, line: "", places: new Set(), displays: new Set() };
      this.cells.set(id, cell);
      const reply = new Promise((end) => { cell.end = (content) => { cell.ended = true; end({ execution_count: count, ...content }); }; });
      // The engine may still be compiling an interrupted cell.
      this.busy = this.busy.then(async () => {
        this.engine.add(await this.since().catch(() => ({}))); // without the list, programs do not find new files
        if (cell.ended) return;
        this.running = cell;
        const result = await this.engine.run({ name: id, text }, []);
        if (!cell.ended) this.finish(cell, result);
      });
      return reply;
    }
    interrupt() {
      if (!this.cell || this.cell.ended) return;
      this.engine.stop();
      this.clear(this.cell);
      this.fail(this.cell, "interrupted", "the cell was stopped", []);
    }
    fail(cell, ename, evalue, traceback) {
      const error = { ename, evalue, traceback: [[ename, evalue].filter(Boolean).join(": "), ...traceback, ...cell.places] };
      this.publishExecuteError(error);
      cell.end({ status: "error", ...error });
    }

    // ask asks about the name at the cursor, whose position Jupyter counts in characters.
    ask(what, code, cursor) {
      const characters = [...code];
      return this.engine.ask(what, characters.slice(0, cursor).join(""), characters.slice(cursor).join("")).catch(() => ({}));
    }
    async completeRequest({ code, cursor_pos: end }) {
      const { prefix = "", found = "[]" } = await this.ask("complete", code, end), start = end - [...prefix].length, names = JSON.parse(found);
      return {
        status: "ok", matches: names.map(({ name }) => name), cursor_start: start, cursor_end: end,
        metadata: { _jupyter_types_experimental: names.map(({ name, kind, type }) => ({ text: name, type: kind, signature: type, start, end })) },
      };
    }
    async inspectRequest({ code, cursor_pos }) {
      const { text } = await this.ask("inspect", code, cursor_pos);
      return { status: "ok", found: !!text, data: text ? { "text/plain": text } : {}, metadata: {} };
    }

    hear({ progress, stage, text, lost = 0, display, files }) {
      const { running: cell } = this;
      if (!cell || cell.ended) return;
      cell.shows ||= !!(text || display);
      if (progress) this.say(cell, fetching(progress));
      if (stage === "running") this.clear(cell);
      else if (stage && cell.displays.has(cell.progress)) this.say(cell, stage);
      if (text?.fd === 1) this.stream({ name: "stdout", text: text.text });
      if (text?.fd === 2) this.trace(cell, text.text);
      if (lost) cell.lost = lost;
      if (display) this.show(cell, display);
      if (files) this.save(files);
    }
    finish(cell, { error, code }) {
      this.clear(cell);
      this.trace(cell, "\n".slice(0, cell.line.length)); // a last line that lacks its line break
      if (cell.lost) this.stream({ name: "stderr", text: more(cell.lost) + "\n" });
      if (error) {
        const [first, ...rest] = this.places(cell, error).trimEnd().split("\n");
        this.fail(cell, "error", first, rest);
      } else if (code) this.fail(cell, `exit status ${code}`, cell.panic || "", []);
      else cell.end({ status: "ok", user_expressions: {} });
    }

    // say shows the progress of the engine while the cell has no output, because clearing the progress clears all outputs.
    say(cell, text) { if (!cell.shows) this.show(cell, { id: cell.progress, forms: { "text/plain": text } }); }
    clear(cell) { if (cell.displays.delete(cell.progress)) this.clearOutput({ wait: false }); }
    // trace prints whole lines of stderr, with the places in cells that they name.
    trace(cell, text) {
      const lines = (cell.line + text).split("\n");
      cell.line = lines.pop();
      for (const line of lines) {
        if (/^(panic|fatal error): /.test(line)) cell.panic ||= line;
        this.stream({ name: "stderr", text: this.places(cell, line) + "\n" });
      }
    }
    // places replaces the names of cells in a text by words, and keeps the lines that the text names.
    places(here, text) {
      return placed(text, this.cells.values(), here, ({ cell, line, place }) => here.places.add(`  ${place}: ${cell.text.split("\n")[line - 1].trim()}`));
    }
    show(cell, { id, forms }) {
      const data = Object.fromEntries(Object.entries(forms).map(([type, text]) => [type, /json$/.test(type) ? JSON.parse(text) : text]));
      const content = { data, metadata: {}, transient: id ? { display_id: id } : {} };
      if (cell.displays.has(id)) this.updateDisplayData(content);
      else this.displayData(content);
      if (id) cell.displays.add(id);
    }

    // Files that cells save appear in the list of files, and cells can read files that the reader puts there.
    async since() {
      const added = {};
      for (const { path, type, last_modified } of (await contents.get("")).content) {
        if (type !== "file" || this.had.get(path) === last_modified) continue;
        this.had.set(path, last_modified);
        const { content, format } = await contents.get(path, { content: true });
        added[path] = format === "base64" ? unbase64(content) : new TextEncoder().encode(content);
      }
      return added;
    }
    async save(files) {
      for (const [name, bytes] of Object.entries(files)) {
        let file = { format: "base64", content: base64(bytes) };
        try { file = { format: "text", content: new TextDecoder("utf-8", { fatal: true }).decode(bytes) }; } catch { /* it is not text */ }
        await contents.save(name, { name, path: name, type: "file", ...file });
      }
    }
  };

  async function load(scope) {
    const shared = async (name) => (await Object.values(scope[name])[0].get())();
    const { BaseKernel, IKernelClient, IKernelSpecs } = await shared("@jupyterlite/services");
    const { ToolbarButton } = await shared("@jupyterlab/ui-components");
    return {
      id: `${engine.name}:plugin`, autoStart: true, requires: [IKernelSpecs, IKernelClient],
      activate(app, specs, client) {
        const { contents } = app.serviceManager, get = contents.get.bind(contents), Kernel = makeKernel(BaseKernel, contents);
        app.docRegistry.addWidgetExtension("Notebook", { createNew: (panel) => { meet(panel, ToolbarButton); } });
        contents.get = async (...request) => trusting(await get(...request));
        specs.register({
          spec: { name: "gonb", display_name: "Go", language: "go", argv: [], resources: {} },
          create: async (options) => kernels.set(options.id, new Kernel(options)).get(options.id),
        });
        // On an interrupt, JupyterLite drops the waiting cells, and does not tell the kernel.
        const interrupt = client.interrupt.bind(client);
        client.interrupt = (id) => interrupt(id).then(() => kernels.get(id)?.interrupt());
      },
    };
  }
  let scope, plugin;
  (window._JUPYTERLAB ||= {})[engine.name] = {
    init(shared) { scope = shared; },
    async get(module) {
      const loaded = module === "./style" ? {} : { __esModule: true, default: await (plugin ||= load(scope)) };
      return () => loaded;
    },
  };
})();
