"use strict";
// The worker of one running cell, which is thrown away when it ends or is to end. It tells
// what the program prints, displays and writes.
(() => {
  const decoders = [, new TextDecoder(), new TextDecoder()], held = new Uint8Array(1 << 16);
  let length = 0, from = 1, timer = 0, spent = 0, since = 0;
  function post(fd, bytes) { postMessage(["text", { fd, text: decoders[fd].decode(bytes, { stream: true }) }]); }
  function flush() {
    clearTimeout(timer);
    timer = 0;
    if (length) post(from, held.subarray(0, length));
    length = 0;
  }
  // What is printed goes out at once, but for a program that prints very often: its messages would choke the page.
  fs.print = (fd, bytes) => {
    if (fd !== from || length + bytes.length > held.length) flush();
    from = fd;
    if (bytes.length > held.length) return post(fd, bytes);
    held.set(bytes, length);
    length += bytes.length;
    const now = performance.now();
    if (now - since > 50) { since = now; spent = 0; }
    if (spent++ < 5) flush();
    else timer ||= setTimeout(flush, 50);
  };
  fs.out("/gonb/out", (bytes) => { flush(); postMessage(["pipe", bytes]); });
  const reply = fs.in("/gonb/back");

  // A program that waits for an answer from the network, all of it, is not asleep.
  const ask = fetch;
  globalThis.fetch = (...request) => {
    fs.waiting++;
    return ask(...request).then(async (answer) => (await answer.clone().arrayBuffer(), answer)).finally(() => { fs.waiting--; });
  };

  // What package plotting calls: display shows an output, and draw gives back the picture of what it is given, or
  // the reason why there is none.
  globalThis.display = (id, ...data) => { flush(); postMessage(["display", { id, data }]); };
  const orders = [], wanted = new Map(); // files of data/, by their names
  globalThis.draw = (order, back) => {
    flush();
    fs.waiting++;
    orders.push(back);
    postMessage(["order", order], [order.buffer]);
  };

  onmessage = async ({ data }) => {
    if (data.reply) return reply(data.reply);
    if (data.drawn) {
      fs.waiting--;
      return orders.shift()?.(data.drawn.value ?? null, data.drawn.error);
    }
    if (data.given) return wanted.get(data.given.name)(data.given);
    for (const name of data.names) fs.far("/lab/data/" + name, () => new Promise((given, fail) => {
      wanted.set(name, ({ bytes, error }) => bytes ? given(bytes) : fail(new Error(error)));
      postMessage(["want", name]);
    }));
    for (const [name, bytes] of Object.entries(data.files)) fs.put(fs.home + "/" + name, bytes);
    const env = { HOME: "/tmp", TMPDIR: "/tmp", GONB_PIPE: "/gonb/out", GONB_PIPE_BACK: "/gonb/back", GONB_JUPYTER_KERNEL_ID: "page" };
    for (const set of data.env) env[set.slice(0, set.indexOf("="))] = set.slice(set.indexOf("=") + 1);
    const code = await run(data.program, ["cell", ...data.args], env);
    orders.length = 0;
    flush();
    postMessage(["exit", { code, written: fs.written() }]);
  };
})();
