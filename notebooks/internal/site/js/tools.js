"use strict";
// The worker that runs cells. It keeps the engine and the session, which is what was declared, and has others do what
// takes long: one compiles and links, one draws, and each program has its own. The page starts them
// (host.js): this one hears it all the time. It is told
//
//	{call: "run", engine, name, text, before}  run a cell; engine is the manifest, before are the cells above that the
//	                                           session has not seen, as {name, text}
//	{call: "stop"}                             stop it
//	{call: "add", added}                       files of the reader's, by their names, that programs find
//	{call: "ask", engine, what, before, after} complete or inspect the name between two parts of a cell
//	{from, message} or {from, error}           what the worker with this number says, or why it failed
//
// and tells, while a cell runs, {progress: {loaded, size}} of downloads, in bytes; {stage}, in words; {text: {fd, text}};
// {display: {id, data}}, where data has a MIME type and its content in turn; {files: {name: bytes}} that the program
// wrote; the {answer} to a question; and in the end {result}: {error} if the cell did not become part of the session,
// else {code, times}, with code -1 if it was stopped. To a worker it says {to, start}, with the address of its script,
// then {to, message, transfer}, and {to, end}.
(() => {
  const folder = self.location.href.replace(/[^/]*$/, "");
  const plotting = "github.com/mixpolicy/lab/plotting";
  let engine, composer, completer, halt = null, program = null, asking = Promise.resolve();
  const kept = []; // the session's cells that the completer has not been told
  const held = new Map(); // archives that the completer reads
  const files = {}; // that cells have written
  const archives = new Map(); // what was fetched, or is on its way
  const modules = new Map(); // of the tools, compiled
  const tables = new Map(); // files of data/
  const made = new Map(); // the latest programs, by their source
  const progress = { loaded: 0, size: 0 };

  // load gets a file of the engine, which the browser checks against its hash.
  async function load(file, type) {
    progress.size += file.bytes;
    for (const cache of ["default", "reload"]) { // a second time past the cache
      try {
        const response = await fetch(folder + file.url, { integrity: file.integrity, cache });
        if (!response.ok) throw new Error(response.status);
        // The browser has unpacked it if the server says that it is packed. Only then does Chromium
        // keep the machine code that it makes of it for the next visit.
        const unpacked = /gzip/.test(response.headers.get("Content-Encoding"));
        if (unpacked && response.headers.get("Content-Type") === type) return response;
        return new Response(unpacked ? response.body : response.body.pipeThrough(new DecompressionStream("gzip")), { headers: { "Content-Type": type } });
      } catch (error) {
        if (cache === "reload") throw new Error(`${file.url} could not be fetched, or is not what was published (${error.message}). ${error.message === "404" ? "The site has changed since: reload the page." : "Run the cell to try again."}`);
      }
    }
  }
  // What is going on is told by one of these: of downloads only while nothing else goes on.
  let waits = false;
  function loaded(file) {
    progress.loaded += file.bytes;
    if (waits) postMessage({ progress });
  }
  function stage(text) {
    waits = false;
    postMessage({ stage: text });
  }
  // once gives what get makes of the key, which it makes again only if it failed.
  function once(map, key, get) {
    if (!map.has(key)) {
      map.set(key, get());
      map.get(key).catch(() => map.delete(key));
    }
    return map.get(key);
  }
  const tool = (name) => once(modules, name, async () => {
    const file = engine.tools[name], module = await WebAssembly.compileStreaming(load(file, "application/wasm"));
    loaded(file);
    return module;
  });
  const archive = (path) => once(archives, path, async () => {
    const file = engine.packages[path], blob = await (await load(file, "application/octet-stream")).blob();
    loaded(file);
    return blob;
  });

  // spawn has the page start a worker, and pass on what is said.
  const workers = new Map();
  let last = 0;
  function spawn({ url }) {
    const to = ++last, worker = {
      postMessage(message, transfer = []) { if (workers.has(to)) postMessage({ to, message, transfer }, transfer); },
      terminate() { if (workers.delete(to)) postMessage({ to, end: true }); },
    };
    workers.set(to, worker);
    postMessage({ to, start: folder + url });
    return worker;
  }

  // A helper is a worker that answers calls in their order. What it is when it is thrown away comes back with the
  // next call.
  class Helper {
    constructor(script) { Object.assign(this, { script, had: new Set(), waiting: [] }); }
    start() {
      const worker = spawn(engine[this.script]);
      worker.onmessage = ({ data }) => this.waiting.shift()(data);
      worker.onerror = (e) => this.stop(worker.failed = e.message);
      return worker;
    }
    ask(worker, message, transfer) {
      return new Promise((end) => { this.waiting.push(end); worker.postMessage(message, transfer); });
    }
    // call makes sure that the helper has its module first.
    async call(message, name, transfer) {
      const worker = this.worker ||= this.start(), module = await tool(name);
      if (this.worker !== worker) throw new Error(worker.failed ?? "stopped");
      if (!this.had.has(name)) {
        this.had.add(name);
        this.ask(worker, { call: "module", name, module });
      }
      const { error, value } = await this.ask(worker, message, transfer);
      if (error !== undefined) throw new Error(error);
      return value;
    }
    stop(error = "stopped") {
      this.worker?.terminate();
      this.worker = null;
      this.had.clear();
      for (const end of this.waiting.splice(0)) end({ error });
    }
  }
  const builder = new Helper("build"), drawer = new Helper("draw");

  async function compose() {
    const module = await tool("composer"), go = new Go();
    go.run(await WebAssembly.instantiate(module, go.importObject)); // it stays
    cells.open(importable());
  }
  function importable() {
    const packages = Object.entries(engine.packages).filter(([path]) => !/(^|\/)(internal|vendor)(\/|$)/.test(path));
    return JSON.stringify(Object.fromEntries(packages.map(([path, p]) => [path, p.name])));
  }
  // keep makes the cell that was composed last part of the session.
  function keep({ name, text }) {
    cells.keep();
    kept.push({ name, text });
  }

  // needed are the packages and all that they import.
  function needed(paths) {
    const found = new Set(), left = [...paths, "runtime"];
    while (left.length) {
      const path = left.pop();
      if (found.has(path) || !engine.packages[path]) continue; // unsafe has none
      found.add(path);
      left.push(...engine.packages[path].imports ?? []);
    }
    return [...found];
  }

  // build makes the program of a cell, and its declarations part of the session, which has those of the cells before.
  async function build(cell, keeps, going) {
    if (made.has(cell.source)) {
      keeps();
      return { module: made.get(cell.source), times: {} };
    }
    const paths = needed(cell.imports), begun = performance.now();
    if (cell.imports.includes(plotting)) tool("drawer").catch(() => {}); // it is asked for again
    const [...fetched] = await Promise.all([...paths.map(archive), tool("compile")]);
    going();
    stage("compiling");
    const begin = performance.now(), missing = paths.map((path, i) => [path, fetched[i]]).filter(([path]) => !builder.had.has("/" + path));
    const compiled = builder.call({ call: "compile", source: cell.source, paths, archives: missing }, "compile");
    for (const [path] of missing) builder.had.add("/" + path);
    await compiled;
    going();
    keeps();
    const middle = performance.now(), bytes = await builder.call({ call: "link" }, "link");
    going();
    const end = performance.now(), module = await WebAssembly.compile(bytes);
    going();
    made.set(cell.source, module);
    if (made.size > 8) made.delete(made.keys().next().value);
    return { module, times: { fetch: begin - begun, compile: middle - begin, link: end - middle, load: performance.now() - end } };
  }

  // execute runs the program, and ends with its exit code.
  async function execute(module, { args, env, said }) {
    if (said) postMessage({ text: { fd: 1, text: said } });
    let end;
    const worker = spawn(engine.cell), code = new Promise((ended) => { end = ended; });
    const hear = cells.listen((id, ...data) => postMessage({ display: { id, data } }), (bytes) => worker.postMessage({ reply: bytes }));
    const running = program = {
      finish(code) {
        worker.terminate();
        program = null;
        end(code);
        hear(null);
      },
    };
    worker.onerror = (e) => { postMessage({ text: { fd: 2, text: e.message + "\n" } }); running.finish(2); };
    worker.onmessage = ({ data }) => {
      if (data.pipe) return hear(data.pipe);
      if (data.text || data.display) return postMessage(data);
      if (data.order) return draw(running, worker, data.order);
      if (data.want) return give(worker, data.want);
      if (Object.keys(data.files).length) postMessage({ files: data.files });
      Object.assign(files, data.files);
      running.finish(data.exit);
    };
    worker.postMessage({ program: module, args, env, files, names: Object.keys(engine.data) });
    return code;
  }
  // give gives a program a file of data/.
  async function give(worker, name) {
    let given;
    try { given = { bytes: await once(tables, name, async () => new Uint8Array(await (await load(engine.data[name], "application/octet-stream")).arrayBuffer())) }; } catch (error) {
      given = { error: error.message };
    }
    worker.postMessage({ given: { name, ...given } });
  }
  async function draw(running, worker, order) {
    let drawn;
    waits = true;
    try { drawn = { value: await drawer.call({ call: "draw", order }, "drawer", [order.buffer]) }; } catch (error) {
      drawn = { error: error.message };
      drawer.stop();
    }
    if (program !== running) return; // it was stopped
    stage("running");
    worker.postMessage({ drawn });
  }

  async function runCell({ engine: manifest, name, text, before }, going) {
    waits = true;
    engine ||= await (await load(manifest, "application/json")).json();
    tool("compile").catch(() => {}); // these are waited for where they are needed
    tool("link").catch(() => {});
    await (composer ||= compose().catch((error) => { composer = null; throw error; }));
    going();
    for (const cell of before) {
      const { error } = cells.compose(cell.name, cell.text);
      if (error) return { error };
      keep(cell);
    }
    const begin = performance.now(), cell = cells.compose(name, text);
    if (cell.error) return cell;
    const composed = performance.now() - begin;
    const { module, times } = await build(cell, () => keep({ name, text }), going);
    stage("running");
    const ran = performance.now(), code = await execute(module, cell);
    return { code, times: { compose: composed, ...times, run: performance.now() - ran } };
  }

  // answer has the completer complete or inspect a name. It is fetched when it is first asked, and packages that it misses.
  async function answer({ engine: manifest, what, before, after }) {
    engine ||= await (await load(manifest, "application/json")).json();
    await (completer ||= tool("completer").then(async (module) => {
      const go = new Go();
      go.run(await WebAssembly.instantiate(module, go.importObject)); // it stays
      names.open(importable());
    }).catch((error) => { completer = null; throw error; }));
    for (const { name, text } of kept.splice(0)) names.keep(name, text);
    for (;;) {
      const answer = names[what](before, after, (path) => held.get(path) ?? null);
      const missing = answer.missing.filter((path) => engine.packages[path] && !held.has(path));
      if (!missing.length) return answer;
      await Promise.all(missing.map(async (path) => held.set(path, new Uint8Array(await (await archive(path)).arrayBuffer()))));
    }
  }

  const calls = {
    // run ends at once if it is stopped, wherever it is.
    run(cell) {
      let stopped = false, kept = false;
      const work = runCell(cell, () => { if (stopped) throw new Error("stopped"); });
      const end = new Promise((end) => {
        halt = () => {
          stopped = true;
          if (builder.waiting.length) builder.stop();
          if (drawer.waiting.length) drawer.stop();
          kept = !!program;
          end(kept ? { code: -1 } : { error: "stopped" });
          program?.finish(-1);
        };
      });
      return Promise.race([work, end]);
    },
    stop() { halt?.(); },
    add({ added }) { Object.assign(files, added); },
    ask(question) { return asking = asking.catch(() => {}).then(() => answer(question)); }, // answers come in the order of questions
  };
  async function obey(data) {
    let result;
    try { result = await calls[data.call](data); } catch (error) { result = { error: error.message }; }
    if (data.call === "run") {
      halt = null;
      postMessage({ result });
    }
    if (data.call === "ask") postMessage({ answer: result });
  }
  onmessage = ({ data }) => {
    if (!data.from) return void obey(data);
    const worker = workers.get(data.from); // none for what it said before it was ended
    if (data.error) worker?.onerror({ message: data.error });
    else worker?.onmessage({ data: data.message });
  };
})();
