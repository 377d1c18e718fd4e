"use strict";
// A file system in memory, with the functions of Node's fs that Go's js/wasm port calls. They call back at once: a separate task
// for each call would cost more than the call itself.
const fs = globalThis.fs = (() => {
  const constants = { O_WRONLY: 1, O_RDWR: 2, O_CREAT: 64, O_EXCL: 128, O_TRUNC: 512, O_APPEND: 1024, O_DIRECTORY: 65536 };
  const home = "/lab/notebooks";
  const fail = (code) => { throw Object.assign(new Error(code), { code }); };
  let inodes = 0;
  const folder = () => ({ entries: new Map(), inode: ++inodes, time: Date.now() });
  const file = (bytes = new Uint8Array(0)) => ({ bytes, size: bytes.length, inode: ++inodes, time: 0 });
  const root = folder();

  const resolve = (path) => path.startsWith("/") ? path : home + "/" + path;
  const step = (names, name) => name === ".." ? names.slice(0, -1) : [...names, name];
  const parts = (path) => resolve(path).split("/").filter((name) => name && name !== ".").reduce(step, []);
  function place(path) { // the folder of the path, and the name in this folder
    const names = parts(path), name = names.pop(), into = (entries, name) => (entries.get(name) || fail("ENOENT")).entries || fail("ENOTDIR");
    const entries = names.reduce(into, root.entries);
    return { entries, name, node: name === undefined ? root : entries.get(name) };
  }
  function taken(path) { // by a file or a folder
    const p = place(path);
    return p.node ? p : fail("ENOENT");
  }
  const find = (path) => taken(path).node;
  function resize(node, size) {
    if (size > node.bytes.length) {
      const more = new Uint8Array(Math.max(size, 2 * node.bytes.length, 4096));
      more.set(node.bytes.subarray(0, node.size));
      node.bytes = more;
    }
    if (size > node.size) node.bytes.fill(0, node.size, size);
    Object.assign(node, { size, time: Date.now() });
  }
  function fill(node, at, bytes) {
    resize(node, Math.max(node.size, at + bytes.length));
    node.bytes.set(bytes, at);
  }

  const open = new Map([1, 2].map((fd) => [fd, { node: { sink: (bytes) => api.print(fd, bytes) } }])); // by descriptors
  let next = 3;
  const opened = (fd) => open.get(fd) || fail("EBADF");
  function stat(node, mode = node.entries ? 0o040755 : 0o100644) {
    const size = node.size || 0, t = node.time, blocks = Math.ceil(size / 512), isDirectory = () => !!node.entries;
    const times = { atimeMs: t, mtimeMs: t, ctimeMs: t };
    return { dev: 1, ino: node.inode, mode, nlink: 1, uid: 0, gid: 0, rdev: 0, size, blksize: 4096, blocks, ...times, isDirectory };
  }

  // Node's functions, by their names. A result that comes later is a promise. Go reads and writes whole buffers, so the offset is 0.
  const node = {
    write(fd, bytes, offset, length, position) {
      const f = opened(fd), { node } = f, at = position ?? (f.flags & constants.O_APPEND ? node.size : f.at);
      if (node.sink) node.sink(bytes);
      else fill(node, at, bytes);
      if (position === null) f.at = at + length;
      return length;
    },
    read(fd, buffer, offset, length, position) {
      if (fd === 0) return 0;
      const f = opened(fd), { node } = f, at = position ?? f.at;
      if (node.entries) fail("EISDIR");
      if (node.more && at >= node.size) return node.more.promise.then(() => this.read(fd, buffer, offset, length, position));
      const bytes = node.bytes.subarray(at, Math.max(at, Math.min(at + length, node.size)));
      buffer.set(bytes);
      if (position === null) f.at = at + bytes.length;
      return bytes.length;
    },
    open(path, flags) {
      const { entries, name, node } = place(path);
      if (node?.bring) return node.bring().then(() => this.open(path, flags));
      if (!node && !(flags & constants.O_CREAT)) fail("ENOENT");
      if (node && flags & constants.O_CREAT && flags & constants.O_EXCL) fail("EEXIST");
      if (node?.entries && flags & 3) fail("EISDIR");
      if (node && !node.entries && flags & constants.O_DIRECTORY) fail("ENOTDIR");
      const it = node || file();
      if (!node) entries.set(name, it);
      if (!node || flags & constants.O_TRUNC) resize(it, 0);
      open.set(next, { node: it, at: 0, flags });
      return next++;
    },
    close(fd) { if (fd > 2 && !open.delete(fd)) fail("EBADF"); },
    fstat: (fd) => fd <= 2 ? stat({ inode: fd, time: 0 }, 0o020620) : stat(opened(fd).node),
    stat: (path) => stat(find(path)),
    lstat: (path) => stat(find(path)),
    ftruncate(fd, size) { resize(opened(fd).node, size); },
    truncate(path, size) { resize(find(path), size); },
    mkdir(path) { const p = place(path); if (p.node) fail("EEXIST"); p.entries.set(p.name, folder()); },
    readdir: (path) => [...(find(path).entries || fail("ENOTDIR")).keys()],
    unlink(path) { const p = taken(path); if (p.node.entries) fail("EISDIR"); p.entries.delete(p.name); },
    rmdir(path) { const p = taken(path); if ((p.node.entries ?? fail("ENOTDIR")).size) fail("ENOTEMPTY"); p.entries.delete(p.name); },
    rename(from, to) { const a = taken(from), b = place(to); a.entries.delete(a.name); b.entries.set(b.name, a.node); },
    fsync() {}, chmod() {}, fchmod() {}, chown() {}, fchown() {}, lchown() {}, utimes() {},
    readlink() { fail("EINVAL"); }, link() { fail("ENOSYS"); }, symlink() { fail("ENOSYS"); },
  };

  // put puts a file at the path, and makes the folders that it needs.
  function put(path, bytes) {
    const names = parts(path), name = names.pop(), made = file(typeof bytes === "string" ? new TextEncoder().encode(bytes) : bytes);
    names.reduce((at, name) => at.entries.get(name) ?? at.entries.set(name, folder()).get(name), root).entries.set(name, made);
    return made;
  }
  // Functions that the workers also call. Each worker sets print, which receives what programs print.
  const api = {
    constants, home, put,
    waiting: 0, // the number of answers that are still to come
    writeSync: (fd, bytes) => node.write(fd, bytes, 0, bytes.length, null),
    get(path) { const node = find(path); return node.bytes.subarray(0, node.size); },
    // far puts a file at the path; get fetches its content when the file is opened.
    far(path, get) {
      const node = put(path), come = (bytes) => Object.assign(node, { bytes, size: bytes.length, bring: null });
      let coming = null;
      node.bring = () => coming ||= get().then(come).finally(() => { coming = null; });
    },
    closeAll() { for (const fd of open.keys()) if (fd > 2) open.delete(fd); }, // of a program that has ended
    written() { // the files that were written in home, by their names
      const files = [...find(home).entries].filter(([, node]) => node.bytes && node.time);
      return Object.fromEntries(files.map(([name, { bytes, size }]) => [name, bytes.slice(0, size)]));
    },
    // `out` makes a pipe that passes each write to sink. `in` makes a pipe, and returns the function that fills it; until then, reads wait.
    out(path, sink) { put(path).sink = sink; },
    in(path) {
      const node = put(path), empty = () => { node.more = Promise.withResolvers(); };
      empty();
      return (bytes) => { fill(node, node.size, bytes); node.more.resolve(); empty(); };
    },
  };
  for (const name of Object.keys(node)) {
    api[name] = (...args) => {
      const back = args.pop(), failed = (error) => back(Object.assign(error, { code: error.code || "EIO" }));
      let result;
      try { result = node[name](...args); } catch (error) { return failed(error); }
      if (!(result instanceof Promise)) return back(null, result);
      api.waiting++;
      result.then((value) => back(null, value), failed).catch(reportError).finally(() => { api.waiting--; });
    };
  }
  for (const path of ["/tmp", "/lab", home]) node.mkdir(path);
  api.out("/dev/null", () => {});
  globalThis.path = { resolve };
  globalThis.process = {
    pid: 1, ppid: 0, getuid: () => 0, getgid: () => 0, geteuid: () => 0, getegid: () => 0, getgroups: () => [0], umask: () => 0o22,
    cwd: () => home, chdir() { fail("ENOSYS"); },
  };
  return api;
})();
