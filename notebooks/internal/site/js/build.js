// The worker that compiles and links cells. While it works, it receives no messages, so only termination stops it.
const modules = {};

// tool runs the compiler or the linker. If the program fails, tool throws the text that the program printed.
async function tool(name, ...args) {
  said = "";
  const code = await run(modules[name], [name, ...args], { TMPDIR: "/tmp" });
  if (code) throw new Error(said || `${name} ended with exit code ${code}`);
}

answer({
  module({ name, module }) { modules[name] = module; },
  // compile compiles the source. archives contains only archives that earlier calls did not pass.
  async compile({ source, paths, archives }) {
    await Promise.all(archives.map(async ([path, blob]) => fs.put(`/pkg/${path}.a`, new Uint8Array(await blob.arrayBuffer()))));
    fs.put("/cell/main.go", source);
    fs.put("/cell/importcfg", paths.map((path) => `packagefile ${path}=/pkg/${path}.a\n`).join(""));
    await tool("compile", "-p", "main", "-importcfg", "/cell/importcfg", "-complete", "-pack", "-c=1", "-trimpath", "/cell", "-o", "/cell/main.a", "/cell/main.go");
  },
  async link() {
    await tool("link", "-importcfg", "/cell/importcfg", "-s", "-w", "-buildmode=exe", "-o", "/cell/main.wasm", "/cell/main.a");
    return fs.get("/cell/main.wasm");
  },
});
