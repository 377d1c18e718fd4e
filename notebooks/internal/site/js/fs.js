"use strict";
// A file system in memory, with the functions of Node's fs that Go's js/wasm port calls. They call
// back at once: a task for each would cost more than what it does.
const fs = globalThis.fs = (() => {
  const constants = { O_RDONLY: 0, O_WRONLY: 1, O_RDWR: 2, O_CREAT: 64, O_EXCL: 128, O_TRUNC: 512, O_APPEND: 1024, O_DIRECTORY: 65536, O_SYNC: 1052672 };
  const home = "/lab/notebooks";
  const fail = (code) => { throw Object.assign(new Error(code), { code }); };
  let inodes = 0;
  const folder = () => ({ entries: new Map(), inode: ++inodes, time: Date.now() });
  const file = (bytes = new Uint8Array(0)) => ({ bytes, size: bytes.length, inode: ++inodes, time: 0 });
  const root = folder();

  function parts(path) {
    const out = [];
    for (const name of (path.startsWith("/") ? path : home + "/" + path).split("/")) {
      if (name === "..") out.pop();
      else if (name && name !== ".") out.push(name);
    }
    return out;
  }
  function walk(names) {
    return names.reduce((node, name) => (node.entries || fail("ENOTDIR")).get(name) || fail("ENOENT"), root);
  }
  const find = (path) => walk(parts(path));
  function place(path) { // the folder it is in, and its name there
    const names = parts(path), name = names.pop(), entries = walk(names).entries || fail("ENOTDIR");
    return { entries, name, node: name === undefined ? root : entries.get(name) };
  }
  function grow(node, size) {
    if (size > node.bytes.length) {
      const more = new Uint8Array(Math.max(size, 2 * node.bytes.length, 4096));
      more.set(node.bytes.subarray(0, node.size));
      node.bytes = more;
    }
    if (size > node.size) node.bytes.fill(0, node.size, size);
    node.size = size;
  }

  const open = new Map(); // descriptors
  let next = 3;
  const opened = (fd) => open.get(fd) || fail("EBADF");
  function stat(node, mode = node.entries ? 0o040755 : 0o100644) {
    const size = node.size || 0, t = node.time;
    return { dev: 1, ino: node.inode, mode, nlink: 1, uid: 0, gid: 0, rdev: 0, size, blksize: 4096, blocks: Math.ceil(size / 512), atimeMs: t, mtimeMs: t, ctimeMs: t, isDirectory: () => !!node.entries };
  }
  function write(fd, buffer, offset, length, position) {
    const bytes = buffer.subarray(offset, offset + length);
    if (fd === 1 || fd === 2) { api.print(fd, bytes); return length; }
    const f = opened(fd), node = f.node;
    if (node.sink) { node.sink(bytes.slice()); return length; }
    const at = position ?? (f.flags & constants.O_APPEND ? node.size : f.at);
    if (at + length > node.size) grow(node, at + length);
    node.bytes.set(bytes, at);
    node.time = Date.now();
    if (position == null) f.at = at + length;
    return length;
  }
  function read(fd, buffer, offset, length, position) {
    if (fd === 0) return 0;
    const f = opened(fd), node = f.node, at = position ?? f.at;
    if (node.entries) fail("EISDIR");
    const bytes = node.bytes.subarray(at, Math.max(at, Math.min(at + length, node.size)));
    buffer.set(bytes, offset);
    if (position == null) f.at = at + bytes.length;
    return bytes.length;
  }

  const node = { // by Node's names
    write, read,
    open(path, flags) {
      const { entries, name, node } = place(path);
      if (!node && !(flags & constants.O_CREAT)) fail("ENOENT");
      if (node && flags & constants.O_CREAT && flags & constants.O_EXCL) fail("EEXIST");
      if (node?.entries && flags & 3) fail("EISDIR");
      if (node && !node.entries && flags & constants.O_DIRECTORY) fail("ENOTDIR");
      const it = node || file();
      if (!node) { it.time = Date.now(); entries.set(name, it); }
      if (flags & constants.O_TRUNC && !it.entries) it.size = 0;
      open.set(next, { node: it, at: 0, flags });
      return next++;
    },
    close(fd) { if (fd > 2 && !open.delete(fd)) fail("EBADF"); },
    fstat: (fd) => fd <= 2 ? stat({ inode: fd, time: 0 }, 0o020620) : stat(opened(fd).node),
    stat: (path) => stat(find(path)),
    lstat: (path) => stat(find(path)),
    ftruncate(fd, size) { grow(opened(fd).node, size); },
    truncate(path, size) { grow(find(path), size); },
    mkdir(path) { const p = place(path); if (p.node) fail("EEXIST"); p.entries.set(p.name, folder()); },
    readdir: (path) => [...(find(path).entries || fail("ENOTDIR")).keys()],
    unlink(path) { const p = place(path); if (!p.node) fail("ENOENT"); if (p.node.entries) fail("EISDIR"); p.entries.delete(p.name); },
    rmdir(path) { const p = place(path); if (!p.node) fail("ENOENT"); if (!p.node.entries) fail("ENOTDIR"); if (p.node.entries.size) fail("ENOTEMPTY"); p.entries.delete(p.name); },
    rename(from, to) { const a = place(from), b = place(to); if (!a.node) fail("ENOENT"); a.entries.delete(a.name); b.entries.set(b.name, a.node); },
    fsync() {}, chmod() {}, fchmod() {}, chown() {}, fchown() {}, lchown() {}, utimes() {},
    readlink() { fail("EINVAL"); }, link() { fail("ENOSYS"); }, symlink() { fail("ENOSYS"); },
  };

  const remote = new Map(); // by their paths, what fetches files that are not here yet
  const api = { constants, writeSync: (fd, bytes) => write(fd, bytes, 0, bytes.length, null) };
  for (const name of Object.keys(node)) {
    api[name] = (...args) => {
      const back = args.pop();
      if (name === "read" && open.get(args[0])?.node.source) return open.get(args[0]).node.source(args, back);
      const call = () => {
        let result;
        try { result = node[name](...args); } catch (error) { error.code ||= "EIO"; return back(error); }
        back(null, result);
      };
      const far = name === "open" && remote.get("/" + parts(args[0]).join("/"));
      if (!far) return call();
      api.waiting++;
      far().then(call, (error) => back(Object.assign(error, { code: "EIO" }))).finally(() => api.waiting--);
    };
  }

  // What the workers call.
  Object.assign(api, {
    home,
    waiting: 0, // for answers that come later
    print(fd, bytes) {}, // what programs print
    folder(path) { return parts(path).reduce((node, name) => { if (!node.entries.has(name)) node.entries.set(name, folder()); return node.entries.get(name); }, root); },
    put(path, bytes) {
      const names = parts(path), name = names.pop(), node = file(typeof bytes === "string" ? new TextEncoder().encode(bytes) : bytes);
      api.folder("/" + names.join("/")).entries.set(name, node);
      return node;
    },
    // far puts a file that get fetches when it is opened.
    far(path, get) {
      const node = api.put(path), bring = () => fetched ||= get().then((bytes) => { remote.delete(path); Object.assign(node, { bytes, size: bytes.length }); }, (error) => { fetched = null; throw error; });
      let fetched;
      remote.set(path, bring);
    },
    get(path) { const node = find(path); return node.bytes.subarray(0, node.size); },
    closeAll() { open.clear(); next = 3; }, // of a program that has ended
    written() { // the files that were written in the folder, by their names
      const files = {};
      for (const [name, node] of find(home).entries) if (node.time) files[name] = node.bytes.slice(0, node.size);
      return files;
    },
    // out is a pipe of which each write goes to sink; in one whose reads wait for push.
    out(path, sink) { api.put(path).sink = sink; },
    in(path) {
      const waiting = [], held = [];
      function serve() {
        while (waiting.length && held.length) {
          const [[, buffer, offset, length], back] = waiting.shift(), n = Math.min(length, held[0].length);
          buffer.set(held[0].subarray(0, n), offset);
          if (n === held[0].length) held.shift(); else held[0] = held[0].subarray(n);
          api.waiting--;
          back(null, n);
        }
      }
      api.put(path).source = (args, back) => { api.waiting++; waiting.push([args, back]); serve(); };
      return (bytes) => { held.push(bytes); serve(); };
    },
  });
  api.folder(home);
  api.folder("/tmp");
  api.put("/dev/null");
  return api;
})();

globalThis.process = { pid: 1, ppid: 0, getuid: () => 0, getgid: () => 0, geteuid: () => 0, getegid: () => 0, getgroups: () => [0], umask: () => 0o22, cwd: () => fs.home, chdir() { throw Object.assign(new Error("ENOSYS"), { code: "ENOSYS" }); } };
globalThis.path = { resolve: (...names) => names.reduce((a, b) => b.startsWith("/") ? b : a + "/" + b, fs.home) };
