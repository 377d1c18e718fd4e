"use strict";
// The worker that makes programs of cells and runs them, each in a worker of its own. It keeps the
// compiler and the linker, and the session: what was declared.
(() => {
  const folder = self.location.href.replace(/[^/]*$/, "");
  let engine, compile, link, ready, completing, running = null, stopped = false, asking = Promise.resolve();
  const kept = []; // the session's cells that the completer has not been told
  const files = {}; // that cells have written
  const archives = new Map(); // what is in the file system, or on its way there
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
        if (response.headers.get("Content-Encoding") === "gzip") return response;
        return new Response(response.body.pipeThrough(new DecompressionStream("gzip")), { headers: { "Content-Type": type } });
      } catch (error) {
        if (cache === "reload") throw new Error(`${file.url} could not be fetched, or is not what was published (${error.message}). Run the cell to try again.`);
      }
    }
  }
  function loaded(file) {
    progress.loaded += file.bytes;
    postMessage({ progress });
  }
  async function program(file) {
    const module = await WebAssembly.compileStreaming(load(file, "application/wasm"));
    loaded(file);
    return module;
  }
  function archive(path) {
    if (!archives.has(path)) {
      const file = engine.packages[path];
      archives.set(path, load(file, "application/octet-stream").then(async (response) => {
        fs.put("/pkg/" + path + ".a", new Uint8Array(await response.arrayBuffer()));
        loaded(file);
      }));
      archives.get(path).catch(() => archives.delete(path));
    }
    return archives.get(path);
  }

  async function start() {
    const { compile: c, link: l, composer } = engine.tools;
    const [a, b, composing] = await Promise.all([program(c), program(l), program(composer)]);
    [compile, link] = [a, b];
    const go = new Go();
    go.run(await WebAssembly.instantiate(composing, go.importObject)); // it stays
    cells.open(importable());
  }
  function importable() {
    const packages = Object.entries(engine.packages).filter(([path]) => !/(^|\/)(internal|vendor)(\/|$)/.test(path));
    return JSON.stringify(Object.fromEntries(packages.map(([path, p]) => [path, p.name])));
  }
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

  // tool runs the compiler or the linker, and gives what it said if it failed.
  async function tool(module, ...args) {
    const said = [], decoder = new TextDecoder();
    fs.print = (_, bytes) => said.push(decoder.decode(bytes, { stream: true }));
    const code = await run(module, args, { TMPDIR: "/tmp" });
    return code ? said.join("") || `${args[0]} ended with exit code ${code}` : "";
  }

  // build makes the program of a cell, after taking the declarations of those before it that the session has not seen.
  async function build({ name, text, before }) {
    for (const cell of before) {
      const { error } = cells.compose(cell.name, cell.text);
      if (error) return { error };
      keep(cell);
    }
    const cell = cells.compose(name, text);
    if (cell.error) return cell;
    const paths = needed(cell.imports), begun = performance.now();
    await Promise.all(paths.map(archive));
    fs.put("/cell/main.go", cell.source);
    fs.put("/cell/importcfg", paths.map((path) => `packagefile ${path}=/pkg/${path}.a\n`).join(""));
    postMessage({ stage: "compiling" });
    const begin = performance.now();
    let error = await tool(compile, "compile", "-p", "main", "-importcfg", "/cell/importcfg", "-complete", "-pack", "-c=1", "-trimpath", "/cell", "-o", "/cell/main.a", "/cell/main.go");
    if (error) return { error };
    keep({ name, text });
    const middle = performance.now();
    error = await tool(link, "link", "-importcfg", "/cell/importcfg", "-s", "-w", "-buildmode=exe", "-o", "/cell/main.wasm", "/cell/main.a");
    if (error) return { error };
    return { ...cell, program: fs.get("/cell/main.wasm"), times: { fetch: begin - begun, compile: middle - begin, link: performance.now() - middle } };
  }

  // execute runs the program, and ends with its exit code, or -1 if it was stopped.
  function execute({ program, args, env, said }) {
    if (said) postMessage({ text: { fd: 1, text: said } });
    return new Promise((end) => {
      let worker, late;
      const hear = cells.listen((id, ...data) => postMessage({ display: { id, data } }), (bytes) => worker.postMessage({ reply: bytes }));
      function finish(code) {
        clearTimeout(late);
        worker.terminate();
        running = null;
        hear(null);
        end(code);
      }
      running = () => finish(-1);
      function hearCell({ data }) {
        if (data.begun) {
          clearTimeout(late);
          return worker.postMessage({ program, args, env, files });
        }
        if (data.pipe) return hear(data.pipe);
        if (data.text) return postMessage(data);
        if (Object.keys(data.files).length) postMessage({ files: data.files });
        Object.assign(files, data.files);
        finish(data.exit);
      }
      // Firefox sometimes never begins a worker that another one makes. Then another is made.
      (function begin() {
        worker?.terminate();
        worker = new Worker(folder + engine.cell.url);
        worker.onerror = (e) => { postMessage({ text: { fd: 2, text: e.message + "\n" } }); finish(2); };
        worker.onmessage = hearCell;
        late = setTimeout(begin, 2000);
      })();
    });
  }

  // answer has the completer complete or inspect a name. It is fetched when it is first asked, and packages that it misses.
  async function answer({ engine: manifest, what, before, after }) {
    engine ||= await (await load(manifest, "application/json")).json();
    completing ||= program(engine.tools.completer).then(async (module) => {
      const go = new Go();
      go.run(await WebAssembly.instantiate(module, go.importObject));
      names.open(importable());
    });
    try { await completing; } catch (error) { completing = null; throw error; }
    for (const { name, text } of kept.splice(0)) names.keep(name, text);
    const fetched = new Set(), held = (path) => {
      try { return fs.get(`/pkg/${path}.a`); } catch { return null; }
    };
    for (;;) {
      const answer = names[what](before, after, held), missing = answer.missing.filter((path) => engine.packages[path] && !fetched.has(path));
      if (!missing.length) return answer;
      for (const path of missing) fetched.add(path);
      await Promise.all(missing.map(archive));
    }
  }

  const calls = {
    async run(cell) {
      stopped = false;
      engine ||= await (await load(cell.engine, "application/json")).json();
      ready ||= start();
      try { await ready; } catch (error) { ready = null; throw error; }
      const built = await build(cell);
      if (built.error) return { error: built.error };
      if (stopped) return { code: -1 };
      postMessage({ stage: "running" });
      return { code: await execute(built), times: built.times };
    },
    stop() { stopped = true; running?.(); },
    ask(question) { return asking = asking.catch(() => {}).then(() => answer(question)); }, // answers come in the order of questions
    tell({ address, value }) { if (running) cells.tell(address, value); },
  };
  onmessage = async ({ data }) => {
    let result;
    try { result = await calls[data.call](data); } catch (error) { result = { error: error.message }; }
    if (data.call === "run") postMessage({ result });
    if (data.call === "ask") postMessage({ answer: result });
  };
})();
