// The page of tfm serve. The text is only in the page: not in its address, and in no storage.

const texts = {
  en: {
    title: "Translate", from: "From", to: "To", swap: "Swap languages", text: "Text", translation: "Translation", clear: "Clear", copy: "Copy", copied: "Copied",
    help: "Point at a word to see what it translates; select one to choose another.", key: "API key", auto: "Detect language", other: "中文", busy: "Translating…",
    offline: "The server does not answer.", none: "No other words",
  },
  zh: {
    title: "翻译", from: "从", to: "到", swap: "交换语言", text: "原文", translation: "译文", clear: "清除", copy: "复制", copied: "已复制",
    help: "指向一个词可看到它译自何处；点选一个词可换用别的译法。", key: "API 密钥", auto: "检测语言", other: "English", busy: "正在翻译……",
    offline: "服务器没有应答。", none: "没有别的译法",
  },
};

const $ = (id) => document.getElementById(id);
const rightToLeft = /^(ar|fa|he|ur|yi|ps|sd|ug|dv|ckb)\b/;
let ui = navigator.language.startsWith("zh") ? "zh" : "en";
let languages = [];

// sentences are those of the translated text, in order:
// {source, target: strings; before, after: white space of both texts before it; links: pairs of ranges}.
let sentences = [];
let translated = ""; // the source of sentences
let pair = ""; // of sentences
let running = null; // AbortController of the request in progress
let wanted = false; // the text has changed since

const t = (name) => texts[ui][name];

function show() {
  document.documentElement.lang = ui;
  document.title = t("title");
  for (const e of document.querySelectorAll("[data-text]")) e.textContent = t(e.dataset.text);
  for (const e of document.querySelectorAll("[data-label]")) e.setAttribute("aria-label", t(e.dataset.label));
  for (const e of document.querySelectorAll("[data-placeholder]")) e.placeholder = t(e.dataset.placeholder);
  $("ui").textContent = t("other");
  $("ui").lang = ui === "en" ? "zh" : "en";
  fillSources();
}

function languageName(code, english) {
  try {
    return new Intl.DisplayNames([ui], { type: "language" }).of(code) || english;
  } catch {
    return english;
  }
}

function options(select, list, chosen) {
  select.replaceChildren(...list.map(([value, name]) => new Option(name, value, false, value === chosen)));
}

function fillSources() {
  const list = languages.map((l) => [l.code, languageName(l.code, l.name)]);
  if (list.length > 1) list.unshift(["auto", t("auto")]);
  options($("source"), list, $("source").value);
  fillTargets();
}

// fillTargets lists the targets of the source, of "auto" those of any.
function fillTargets() {
  const of = languages.filter((l) => $("source").value === "auto" || l.code === $("source").value);
  const codes = [...new Set(of.flatMap((l) => l.targets))].sort();
  options($("target"), codes.map((c) => [c, languageName(c, c)]), $("target").value);
  $("swap").disabled = !canSwap();
  $("text").dir = rightToLeft.test($("source").value) ? "rtl" : "auto";
  $("translation").dir = rightToLeft.test($("target").value) ? "rtl" : "ltr";
  $("translation").lang = $("target").value;
}

function canSwap() {
  const back = languages.find((l) => l.code === $("target").value);
  return back !== undefined && back.targets.includes($("source").value);
}

function status(message, fault = false) {
  $("state").textContent = message;
  $("state").classList.toggle("fault", fault);
}

// request posts to the server's own interface.
async function request(body, signal, accept = "application/json") {
  const headers = { "Content-Type": "application/json", Accept: accept };
  if ($("key").value) headers.Authorization = "Bearer " + $("key").value;
  const response = await fetch("v1/translate", { method: "POST", headers, signal, body: JSON.stringify(body) });
  if (!response.ok) {
    const { error } = await response.json();
    if (response.status === 400 && /API key/.test(error) || response.status === 403) $("keys").hidden = false;
    throw new Error(error);
  }
  return response;
}

// events yields the events of a stream.
async function* events(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let buffer = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    buffer += value;
    for (let end; (end = buffer.indexOf("\n\n")) >= 0; buffer = buffer.slice(end + 2)) {
      const [event, data] = buffer.slice(0, end).split("\n");
      yield [event.slice("event: ".length), JSON.parse(data.slice("data: ".length))];
    }
  }
}

// unitsOf returns the index in s of each byte of its UTF-8.
function unitsOf(s) {
  const at = [];
  let i = 0;
  for (const c of s) {
    const bytes = c.codePointAt(0) < 0x80 ? 1 : c.codePointAt(0) < 0x800 ? 2 : c.length === 1 ? 3 : 4;
    for (let k = 0; k < bytes; k++) at.push(i);
    i += c.length;
  }
  at.push(i);
  return at;
}

// sentencesOf returns the sentences of an answer, and the white space after the last one.
function sentencesOf(source, answer) {
  const s = unitsOf(source), u = unitsOf(answer.translation);
  let sourceEnd = 0, targetEnd = 0;
  const list = answer.sentences.map((x) => {
    const [a, b] = [s[x.source[0]], s[x.source[1]]];
    const [c, d] = [u[x.target[0]], u[x.target[1]]];
    const sentence = {
      source: source.slice(a, b), target: answer.translation.slice(c, d),
      before: source.slice(sourceEnd, a), after: answer.translation.slice(targetEnd, c),
      links: (x.alignment || []).map((l) => [s[l.source[0]] - a, s[l.source[1]] - a, u[l.target[0]] - c, u[l.target[1]] - c]),
    };
    [sourceEnd, targetEnd] = [b, d];
    return sentence;
  });
  if (list.length === 0) return [{ source, target: answer.translation, before: "", after: "", links: [] }];
  if (sourceEnd < source.length) {
    list.push({ source: "", target: "", before: source.slice(sourceEnd), after: answer.translation.slice(targetEnd), links: [] });
  }
  return list;
}

// unchanged returns how many sentences at the begin and at the end of text are those translated.
// The one beside a change may be divided in another way, so it is not among them.
function unchanged(text) {
  const length = (list) => list.reduce((n, x) => n + x.before.length + x.source.length, 0);
  let first = 0, at = 0;
  for (const x of sentences) {
    if (!text.startsWith(x.before + x.source, at)) break;
    at += x.before.length + x.source.length;
    first++;
  }
  if (first < sentences.length || at < text.length) first = Math.max(0, first - 1);
  const start = length(sentences.slice(0, first));
  let last = sentences.length, end = text.length;
  while (last > first) {
    const x = sentences[last - 1], whole = x.before + x.source;
    if (end - whole.length < start || text.slice(end - whole.length, end) !== whole) break;
    end -= whole.length;
    last--;
  }
  if (last < sentences.length && end > start) {
    end += sentences[last].before.length + sentences[last].source.length;
    last++;
  }
  return { first, last, start, end };
}

// translate translates what has changed, one request at a time: the last text wins.
async function translate() {
  const text = $("text").value;
  $("count").textContent = text.length || "";
  shade([]);
  if (running) {
    wanted = true;
    return;
  }
  const now = $("source").value + " " + $("target").value;
  if (now !== pair) [sentences, translated, pair] = [[], "", now];
  if (text === translated) return;
  const { first, last, start, end } = unchanged(text);
  const part = text.slice(start, end);
  const [before, after] = [sentences.slice(0, first), sentences.slice(last)];
  const finish = (list) => {
    sentences = [...before, ...list, ...after];
    translated = text;
    draw();
  };
  if (part.trim() === "") {
    finish(part === "" ? [] : [{ source: "", target: "", before: part, after: part, links: [] }]);
    return;
  }
  running = new AbortController();
  wanted = false;
  $("translation").setAttribute("aria-busy", "true");
  status(t("busy"));
  const body = { texts: [part], source: $("source").value, target: $("target").value, alignment: true };
  try {
    let partial = "";
    for await (const [event, data] of events(await request(body, running.signal, "text/event-stream"))) {
      if (event === "error") throw new Error(data.error);
      if (event === "part" && before.length + after.length === 0) $("translation").textContent = partial += data.part;
      if (event === "text") finish(sentencesOf(part, data));
    }
    status("");
  } catch (fault) {
    if (fault.name !== "AbortError") status(fault instanceof TypeError ? t("offline") : fault.message, true);
  } finally {
    running = null;
    $("translation").setAttribute("aria-busy", "false");
    if (wanted) translate();
  }
}

// draw shows the sentences, each word as an element with the range of its sentence's source.
function draw() {
  const out = document.createDocumentFragment();
  let at = 0; // of the sentence in the text
  sentences.forEach((x, index) => {
    out.append(x.after);
    at += x.before.length;
    const unspaced = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u.test(x.target);
    const words = unspaced && Intl.Segmenter ? [...new Intl.Segmenter($("target").value, { granularity: "word" }).segment(x.target)].map((w) => w.segment)
      : x.target.split(/(\s+)/);
    let begin = 0;
    for (const word of words) {
      if (word.trim() === "") {
        out.append(word);
      } else {
        const e = document.createElement("span");
        e.className = "word";
        e.textContent = word;
        e.sentence = index;
        e.begin = begin;
        e.links = x.links.filter((l) => l[2] < begin + word.length && l[3] > begin).map((l) => [at + l[0], at + l[1]]);
        out.append(e);
      }
      begin += word.length;
    }
    at += x.source.length;
  });
  $("translation").replaceChildren(out);
}

// shade marks ranges of the text.
function shade(ranges) {
  const text = $("text").value, out = document.createDocumentFragment();
  let at = 0;
  for (const [from, to] of [...ranges].sort((a, b) => a[0] - b[0])) {
    if (from < at) continue;
    const mark = document.createElement("mark");
    mark.textContent = text.slice(from, to);
    out.append(text.slice(at, from), mark);
    at = to;
  }
  out.append(text.slice(at) + "\n");
  $("shadow").replaceChildren(...(ranges.length ? [out] : []));
  $("shadow").scrollTop = $("text").scrollTop;
}

function words() {
  return $("translation").querySelectorAll(".word");
}

function unmark() {
  for (const e of words()) e.classList.remove("linked");
  shade([]);
}

function markWord(e) {
  unmark();
  if ($("text").value !== translated) return;
  e.classList.add("linked");
  shade(e.links);
}

// markAt marks the words that translate the character at an index of the text.
function markAt(index) {
  unmark();
  for (const e of words()) e.classList.toggle("linked", e.links.some(([from, to]) => from <= index && index < to));
}

// choose offers what else could stand in the place of a word, and what would follow.
async function choose(e) {
  const { sentence, begin } = e, x = sentences[sentence];
  const menu = $("menu"), box = e.getBoundingClientRect();
  const body = { texts: [x.source], source: $("source").value, target: $("target").value, prefix: x.target.slice(0, begin).trimEnd(), next: 8 };
  let list = [];
  try {
    list = (await (await request(body)).json()).texts[0].next || [];
  } catch (fault) {
    status(fault.message, true);
    return;
  }
  const others = list.filter((s) => s !== x.target).map((s) => {
    const b = document.createElement("button");
    b.type = "button";
    b.role = "option";
    b.textContent = s.slice(begin).trim();
    b.addEventListener("click", () => {
      sentences[sentence] = { ...x, target: s, links: [] };
      draw();
      close();
    });
    return b;
  });
  menu.replaceChildren(...(others.length ? others : [t("none")]));
  menu.lang = $("target").value;
  menu.hidden = false;
  menu.style.top = window.scrollY + box.bottom + 4 + "px";
  menu.style.left = Math.max(4, Math.min(box.left, window.innerWidth - menu.offsetWidth - 4)) + "px";
  others[0]?.focus();
  const close = () => {
    menu.hidden = true;
    $("translation").focus();
  };
  menu.onkeydown = (event) => {
    const at = others.indexOf(document.activeElement);
    if (event.key === "Escape") close();
    if (event.key === "ArrowDown") others[(at + 1) % others.length]?.focus();
    if (event.key === "ArrowUp") others[(at + others.length - 1) % others.length]?.focus();
  };
}

// The arrow keys go from word to word of the translation, Enter chooses.
let current = -1;
function walk(event) {
  const list = [...words()], step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (step !== undefined && list.length) {
    current = Math.max(0, Math.min(list.length - 1, current + (getComputedStyle($("translation")).direction === "rtl" ? -step : step)));
    markWord(list[current]);
    event.preventDefault();
  } else if (event.key === "Enter" && list[current]) {
    choose(list[current]);
  }
}

$("text").addEventListener("input", translate);
$("text").addEventListener("scroll", () => { $("shadow").scrollTop = $("text").scrollTop; });
$("text").addEventListener("mousemove", (event) => {
  const at = document.caretPositionFromPoint?.(event.clientX, event.clientY);
  if (at && at.offsetNode === $("text") && $("text").value === translated) markAt(at.offset);
});
$("text").addEventListener("mouseleave", unmark);
$("text").addEventListener("keyup", () => { if ($("text").value === translated) markAt($("text").selectionStart); });
$("translation").addEventListener("mouseover", (event) => { if (event.target.classList.contains("word")) markWord(event.target); });
$("translation").addEventListener("mouseleave", unmark);
$("translation").addEventListener("click", (event) => { if (event.target.classList.contains("word")) choose(event.target); });
$("translation").addEventListener("focus", () => { current = -1; });
$("translation").addEventListener("keydown", walk);
document.addEventListener("pointerdown", (event) => { if (!$("menu").contains(event.target)) $("menu").hidden = true; });
$("source").addEventListener("change", () => { fillTargets(); translate(); });
$("target").addEventListener("change", () => { fillTargets(); translate(); });
$("swap").addEventListener("click", () => {
  const [source, target] = [$("source").value, $("target").value];
  $("source").value = target;
  fillTargets();
  $("target").value = source;
  fillTargets();
  if (sentences.length) $("text").value = $("translation").textContent;
  translate();
});
$("clear").addEventListener("click", () => { $("text").value = ""; translate(); $("text").focus(); });
$("copy").addEventListener("click", async () => {
  await navigator.clipboard.writeText($("translation").textContent);
  status(t("copied"));
});
$("ui").addEventListener("click", () => { ui = ui === "en" ? "zh" : "en"; show(); });
$("keys").addEventListener("submit", (event) => { event.preventDefault(); translate(); });
$("key").addEventListener("change", translate);

show();
try {
  languages = await (await fetch("languages")).json();
  fillSources();
  translate();
} catch {
  status(t("offline"), true);
}
