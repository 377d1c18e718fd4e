// The worker of one running cell, which is terminated when the cell ends or is stopped.
const room = [, 200_000, 200_000], decoders = [, new TextDecoder(), new TextDecoder()]; // room: characters that each stream may still send
let held = "", from = 1, timer = 0, spent = 0, since = 0, lost = 0;
function flush() {
  clearTimeout(timer);
  timer = 0;
  const text = held.slice(0, room[from]), left = held.slice(text.length);
  room[from] -= text.length;
  held = "";
  if (text) postMessage(["text", { fd: from, text }]);
  if (left) postMessage(["lost", lost += left.split("\n").length - 1]);
}
// Printed text is sent at once, unless a program prints very often: so many messages would block the page.
fs.print = (fd, bytes) => {
  if (fd !== from || held.length > 1 << 16) flush();
  from = fd;
  held += decoders[fd].decode(bytes, { stream: true });
  const now = performance.now();
  if (now - since > 50) { since = now; spent = 0; }
  if (spent++ < 5) flush();
  else timer ||= setTimeout(flush, 50);
};
fs.out("/gonb/out", (bytes) => { flush(); postMessage(["pipe", bytes]); });
const reply = fs.in("/gonb/back"), waiting = []; // the functions that will receive the next answers

// A program that waits for the network is not in a deadlock: fs.waiting counts the request until all of the answer has arrived.
const ask = fetch;
globalThis.fetch = (...request) => {
  fs.waiting++;
  return ask(...request).then(async (answer) => (await answer.clone().arrayBuffer(), answer)).finally(() => { fs.waiting--; });
};

// Package plotting calls these two functions: display shows an output, and draw calls back with the result of an order, or with the
// reason for a failure.
globalThis.display = (id, ...data) => { flush(); postMessage(["display", { id, data }]); };
globalThis.draw = (order, back) => asked(["order", order], [order.buffer], ({ value = null, error }) => back(value, error));

// asked sends a question to the page, and passes the answer to back: {value}, or {error}. The page answers in order.
function asked(what, transfer, back) {
  flush();
  fs.waiting++;
  waiting.push((answer) => { fs.waiting--; back(answer); });
  postMessage(what, transfer);
}

onmessage = async ({ data }) => {
  if (data.reply) return reply(data.reply);
  if (data.answer) return waiting.shift()?.(data.answer);
  for (const name of data.names) fs.far(name, () => new Promise((given, fail) => {
    asked(["want", name], [], ({ value, error }) => value ? given(value) : fail(new Error(error)));
  }));
  for (const [name, bytes] of Object.entries(data.files)) fs.put(fs.home + "/" + name, bytes);
  const env = { HOME: "/tmp", TMPDIR: "/tmp", GONB_PIPE: "/gonb/out", GONB_PIPE_BACK: "/gonb/back", GONB_JUPYTER_KERNEL_ID: "page" };
  for (const set of data.env ?? []) env[set.slice(0, set.indexOf("="))] = set.slice(set.indexOf("=") + 1);
  const code = await run(data.program, [data.key, ...data.args ?? []], env);
  waiting.length = 0;
  flush();
  postMessage(["exit", { code, written: fs.written() }]);
};
