// The editor of a cell, and Markdown as HTML. Pages fetch this when a cell is first edited, or displays Markdown.
import { autocompletion } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { go } from "@codemirror/lang-go";
import { bracketMatching, HighlightStyle, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { StateEffect, StateField } from "@codemirror/state";
import { Decoration, EditorView, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { marked } from "marked";

// The classes of words in the pages' code, so that code looks the same in the editor.
const colours = syntaxHighlighting(HighlightStyle.define([
  { tag: [tags.keyword, tags.definitionKeyword, tags.controlKeyword, tags.moduleKeyword, tags.bool, tags.null], class: "k" },
  { tag: [tags.typeName, tags.standard(tags.name)], class: "kt" },
  { tag: [tags.string, tags.character, tags.escape], class: "s" },
  { tag: tags.number, class: "m" },
  { tag: tags.comment, class: "c" },
  { tag: [tags.function(tags.variableName), tags.function(tags.propertyName), tags.function(tags.definition(tags.variableName))], class: "nf" },
]));

// Lines with a mistake, marked until the text changes.
const wrong = StateEffect.define();
const marks = StateField.define({
  create: () => Decoration.none,
  update: (lines, change) => change.effects.find((e) => e.is(wrong))?.value ?? (change.docChanged ? Decoration.none : lines),
  provide: (field) => EditorView.decorations.from(field),
});
function mark(view, lines) {
  const { doc } = view.state, unique = new Map(lines.map(({ line, text }) => [Math.min(line, doc.lines), text]));
  const all = [...unique].map(([line, text]) => Decoration.line({ class: "wrong", attributes: { title: text } }).range(doc.line(line).from));
  view.dispatch({ effects: wrong.of(Decoration.set(all, true)) });
}

// completed calls the function names to find what may stand at the cursor, after a dot or when the reader asks for completions.
const completed = (names) => autocompletion({
  override: [async (context) => {
    if (!context.explicit && !context.matchBefore(/\.[\p{L}\p{N}_]*$/u)) return null;
    const text = context.state.doc.toString(), { prefix, found } = await names(text.slice(0, context.pos), text.slice(context.pos));
    return found ? { from: context.pos - prefix.length, options: JSON.parse(found).map(({ name, kind, type }) => ({ label: name, type: kind, detail: type })), validFor: /^[\p{L}\p{N}_]*$/u } : null;
  }],
});

// edit makes an editor of the text. changed receives each new text, and names completes the name between two parts of the text.
export function edit(text, label, anchor, head, changed, names) {
  const view = new EditorView({
    doc: text,
    selection: { anchor, head },
    extensions: [
      keymap.of([indentWithTab, ...defaultKeymap, ...historyKeymap]),
      history(), lineNumbers(), indentUnit.of("\t"), indentOnInput(), bracketMatching(), completed(names), go(), colours, marks,
      EditorView.contentAttributes.of({ "aria-label": label, tabindex: "0" }),
      EditorView.updateListener.of((u) => { if (u.docChanged) changed(u.state.doc.toString()); }),
    ],
  });
  return Object.assign(view.dom, { focus: () => view.focus(), mark: (lines) => mark(view, lines) });
}

// markdown returns the text as HTML. Formulas between dollar signs stay as they are, for MathJax.
export function markdown(text) {
  const formulas = [];
  const html = marked.parse(text.replace(/\$\$[^]+?\$\$|\$[^$\n]+\$/g, (f) => `\u0001${formulas.push(f) - 1}\u0001`));
  return html.replace(/\u0001(\d+)\u0001/g, (_, i) => formulas[i].replace(/&/g, "&amp;").replace(/</g, "&lt;"));
}
