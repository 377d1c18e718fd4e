// The worker that draws what cells describe.
answer({
  async module({ module }) {
    const go = new Go();
    go.run(await WebAssembly.instantiate(module, go.importObject)); // it stays
  },
  draw({ order }) {
    const picture = drawn(order);
    if (!picture) throw new Error(said || "nothing was drawn"); // in a panic
    return picture;
  },
});
