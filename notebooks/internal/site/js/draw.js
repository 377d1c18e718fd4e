// The worker that draws what cells describe.
answer({
  module: stay,
  draw({ order }) {
    const picture = drawn(order);
    if (!picture) throw new Error(said || "nothing was drawn"); // the drawing program has panicked
    return picture;
  },
});
