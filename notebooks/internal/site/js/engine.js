"use strict";
// What pages and the kernel of JupyterLite share: above all the engine, which fetches nothing before its first call.
const fetching = ({ loaded, size }) => `fetching Go: ${(loaded / 1e6).toFixed(1)} of ${(size / 1e6).toFixed(1)} MB`;
const more = (lines) => `… and ${lines.toLocaleString("en")} more lines`;
// placed replaces the names of cells in errors and traces by words. It passes each place, and the text after it, to found.
function placed(text, cells, here, found) {
  for (const cell of cells) {
    text = text.replaceAll(new RegExp(`(?:/cell/)?\\b${cell.id}:(\\d+)(?::\\d+)?(.*)`, "g"), (_, n, rest) => {
      const line = Math.min(n, cell.text.split("\n").length), place = `${cell === here ? "" : cell.name + ", "}line ${line}`;
      found({ cell, line, place, rest });
      return place + rest;
    });
  }
  return text;
}

// A link to changes contains the texts of the changed cells, by their ids, packed after the #.
const linked = "#change=";
const base64 = (bytes) => btoa(Array.from(bytes, (b) => String.fromCharCode(b)).join(""));
const unbase64 = (code) => Uint8Array.from(atob(code), (c) => c.charCodeAt(0));
const piped = (bytes, stream) => new Response(new Blob([bytes]).stream().pipeThrough(stream));
async function pack(texts) {
  const packed = new Uint8Array(await piped(JSON.stringify(Object.fromEntries(texts)), new CompressionStream("deflate-raw")).arrayBuffer());
  return linked + base64(packed).replace(/[+/=]/g, (c) => ({ "+": "-", "/": "_" })[c] ?? "");
}
async function unpack(hash) {
  const code = hash.slice(linked.length).replace(/[-_]/g, (c) => ({ "-": "+", _: "/" })[c]);
  const texts = await piped(unbase64(code), new DecompressionStream("deflate-raw")).json();
  return new Map(Object.entries(texts).filter(([, text]) => typeof text === "string" && text.length < 50_000));
}

// outcome resolves to {value}, or to {error} with the error's message.
const outcome = (promise) => promise.then((value) => ({ value }), ({ message }) => ({ error: message }));

// startEngine returns an engine, from the manifest in the folder. Programs can read files. While a cell runs, the engine calls tell
// with {progress: {loaded, size}} of downloads, in bytes; {stage}, in words; {text: {fd, text}}; {lost}, the number of lines that were
// too many; {display: {id, forms}}, with forms by their MIME types; and {files: {name: bytes}} that the program wrote. The engine keeps
// what it fetched. One worker holds the session, one compiles and links, one draws, and each program has a worker of its own.
function startEngine(manifest, folder, files, tell) {
  const plotting = "github.com/mixpolicy/lab/plotting";
  const kept = new Map(); // what was fetched, or is being fetched, by its name
  // once returns what get returns for the key. It calls get again only if get failed.
  const once = (key, get) => kept.get(key) ?? kept.set(key, get().catch((error) => (kept.delete(key), Promise.reject(error)))).get(key);
  const made = new Map(); // the latest programs, by their source
  const downloads = new Map(); // {loaded, size}, in bytes, by the addresses of the files
  let engine, halt = null, program = null, waits = false; // waits is true while only downloads go on

  function stage(text) {
    waits = false;
    for (const [url, { loaded }] of downloads) if (!loaded) downloads.delete(url); // of files that only seemed to be needed
    tell({ stage: text });
  }
  function arrived(files, part = 0) {
    for (const { url, bytes: size } of files) downloads.set(url, { size, loaded: part * size || downloads.get(url)?.loaded || 0 });
    const [loaded, size] = ["loaded", "size"].map((what) => [...downloads.values()].reduce((sum, d) => sum + d[what], 0));
    if (waits && engine && loaded < size) tell({ progress: { loaded, size } });
  }

  // load fetches a file of the engine, which the browser checks against its hash. The file's name changes with its content.
  async function load(file, type, cache = "force-cache") {
    arrived([file]);
    const end = new AbortController();
    if (file.bytes > 1e6) setTimeout(() => count(file, end.signal).catch(() => {}), 300);
    const got = await outcome(fetch(folder + file.url, { integrity: file.integrity, cache })), response = got.value;
    const error = got.error ?? (response.ok ? "" : response.status);
    end.abort();
    if (error && cache !== "reload") return load(file, type, "reload"); // past the cache
    const next = error === 404 ? "The site has changed since the page was loaded: reload the page." : "Run the cell to try again.";
    if (error) throw new Error(`${file.url} could not be fetched, or is not what was published (${error}). ${next}`);
    arrived([file], 1);
    // Chromium keeps a file's machine code only if the server declares the file as packed, and the browser unpacks it.
    const unpacked = /gzip/.test(response.headers.get("Content-Encoding"));
    if (unpacked && response.headers.get("Content-Type") === type) return response;
    return new Response(unpacked ? response.body : response.body.pipeThrough(new DecompressionStream("gzip")), { headers: { "Content-Type": type } });
  }
  // count fetches a large file a second time to see its progress, because a checked file arrives as a whole. The browser's cache serves both fetches.
  async function count(file, signal) {
    const response = await fetch(folder + file.url, { signal }), reader = response.body.getReader();
    const size = /gzip/.test(response.headers.get("Content-Encoding")) ? file.size : file.bytes;
    for (let n = 0, part; !(part = await reader.read()).done && !signal.aborted;) arrived([file], Math.min(1, (n += part.value.length) / size));
  }
  const open = async () => { engine ||= await (await load(manifest, "application/json")).json(); };
  const wasm = (file) => once(file.url, async () => WebAssembly.compileStreaming(load(file, "application/wasm")));
  const tool = (name) => wasm(engine.tools[name]);
  const blob = (file) => once(file.url, async () => (await load(file, "application/octet-stream")).blob());
  const bytes = async (file) => new Uint8Array(await (await blob(file)).arrayBuffer());
  // Pages start all workers, by the addresses of their scripts: within a worker of Firefox, `new Worker` sometimes never returns.
  const script = (name) => once(name + ".js", async () => URL.createObjectURL(await blob(engine.workers[name])));

  // A Helper is a worker that answers calls in their order. After it is stopped, the next call starts it again.
  class Helper {
    constructor(name) { Object.assign(this, { name, had: new Set(), waiting: [] }); }
    async start() {
      const onmessage = ({ data }) => this.waiting.shift()(data), onerror = (e) => this.stop(e.message);
      return Object.assign(new Worker(await script(this.name)), { onmessage, onerror });
    }
    // call sends the message to the worker, and returns the answer. The first message for a module contains the module.
    async call(name, message, transfer) {
      const begun = this.worker ||= this.start();
      begun.catch(() => this.worker === begun && this.stop());
      const [worker, module] = await Promise.all([begun, tool(name)]);
      if (this.worker !== begun) throw new Error(this.failed);
      const { promise, resolve } = Promise.withResolvers();
      this.waiting.push(resolve);
      worker.postMessage({ ...message, ...!this.had.has(name) && { name, module, names: JSON.stringify(engine.names) } }, transfer);
      this.had.add(name);
      const { error, value } = await promise;
      if (error !== undefined) throw new Error(error);
      return value;
    }
    stop(error = "stopped") {
      this.worker?.then((worker) => worker.terminate(), () => {});
      Object.assign(this, { worker: null, failed: error });
      this.had.clear();
      for (const end of this.waiting.splice(0)) end({ error });
    }
  }
  const session = new Helper("session"), builder = new Helper("build"), drawer = new Helper("draw");

  // needed returns the packages, the runtime, and all packages that they import, directly or not.
  function needed(paths) {
    const found = new Set([...paths, "runtime"]);
    for (const path of found) engine.packages[path]?.imports?.forEach((other) => found.add(other)); // the loop also visits these
    return [...found].filter((path) => engine.packages[path]); // unsafe has no archive
  }
  // foresee counts what cells seem to need, so that the whole size is known at once: the program of their page if their texts are
  // the published ones, else the compiler and the packages that their texts name.
  function foresee(texts) {
    const page = engine.pages.find((p) => texts.every((text) => text in p.texts)), { composer, drawer } = engine.tools;
    if (page) return arrived([page, composer, ...page.texts[texts.at(-1)] ? [drawer] : []]);
    const named = new Set(texts.join("\n").match(/"[^"\n]+"|\b\w+(?=\.)/g)?.map((word) => word.replaceAll('"', "")));
    const paths = needed(Object.entries(engine.names).filter(([path, name]) => named.has(path) || !path.includes("/") && named.has(name)).map(([path]) => path));
    const { compile, link } = engine.tools, drawn = paths.includes(plotting) ? [drawer] : [];
    arrived([composer, compile, link, ...drawn, ...paths.map((path) => engine.packages[path])]);
  }

  // build makes the program of a cell, and adds the cell's declarations to the session, after those of earlier cells. If the
  // program was published, the page's program contains it, under its key. So exactly the code that the reader sees runs.
  async function build(cell, going) {
    const keep = () => session.call("composer", { call: "keep" }), page = engine.pages.find((p) => p.keys.includes(cell.key));
    if (cell.imports.includes(plotting)) tool("drawer").catch(() => {}); // a failure is reported when the drawer is needed
    const old = made.get(cell.source) ?? await (page && wasm(page));
    going();
    if (old) return keep().then(() => old);
    const paths = needed(cell.imports);
    tool("link").catch(() => {}); // a failure is reported when the linker is needed
    const [...fetched] = await Promise.all([...paths.map((path) => blob(engine.packages[path])), tool("compile")]);
    going();
    stage("compiling");
    const missing = paths.map((path, i) => [path, fetched[i]]).filter(([path]) => !builder.had.has("/" + path));
    const compiled = builder.call("compile", { call: "compile", source: cell.source, paths, archives: missing });
    for (const [path] of missing) builder.had.add("/" + path);
    await compiled;
    going();
    await keep();
    const module = await WebAssembly.compile(await builder.call("link", { call: "link" }));
    going();
    made.set(cell.source, module);
    if (made.size > 8) made.delete(made.keys().next().value);
    return module;
  }

  // execute runs the program, and returns its exit code.
  async function execute(module, { key, args, env, said }, going) {
    if (said) tell({ text: { fd: 1, text: said } });
    const address = await script("cell");
    going();
    const worker = new Worker(address), { promise, resolve } = Promise.withResolvers();
    let last = Promise.resolve(), piped = false;
    const finish = program = (code) => {
      worker.terminate();
      program = null;
      if (piped) hear(null).catch(() => {});
      resolve(code);
    };
    const fail = (why) => { if (program === finish) tell({ text: { fd: 2, text: why + "\n" } }), finish(2); };
    const show = ({ id, data }) => tell({ display: { id, forms: Object.fromEntries(data.flatMap((v, i) => i % 2 ? [] : [[v, data[i + 1]]])) } });
    // hear passes to the session what the program writes to its pipe.
    async function hear(bytes) {
      piped = true;
      const { displays, replies } = await session.call("composer", { call: "hear", bytes });
      displays.forEach(show);
      replies.forEach((reply) => worker.postMessage({ reply }));
    }
    const tells = {
      pipe: hear,
      display: show,
      async order(order) {
        waits = true;
        const answer = await outcome(drawer.call("drawer", { call: "draw", order }, [order.buffer]));
        if (answer.error) drawer.stop();
        if (program !== finish) return; // the program was stopped
        stage("running");
        worker.postMessage({ answer });
      },
      // want fetches the file of the site that the program opens, by the file's path.
      async want(name) { worker.postMessage({ answer: await outcome(bytes(engine.data[name])) }); },
      exit({ code, written }) { tell({ files: written }); Object.assign(files, written); finish(code); },
    };
    worker.onerror = (e) => fail(e.message);
    worker.onmessage = ({ data: [what, value] }) => {
      last = last.then(() => program === finish && (tells[what] ? tells[what](value) : tell({ [what]: value }))).catch((error) => fail(String(error)));
    };
    worker.postMessage({ program: module, key, args, env, files, names: Object.keys(engine.data) });
    return promise;
  }

  async function runCell(cell, before, going) {
    waits = true;
    if (!engine) await open().then(() => foresee([...before, cell].map((c) => c.text)));
    const made = await session.call("composer", { call: "compose", before, cell });
    going();
    if (made.error) return made;
    const module = await build(made, going);
    stage("running");
    return { code: await execute(module, made, going) };
  }

  return {
    // run runs a cell; before are the cells above that the session has not seen, all as {name, text}. The result is {error} if the
    // program did not start, else {code}, with code -1 if the program was stopped. Stopping takes effect at once, at any stage.
    async run(cell, before) {
      const stopping = new AbortController(), { promise, resolve } = Promise.withResolvers();
      halt = () => {
        stopping.abort(new Error("stopped"));
        for (const helper of [builder, drawer]) if (helper.waiting.length) helper.stop();
        resolve(program ? { code: -1 } : { error: "stopped" });
        program?.(-1);
      };
      const { value, error } = await outcome(Promise.race([runCell(cell, before, () => stopping.signal.throwIfAborted()), promise]));
      halt = null;
      return value ?? { error };
    },
    stop() { halt?.(); },
    add(added) { Object.assign(files, added); },
    // ask fetches the completer, and makes it complete or inspect the name where two parts of a cell meet.
    async ask(what, before, after) {
      await open();
      for (let archives = [];;) { // none at first, then those of packages that the completer misses
        const answer = await session.call("completer", { call: "ask", what, before, after, archives });
        const missing = answer.missing.filter((path) => engine.packages[path]);
        if (!missing.length) return answer;
        archives = await Promise.all(missing.map(async (path) => [path, await bytes(engine.packages[path])]));
      }
    },
    dismiss() {
      halt?.();
      for (const helper of [session, builder, drawer]) helper.stop();
    },
  };
}
