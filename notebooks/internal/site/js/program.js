// The part that all workers share: it runs programs of Go. This script comes after the file system and Go's own script.
const memory = new Map(); // bytes of memory that programs had when they last ended, by the programs' names
const share = Math.min(3, (navigator.deviceMemory ?? 8) * 3 / 8) * 2 ** 30; // bytes of memory that a program may use
const decoder = new TextDecoder();
let said = ""; // what programs print, if the worker does nothing else with it
fs.print = (_, bytes) => { said += decoder.decode(bytes, { stream: true }); };

// run runs a compiled Go program to its end, and returns its exit code.
async function run(module, argv, env) {
  fs.closeAll();
  let code = 0;
  const go = Object.assign(new Go(), { argv, env, exit(c) { code = c; } });
  // A program whose memory grows beyond its share is stopped; otherwise the machine would swap, or the browser would end the page.
  const { gojs } = go.importObject, grown = gojs["runtime.resetMemoryDataView"];
  gojs["runtime.resetMemoryDataView"] = (sp) => {
    grown(sp);
    if (go.mem.byteLength > share) throw new Error(`The program was stopped: it needs more than ${share / 2 ** 30} GB of memory, which is the most that a program may use on this machine.`);
  };
  const instance = await WebAssembly.instantiate(module, go.importObject), { mem } = instance.exports;
  // Growing the memory by half a megabyte at a time takes V8 as long as the linking itself. So a program begins with as much
  // memory as it had when it last ended; unused memory costs nothing. If that much is not available, the memory grows as needed.
  const more = (memory.get(argv[0]) ?? 64 << 20) - mem.buffer.byteLength;
  try { if (more > 0) mem.grow(more / 65536); } catch { /* it grows */ }
  // If no goroutine can go on, the program sleeps silently. If no timer and no answer is pending either, it is woken, and
  // reports the deadlock. Files answer at once, and fs.waiting counts other answers.
  const watch = setInterval(() => {
    if (go.exited || fs.waiting || go._scheduledTimeouts.size) return;
    clearInterval(watch);
    go._pendingEvent = { id: 0 };
    go._resume();
  }, 50);
  try {
    await go.run(instance);
  } catch (error) { // of WebAssembly itself, such as a stack overflow
    fs.print(2, new TextEncoder().encode(error + "\n"));
    code = 2;
  }
  clearInterval(watch);
  memory.set(argv[0], mem.buffer.byteLength);
  for (const timer of go._scheduledTimeouts.values()) clearTimeout(timer); // of a program that has ended
  return code;
}

// stay runs a Go program that does not end, so that its functions can be called.
async function stay({ module }) {
  const go = new Go();
  go.run(await WebAssembly.instantiate(module, go.importObject));
}

// answer makes the worker answer calls one after another: {call, …} with {value} or {error}. A module in a call is loaded first.
function answer(calls) {
  let last = Promise.resolve();
  onmessage = ({ data }) => {
    last = last.then(() => data.module && calls.module(data)).then(() => calls[data.call](data))
      .then((value) => postMessage({ value }), (error) => postMessage({ error: error.message }));
  };
}
