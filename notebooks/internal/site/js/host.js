"use strict";
const most = 200_000; // characters of each stream that a cell shows
const fetching = ({ loaded, size }) => `fetching Go: ${(loaded / 1e6).toFixed(1)} of ${(size / 1e6).toFixed(1)} MB`;

// hire starts the worker of the tools, and the workers that it asks for: in Firefox `new Worker` sometimes never comes
// to its end within a worker. What they say to each other passes through here; hear gets what is for the page, and
// failed the reason if the tools can't be started.
function hire(script, hear, failed) {
  const tools = new Worker(script), others = new Map(); // by the numbers that the tools give them
  tools.onerror = (e) => failed(e.message || `The worker ${script} could not be started.`);
  tools.onmessage = ({ data }) => {
    const { to, start, end, message, transfer } = data;
    if (!to) return hear(data);
    if (start) {
      const worker = new Worker(start);
      worker.onmessage = (e) => tools.postMessage({ from: to, message: e.data });
      worker.onerror = (e) => tools.postMessage({ from: to, error: e.message || `The worker ${start} could not be started.` });
      others.set(to, worker);
    } else if (end) {
      others.get(to).terminate();
      others.delete(to);
    } else others.get(to).postMessage(message, transfer);
  };
  return {
    post(message) { tools.postMessage(message); },
    dismiss() { for (const worker of [tools, ...others.values()]) worker.terminate(); },
  };
}
