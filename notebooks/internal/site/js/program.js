// What all workers have: programs of Go's. This comes behind the file system and Go's own script.
const memory = new Map(); // bytes that programs came to have, by their names
const share = Math.min(3, (navigator.deviceMemory ?? 8) * 3 / 8) * 2 ** 30; // bytes that a program may have
const decoder = new TextDecoder();
let said = ""; // what programs print, where the worker does nothing else with it
fs.print = (_, bytes) => { said += decoder.decode(bytes, { stream: true }); };

// run runs a compiled program of Go's to its end, and gives its exit code.
async function run(module, argv, env) {
  fs.closeAll();
  let code = 0;
  const go = Object.assign(new Go(), { argv, env, exit(c) { code = c; } });
  // A program whose memory has grown beyond its share ends: the machine would swap, or the browser end the page.
  const { gojs } = go.importObject, grown = gojs["runtime.resetMemoryDataView"];
  gojs["runtime.resetMemoryDataView"] = (sp) => {
    grown(sp);
    if (go.mem.byteLength > share) throw new Error(`The program is ended: it needs more than ${share / 2 ** 30} GB of memory, its share of what this machine has.`);
  };
  const instance = await WebAssembly.instantiate(module, go.importObject), { mem } = instance.exports;
  // To let the memory grow half a megabyte at a time takes V8 as long as the linking itself. So it has at once what it
  // came to have the last time, which costs nothing until it is used; where that can't be had, it grows as it may.
  const more = (memory.get(argv[0]) ?? 64 << 20) - mem.buffer.byteLength;
  try { if (more > 0) mem.grow(more / 65536); } catch { /* it grows */ }
  // If no goroutine can go on, the program sleeps without a word. It says so when it is woken, since then
  // neither a timer nor an answer can come: files answer at once, and programs that wait for others may.
  const watch = setInterval(() => {
    if (go.exited || fs.waiting || go._scheduledTimeouts.size) return;
    clearInterval(watch);
    go._pendingEvent = { id: 0 };
    go._resume();
  }, 50);
  try {
    await go.run(instance);
  } catch (error) { // of WebAssembly itself, such as a stack that is full
    fs.print(2, new TextEncoder().encode(error + "\n"));
    code = 2;
  }
  clearInterval(watch);
  memory.set(argv[0], mem.buffer.byteLength);
  for (const timer of go._scheduledTimeouts.values()) clearTimeout(timer); // of a program that has ended
  return code;
}

// stay runs a program of Go's that stays, and answers calls of its functions.
async function stay({ module }) {
  const go = new Go();
  go.run(await WebAssembly.instantiate(module, go.importObject));
}

// answer has the worker answer calls one after another: {call, …} with {value} or {error}. A module that comes with one is taken first.
function answer(calls) {
  let last = Promise.resolve();
  onmessage = ({ data }) => {
    last = last.then(() => data.module && calls.module(data)).then(() => calls[data.call](data))
      .then((value) => postMessage({ value }), (error) => postMessage({ error: error.message }));
  };
}
