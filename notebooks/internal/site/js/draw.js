"use strict";
// The worker that draws what cells describe.
(() => {
  let said = "";
  const decoder = new TextDecoder();
  fs.print = (_, bytes) => { said += decoder.decode(bytes, { stream: true }); };
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
})();
