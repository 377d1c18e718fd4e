"use strict";
// The worker of one running cell, which is thrown away when it ends or is to end. It tells
// what the program prints, displays and writes.
(() => {
  const decoders = [, new TextDecoder(), new TextDecoder()];
  let pieces = [], timer = 0, spent = 0, since = 0;
  function flush() {
    clearTimeout(timer);
    timer = 0;
    if (pieces.length) postMessage({ text: pieces });
    pieces = [];
  }
  // What is printed goes out at once, but for a program that prints very often: its messages would choke the page.
  fs.print = (fd, bytes) => {
    const text = decoders[fd].decode(bytes, { stream: true }), last = pieces.at(-1), now = performance.now();
    if (last?.fd === fd) last.text += text; else pieces.push({ fd, text });
    if (now - since > 50) { since = now; spent = 0; }
    if (spent++ < 5) flush();
    else timer ||= setTimeout(flush, 50);
  };
  fs.out("/gonb/out", (bytes) => { flush(); postMessage({ pipe: bytes }); });
  const reply = fs.in("/gonb/back");

  onmessage = async ({ data }) => {
    if (data.reply) return reply(data.reply);
    for (const [name, bytes] of Object.entries(data.files)) fs.put(fs.home + "/" + name, bytes);
    const env = { HOME: "/tmp", TMPDIR: "/tmp", GONB_PIPE: "/gonb/out", GONB_PIPE_BACK: "/gonb/back", GONB_JUPYTER_KERNEL_ID: "page" };
    for (const set of data.env) env[set.slice(0, set.indexOf("="))] = set.slice(set.indexOf("=") + 1);
    const code = await run(await WebAssembly.compile(data.program), ["cell", ...data.args], env);
    flush();
    postMessage({ exit: code, files: fs.written() });
  };
})();
