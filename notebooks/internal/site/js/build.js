// The worker that compiles and links cells. It does one thing at a time and receives nothing meanwhile, so only termination stops it.
const modules = {};

// tool runs the compiler or the linker. If it fails, tool throws what it printed.
async function tool(name, ...args) {
  said = "";
  const code = await run(modules[name], [name, ...args], { TMPDIR: "/tmp" });
  if (code) throw new Error(said || `${name} ended with exit code ${code}`);
}

answer({
  module({ name, module }) { modules[name] = module; },
  // compile compiles the source. archives are those that earlier calls did not pass.
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
