// The worker of the session, which holds the declarations of cells. The composer makes programs of cells; the completer finds names.
const kept = []; // the session's cells that the completer does not know yet
const held = new Map(); // archives that the completer reads
let last, hear, heard;
function keep() {
  cells.keep();
  kept.push(last);
}
answer({
  async module({ name, names: known, ...given }) {
    await stay(given);
    (name === "composer" ? cells : names).open(known);
  },
  // compose makes the program of the cell. Earlier cells become part of the session without being run; keep adds the cell itself.
  compose({ before, cell }) {
    for (last of [...before, cell]) {
      const made = JSON.parse(cells.compose(last.name, last.text));
      if (made.error || last === cell) return made;
      keep();
    }
  },
  keep,
  // hear takes the bytes that a program writes to its pipe (null at the end), and returns the displays and the replies to the program.
  hear({ bytes }) {
    heard = { displays: [], replies: [] };
    hear ||= cells.listen((id, ...data) => heard.displays.push({ id, data }), (reply) => heard.replies.push(reply));
    hear(bytes);
    if (!bytes) hear = null;
    return heard;
  },
  ask({ what, before, after, archives }) {
    for (const [path, bytes] of archives) held.set(path, bytes);
    for (const { name, text } of kept.splice(0)) names.keep(name, text);
    return names[what](before, after, (path) => held.get(path) ?? null);
  },
});
