// The page of tfm serve: two panes, and live translation. Texts stay in the page: they are neither in its
// address nor in any storage, and no request goes to another server.

import { Fault, ask, setKey, stream } from "./api.js";
import { acceptFiles, addFiles, showFiles } from "./files.js";
import { changedPart, common, copied, fromAnswer, linked, parts, replaced, withSentence, wordsOf } from "./lines.js";
import { faultText, languageName, show, switchLanguage, t } from "./texts.js";

const $ = (id) => document.getElementById(id);
const rightToLeft = /^(ar|arc|ckb|dv|fa|he|khw|ks|ku-Arab|nqo|pa-Arab|ps|sd|syr|ug|ur|yi)\b/;

let languages = []; // {code, name, targets}
let needsKey = false;

// The lines of the text. Each is {lead, core, trail: the text; done: its translation, null until there is one;
// base: of what was in its place before, shown until then; part: of a translation that streams in; whole: do
// not send the changed part only; node: its element; shown: the element is up to date}.
let lines = [];

// The translations of lines, by settings and text, the least recently used first.
const cache = new Map();
const cacheLimit = 1_000_000; // characters of lines
let cacheSize = 0;

function remember(line, settings = pair()) {
  const id = settings + line.source;
  if (!cache.has(id)) cacheSize += line.source.length + line.target.length;
  cache.delete(id);
  cache.set(id, line);
  for (const [old, { source, target }] of cache) {
    if (cacheSize <= cacheLimit) break;
    cacheSize -= source.length + target.length;
    cache.delete(old);
  }
}

function recall(core) {
  const found = cache.get(pair() + core);
  if (found) remember(found);
  return found || null;
}

// settings are the parameters of requests beside texts.
const settings = () => ({ source: $("source").value, target: $("target").value, ...($("glossary").value && { glossary: $("glossary").value }) });
const pair = () => JSON.stringify(settings());

// ---- Languages

function fillSelect(select, list, chosen) {
  select.replaceChildren(...list.map(([value, name]) => new Option(name, value, false, value === chosen)));
}

function fillSources(chosen = $("source").value) {
  const list = languages.map((l) => [l.code, languageName(l)]);
  if (list.length > 1) list.unshift(["auto", t("auto")]);
  fillSelect($("source"), list, chosen);
  fillTargets();
}

// targetsOf returns the languages that one is translated to; for "auto" those of all.
const targetsOf = (source) => [...new Set(languages.filter((l) => source === "auto" || l.code === source).flatMap((l) => l.targets))].sort();

function fillTargets(chosen = $("target").value) {
  const named = (code) => languageName(languages.find((l) => l.code === code) || { code, name: code });
  fillSelect($("target"), targetsOf($("source").value).map((code) => [code, named(code)]), chosen);
  const [source, target] = [$("source").value, $("target").value];
  $("text").dir = $("mirror").dir = source === "auto" ? "auto" : rightToLeft.test(source) ? "rtl" : "ltr";
  $("text").lang = source === "auto" ? "" : source;
  $("translation").dir = rightToLeft.test(target) ? "rtl" : "ltr";
  $("translation").lang = $("menu").lang = target;
  showSwap();
}

// sourceOf returns the language of a line; that of the text is that of its first line.
const sourceOf = (line) => $("source").value === "auto" ? line?.done.language || "" : $("source").value;
const ownSource = () => sourceOf(lines.find((l) => l.done?.language));

function showSwap() {
  const source = ownSource(), found = languages.find((l) => l.code === source);
  $("swap").disabled = !targetsOf($("target").value).includes(source);
  $("detected").textContent = $("source").value === "auto" && found ? t("detected", languageName(found)) : "";
}

function swap() {
  const [source, target] = [ownSource(), $("target").value];
  const text = lines.some((l) => l.done) ? translation() : $("text").value;
  fillSources(target);
  fillTargets(source);
  $("text").value = text;
  restart();
}

// ---- Live translation. One request is in flight; the text when it ends is the next one, so that of texts
// that follow each other quickly only the last is sent.

// inTurn calls f when the request in flight has ended.
let turn = Promise.resolve();
function inTurn(f) {
  const result = turn.then(f);
  turn = result.catch(() => {});
  return result;
}

let stop = new AbortController(); // of what the settings have made useless
let working = false;
let heldUntil = 0; // time before which the server wants no request
let heldTimer = 0;

// changed takes the text of the pane. A line keeps its translation if it is unchanged, or gets it from cache.
function changed() {
  closeMenu();
  mark([], []);
  const before = lines, now = $("text").value.split("\n").map((line) => parts(line));
  const [start, end] = common(before.map((l) => l.lead + l.core + l.trail), now.map((p) => p.join("")));
  lines = now.map(([lead, core, trail], i) => {
    const fromEnd = now.length - i;
    if (i < start) return before[i];
    if (fromEnd <= end) return before[before.length - fromEnd];
    const old = i < before.length - end ? before[i] : null;
    const done = /\p{L}/u.test(core) ? recall(core) : copied(core);
    return { lead, core, trail, done, base: done ? null : old && (old.done || old.base), part: "", whole: false, node: old?.node };
  });
  draw();
  work();
}

// restart translates everything with changed settings.
function restart() {
  stop.abort();
  stop = new AbortController();
  lines = [];
  textLimit = batchLimit.texts;
  changed();
  showSwap();
}

const batchLimit = { texts: 50, characters: 5000 }; // so that the newest text does not wait long
let textLimit = batchLimit.texts; // 1 after the server has refused several
const pace = 150; // milliseconds from one request to the next; limits of keys are by requests

async function work() {
  if (working) return;
  working = true;
  let failed = null;
  while (!failed && lines.some((l) => !l.done) && !(needsKey && !$("key").value) && !held()) {
    const { signal } = stop;
    failed = await inTurn(() => translateBatch(signal)).then(() => null, (fault) => fault);
    if (signal.aborted) failed = null; // the settings are others now
    else await new Promise((resolve) => setTimeout(resolve, pace));
  }
  working = false;
  showState(failed);
}

const held = () => Date.now() < heldUntil;

// translateBatch sends lines without a translation.
async function translateBatch(signal) {
  const of = pair(), batch = new Map(); // by text
  let characters = 0;
  for (const line of lines) {
    if (line.done) continue;
    const part = line.base && line.base.sentences.length > 1 && !line.whole && $("source").value !== "auto" ? changedPart(line.core, line.base) : null;
    const text = part ? line.core.slice(part.from, part.to) : line.core;
    if (batch.has(text)) continue;
    characters += text.length;
    if (batch.size > 0 && (characters > batchLimit.characters || batch.size === textLimit)) break;
    batch.set(text, { text, part, core: line.core, base: line.base, node: line.node, partial: "" });
  }
  if (batch.size === 0) return;
  showBusy(true);
  const list = [...batch.values()];
  try {
    const body = { ...settings(), texts: list.map((x) => x.text), alignment: true };
    for await (const [name, data] of stream("v1/translate", "end", { body, signal })) {
      if (signal.aborted) return;
      if (name === "part") receivePart(list[data.index], data.part);
      if (name === "text") receive(list[data.index], data, of);
    }
  } catch (fault) {
    // Perhaps only one of the texts is too long, or in a language without a translation, and stays as it is.
    if (fault.status !== 400 || signal.aborted) throw fault;
    if (list.length > 1) textLimit = 1;
    else if (textLimit === 1 && $("source").value === "auto") receive(list[0], { translation: list[0].text, sentences: [] }, of);
    else throw fault;
  }
}

// lineOf returns the line that a text was sent for, which may have been changed since.
const lineOf = (sent) => lines.find((l) => l.core === sent.core && !l.done) || lines.find((l) => l.node === sent.node && !l.done);

function receivePart(sent, part) {
  sent.partial += part;
  const line = lineOf(sent);
  if (!line || line.core !== sent.core || sent.part) return;
  line.part = sent.partial;
  drawLine(line);
}

function receive(sent, answer, of) {
  const found = fromAnswer(sent.text, answer);
  const done = sent.part ? replaced(sent.core, sent.base, sent.part, found) : found;
  if (answer.detected_language) done.language = answer.detected_language.language;
  if (done) remember(done, of);
  const changedLine = lineOf(sent);
  for (const line of lines) {
    if (line.done || line.core !== sent.core) continue;
    if (done) Object.assign(line, { done, base: null, part: "" });
    else line.whole = true;
    drawLine(line);
  }
  if (done && changedLine && !changedLine.done) { // somebody types on
    changedLine.base = done;
    drawLine(changedLine);
  }
  showSwap();
}

// showState shows whether the page translates, and a fault. After one that passes the page waits as long as
// the server wants.
function showState(fault) {
  const isMissing = needsKey && !$("key").value;
  if (fault?.retryAfter) {
    heldUntil = Date.now() + 1000 * fault.retryAfter;
    clearTimeout(heldTimer);
    heldTimer = setTimeout(work, 1000 * fault.retryAfter);
  }
  if (fault?.status === 403) $("keys").hidden = false;
  if (fault || !held()) setFault(fault ? faultText(fault) : isMissing ? t("needsKey") : "");
  showBusy(working && !fault);
  if (!working && !fault) announceTranslation();
}

function showBusy(isBusy) {
  $("translation").setAttribute("aria-busy", isBusy);
  $("state").textContent = isBusy ? t("busy") : "";
}

// An unchanged text is not set again, so that it is not read aloud again.
function setFault(text) {
  if ($("fault").textContent !== text) $("fault").textContent = text;
}

// say has screen readers read a text.
function say(text) { $("said").textContent = text; }

let announcing = 0;
function announceTranslation() {
  clearTimeout(announcing);
  if (document.activeElement !== $("text")) return;
  announcing = setTimeout(() => say(translation().slice(0, 500)), 1000);
}

const translation = () => lines.map((l) => l.lead + (l.done || l.base || copied("")).target + l.trail).join("\n");

// ---- The translation

// draw shows the lines that have changed.
function draw() {
  const pane = $("translation");
  let next = pane.firstChild;
  for (const line of lines) {
    if (!line.node) {
      line.node = document.createElement("div");
      line.node.className = "line";
    }
    if (!line.shown) drawLine(line);
    if (line.node === next) next = next.nextSibling;
    else pane.insertBefore(line.node, next);
  }
  while (next) {
    const old = next;
    next = next.nextSibling;
    old.remove();
  }
}

const places = new WeakMap(); // of the element of a word: {line, from, to}
let current = null; // element of the word that the arrow keys have reached

function drawLine(line) {
  line.shown = true;
  const out = [line.lead];
  const reached = current && places.get(current).line === line ? places.get(current).from : -1;
  if (line.done) {
    let at = 0;
    const { target } = line.done;
    for (const [from, to] of wordsOf(target, $("target").value)) {
      const e = document.createElement("span");
      e.className = "word";
      e.textContent = target.slice(from, to);
      places.set(e, { line, from, to });
      out.push(target.slice(at, from), e);
      if (at <= reached && reached < to) setCurrent(e);
      at = to;
    }
    out.push(target.slice(at));
  } else {
    // The translation that streams in covers the one before.
    const rest = document.createElement("span");
    rest.className = "stale";
    rest.textContent = (line.base?.target || "").slice(line.part.length);
    out.push(line.part, rest);
  }
  line.node.replaceChildren(...out.filter((x) => x !== ""), line.trail);
}

// ---- Aligned words

// mark marks ranges of the text, and elements of words.
function mark(ranges, elements) {
  const text = $("text").value, out = [];
  let at = 0;
  for (const [from, to] of ranges) {
    const e = document.createElement("mark");
    e.textContent = text.slice(from, to);
    out.push(text.slice(at, from), e);
    at = to;
  }
  $("mirror").replaceChildren(...out, text.slice(at) + "\n"); // without more, a last empty line has no height
  for (const e of $("translation").querySelectorAll(".linked")) e.classList.remove("linked");
  for (const e of elements) e.classList.add("linked");
}

// markAt marks the words that belong to a position of a line, and returns those of the source.
function markAt(line, side, at) {
  if (!line?.done) return mark([], []);
  let start = 0; // of the line in the text
  for (const l of lines) {
    if (l === line) break;
    start += l.lead.length + l.core.length + l.trail.length + 1;
  }
  start += line.lead.length;
  const found = linked(line.done, side, at, { source: sourceOf(line) || [], target: $("target").value });
  const elements = [...line.node.querySelectorAll(".word")].filter((e) => {
    const { from, to } = places.get(e);
    return found.target.some(([a, b]) => from < b && a < to);
  });
  mark(found.source.map(([a, b]) => [a + start, b + start]), elements);
  return found.source.map(([a, b]) => line.core.slice(a, b));
}

function markSource(at) {
  for (const line of lines) {
    const length = line.lead.length + line.core.length + line.trail.length;
    if (at <= length) return markAt(line, "source", at - line.lead.length);
    at -= length + 1;
  }
}

function markTarget(e) {
  const { line, from } = places.get(e);
  return markAt(line, "target", from);
}

// ---- Other words

let menuStop = null; // ends the request for the menu

function closeMenu() {
  menuStop?.abort();
  menuStop = null;
  if ($("menu").hidden) return;
  const hadFocus = $("menu").contains(document.activeElement);
  $("menu").hidden = true;
  if (hadFocus) $("translation").focus();
}

// offer shows what else could stand in the place of a word, and what would follow.
async function offer(word) {
  const { line, from } = places.get(word);
  const index = line.done?.sentences.findIndex((x) => x.target[0] <= from && from < x.target[1]);
  if (!line.done || index < 0 || held()) return;
  closeMenu();
  setCurrent(word);
  const sentence = line.done.sentences[index];
  const text = line.done.target.slice(...sentence.target), begin = from - sentence.target[0];
  const source = line.core.slice(...sentence.source), prefix = text.slice(0, begin).trimEnd();
  const { signal } = menuStop = new AbortController();
  fillMenu(word, note(t("looking")));
  const body = { ...settings(), source: sourceOf(line), texts: [source], prefix, next: 8 };
  try {
    const answer = await inTurn(() => { signal.throwIfAborted(); return ask("v1/translate", { body, signal }); });
    const others = (answer.texts[0].next || []).filter((s) => s !== text);
    const items = others.map((s) => item(s, begin, () => choose(line, index, s)));
    fillMenu(word, ...(items.length ? items : [note(t("none"))]));
  } catch (fault) {
    if (fault.name === "AbortError") return;
    closeMenu();
    if (!(fault instanceof Fault)) throw fault;
    showState(fault);
  }
}

function note(text) {
  const p = document.createElement("p");
  p.role = "menuitem";
  p.ariaDisabled = "true";
  p.tabIndex = -1;
  p.lang = document.documentElement.lang;
  p.textContent = text;
  return p;
}

// item returns the button of another translation of a sentence. It shows the text from the word on.
function item(text, begin, choose) {
  const b = document.createElement("button"), rest = document.createElement("span");
  const shown = text.slice(begin).trimStart();
  const [, end] = wordsOf(shown, $("target").value)[0] || [0, 0];
  rest.className = "rest";
  rest.textContent = shown.slice(end);
  b.type = "button";
  b.role = "menuitem";
  b.tabIndex = -1;
  b.append(shown.slice(0, end) || "∅", rest);
  b.title = text;
  b.addEventListener("click", choose);
  return b;
}

function fillMenu(word, ...items) {
  const menu = $("menu"), box = word.getBoundingClientRect();
  menu.replaceChildren(...items);
  menu.dir = $("translation").dir;
  menu.hidden = false;
  const left = menu.dir === "rtl" ? box.right - menu.offsetWidth : box.left;
  menu.style.top = window.scrollY + box.bottom + 4 + "px";
  menu.style.left = Math.max(8, Math.min(left, document.documentElement.clientWidth - menu.offsetWidth - 8)) + "px";
  items[0].focus({ preventScroll: true });
  menu.scrollIntoView({ block: "nearest" });
}

// choose puts another translation in the place of a sentence. It stays with the line, wherever it is. The
// request for its alignment has all of it as prefix; without an answer it has none.
async function choose(line, index, text) {
  const of = pair(), { signal } = stop, before = line.done;
  const source = line.core.slice(...before.sentences[index].source);
  const set = (links) => {
    const done = withSentence(before, index, text, links), was = line.done;
    remember(done, of);
    for (const l of lines) {
      if (l.done !== was) continue;
      l.done = done;
      drawLine(l);
    }
  };
  set([]);
  closeMenu();
  say(text);
  const chosen = line.done;
  try {
    const body = { ...settings(), source: sourceOf(line), texts: [source], prefix: text, alignment: true };
    const answer = await inTurn(() => ask("v1/translate", { body, signal }));
    const found = fromAnswer(source, answer.texts[0]);
    if (found.target === text && line.done === chosen) set(found.sentences.flatMap((x) => x.links));
  } catch (fault) {
    if (fault instanceof Fault) showState(fault);
  }
}

// ---- Keyboard in the translation

function setCurrent(word) {
  current?.classList.remove("current");
  current = word;
  word?.classList.add("current");
  word?.scrollIntoView({ block: "nearest" });
}

function walk(event) {
  const list = [...$("translation").querySelectorAll(".word")], at = list.indexOf(current);
  const step = $("translation").dir === "rtl" ? -1 : 1;
  const next = { ArrowRight: at + step, ArrowLeft: at < 0 ? 0 : at - step, Home: 0, End: list.length - 1 }[event.key];
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (next !== undefined && list.length) {
    setCurrent(list[Math.max(0, Math.min(list.length - 1, next))]);
    const words = markTarget(current);
    say(`${current.textContent}: ${(words || []).join(" ")}`);
  } else if ((event.key === "Enter" || event.key === " ") && at >= 0) {
    offer(current);
  } else {
    return;
  }
  event.preventDefault();
}

function walkMenu(event) {
  const items = [...$("menu").children], at = items.indexOf(document.activeElement), n = items.length;
  const next = { ArrowDown: (at + 1) % n, ArrowUp: (at + n - 1) % n, Home: 0, End: n - 1 }[event.key];
  if (next !== undefined) items[next].focus();
  else if (event.key === "Escape" || event.key === "Tab") closeMenu();
  else return;
  event.preventDefault();
}

// ---- Events

// An input method shows letters of its own before it has the text.
$("text").addEventListener("input", (event) => { if (!event.isComposing) changed(); });
$("text").addEventListener("compositionend", changed);
$("text").addEventListener("mousemove", (event) => {
  const at = document.caretPositionFromPoint?.(event.clientX, event.clientY);
  if (at?.offsetNode === $("text")) markSource(at.offset);
});
$("text").addEventListener("mouseleave", () => mark([], []));
document.addEventListener("selectionchange", () => {
  if (document.activeElement === $("text") && $("text").selectionStart === $("text").selectionEnd) markSource($("text").selectionStart);
});
$("text").addEventListener("blur", () => mark([], []));

const wordOf = (event) => event.target.closest(".word");
$("translation").addEventListener("mouseover", (event) => { if (wordOf(event)) markTarget(wordOf(event)); });
$("translation").addEventListener("mouseleave", () => mark([], []));
$("translation").addEventListener("click", (event) => {
  if (wordOf(event) && getSelection().isCollapsed) offer(wordOf(event)); // a drag selects text
});
$("translation").addEventListener("keydown", walk);
$("translation").addEventListener("focus", () => current?.classList.add("current"));
$("translation").addEventListener("blur", () => {
  if (!$("menu").hidden) return;
  mark([], []);
  current?.classList.remove("current");
});
$("menu").addEventListener("keydown", walkMenu);
document.addEventListener("pointerdown", (event) => { if (!$("menu").contains(event.target)) closeMenu(); });

$("source").addEventListener("change", () => { fillTargets(); restart(); });
$("target").addEventListener("change", () => { fillTargets(); restart(); });
$("glossary").addEventListener("change", restart);
$("swap").addEventListener("click", swap);
$("clear").addEventListener("click", () => {
  $("text").value = "";
  restart();
  $("text").focus();
});
$("copy").addEventListener("click", async () => {
  try {
    await navigator.clipboard.writeText(translation());
  } catch { // pages without encryption have no clipboard
    getSelection().selectAllChildren($("translation"));
    document.execCommand("copy");
    getSelection().removeAllRanges();
  }
  $("state").textContent = t("copied");
  say(t("copied"));
});
$("ui").addEventListener("click", () => {
  switchLanguage();
  showAll();
});
$("keys").addEventListener("submit", (event) => {
  event.preventDefault();
  useKey();
});
$("key").addEventListener("change", useKey);

function useKey() {
  setKey($("key").value);
  heldUntil = 0;
  fillGlossaries();
  restart();
}

$("choose").addEventListener("click", () => $("files").click());
$("files").addEventListener("change", () => {
  addFiles($("files").files, settings(), say);
  $("files").value = "";
});
for (const name of ["dragover", "drop", "dragleave"]) {
  document.addEventListener(name, (event) => {
    if (!event.dataTransfer?.types.includes("Files")) return; // a text goes where it is dropped
    event.preventDefault();
    document.body.classList.toggle("dropping", name === "dragover");
    if (name === "drop") addFiles(event.dataTransfer.files, settings(), say);
  });
}

// ---- Begin

function showAll() {
  show();
  fillSources();
  showGlossaries();
  showFiles();
  showState(null);
}

let glossaries = [];

function showGlossaries() {
  $("glossaries").hidden = glossaries.length === 0;
  fillSelect($("glossary"), [["", t("noGlossary")], ...glossaries.map((name) => [name, name])], $("glossary").value);
}

async function fillGlossaries() {
  if (needsKey && !$("key").value) return;
  try {
    ({ glossaries } = await inTurn(() => ask("v1/glossaries")));
  } catch {
    return; // the next translation shows the fault
  }
  showGlossaries();
}

async function begin() {
  show();
  try {
    const [list, server] = [await ask("languages"), await ask("frontend/settings")];
    languages = list;
    needsKey = server.keyRequired;
    $("keys").hidden = !needsKey;
    acceptFiles(server.supportedFilesFormat);
    const own = languages.find((l) => navigator.languages[0].startsWith(l.code));
    fillSources((own || server.language.source).code);
    fillTargets(server.language.target.code);
  } catch (fault) {
    setFault(faultText(fault));
    setTimeout(begin, 1000 * (fault.retryAfter || 5));
    return;
  }
  await fillGlossaries();
  changed();
}

begin();
