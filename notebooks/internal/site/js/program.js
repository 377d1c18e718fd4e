"use strict";
// run runs a compiled program of Go's to its end, and gives its exit code.
async function run(module, argv, env) {
  fs.closeAll();
  const go = new Go();
  let code = 0;
  Object.assign(go, { argv, env, exit(c) { code = c; } });
  const instance = await WebAssembly.instantiate(module, go.importObject);
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
  for (const timer of go._scheduledTimeouts.values()) clearTimeout(timer); // of a program that has ended
  return code;
}

// answer has the worker answer calls one after another: {call, …} with {value} or {error}.
function answer(calls) {
  let last = Promise.resolve();
  onmessage = ({ data }) => {
    last = last.then(async () => {
      try { postMessage({ value: await calls[data.call](data) }); } catch (error) { postMessage({ error: error.message }); }
    });
  };
  postMessage({ begun: true });
}
