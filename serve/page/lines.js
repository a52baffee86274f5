// Lines and their translations. All positions are those of JavaScript: UTF-16 units.
//
// The unit of translation is a line without the white space around it. A translated line is
//
//   {source, target: strings, sentences: [{source, target: [from, to], links: [[from, to, from, to], …]}],
//    language: of the source if it was detected}
//
// where a link goes from a range of the source to one of the target. Sentences do not overlap and are sorted.

// parts returns a line as [white space, text, white space].
export function parts(line) {
  const text = line.trim(), at = line.indexOf(text);
  return [line.slice(0, at), text, line.slice(at + text.length)];
}

// copied returns a line that is its own translation.
export const copied = (source) => ({ source, target: source, sentences: [] });

// unitsOf returns the position in s of each byte of its UTF-8.
function unitsOf(s) {
  const at = [];
  let i = 0;
  for (const c of s) {
    const code = c.codePointAt(0);
    for (let bytes = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4; bytes > 0; bytes--) at.push(i);
    i += c.length;
  }
  at.push(i);
  return at;
}

// fromAnswer returns a line from its text in an answer of v1/translate, whose ranges are bytes.
export function fromAnswer(source, answer) {
  const target = answer.translation, s = unitsOf(source), t = unitsOf(target);
  const sentences = answer.sentences.map((x) => ({
    source: x.source.map((i) => s[i]),
    target: x.target.map((i) => t[i]),
    links: (x.alignment || []).map((l) => [s[l.source[0]], s[l.source[1]], t[l.target[0]], t[l.target[1]]]),
  }));
  return { source, target, sentences };
}

// moved returns a sentence at another place.
function moved(x, source, target) {
  return {
    source: x.source.map((i) => i + source),
    target: x.target.map((i) => i + target),
    links: x.links.map(([a, b, c, d]) => [a + source, b + source, c + target, d + target]),
  };
}

// common returns the lengths of the begin and of the end that two lists or strings have in common.
export function common(a, b) {
  const most = Math.min(a.length, b.length);
  let start = 0, end = 0;
  while (start < most && a[start] === b[start]) start++;
  while (end < most - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  return [start, end];
}

// The server decides where a sentence ends by the text before it in the sentence, and by a few characters
// after it.
const lookahead = 24, maxSentence = 200; // characters
const endsWithStop = /[\p{Sentence_Terminal}…]["'\p{Pf}\p{Pe}]*$/u;
const beginsLower = /^\P{L}*\p{Ll}/u;

// surely tells for each sentence of a line whether one begins there, and not the rest of a long one that the
// server has cut. A sentence with an upper-case letter does not end before a lower-case one.
function surely(line) {
  const text = line.sentences.map((x) => line.source.slice(...x.source)), sure = [true];
  for (let i = 1; i < text.length; i++) {
    sure.push(endsWithStop.test(text[i - 1]) && (!beginsLower.test(text[i]) || sure[i - 1] && !/\p{Lu}/u.test(text[i - 1])));
  }
  return sure;
}

// changedPart finds the part of a line to send when another line, base, has been translated: from the
// sentence with the first change to the one with the last, and one more as a check that the sentences after
// it begin where they did. base keeps its sentences before first and from last on. The result is null if the
// whole line must be sent: brackets hold sentences together over any distance, and long sentences are cut.
export function changedPart(source, base) {
  const list = base.sentences, shift = source.length - base.source.length;
  if (/\p{Ps}/u.test(source + base.source) || list.some((x) => x.source[1] - x.source[0] > maxSentence)) return null;
  const sure = surely(base);
  const [start, end] = common(source, base.source);
  let first = 0;
  for (let i = 1; i < list.length && list[i].source[0] + lookahead <= start; i++) if (sure[i]) first = i;
  let check = first;
  while (check < list.length && !(sure[check] && list[check].source[0] >= base.source.length - end)) check++;
  let last = check + 1;
  while (last < list.length && !(list[last].source[0] - list[check].source[0] >= lookahead && sure[last])) last++;
  if (last >= list.length) last = check = list.length;
  if (first === 0 && last === list.length) return null;
  const from = first > 0 ? list[first].source[0] : 0;
  const to = last < list.length ? list[last - 1].source[1] + shift : source.length;
  return { from, to, first, check, last };
}

// replaced returns the line that base becomes with the translation of its changed part, or null if the part
// does not fit, so that the whole line must be sent.
export function replaced(source, base, part, answer) {
  const { from, to, first, check, last } = part, list = base.sentences, inner = answer.sentences;
  const shift = source.length - base.source.length;
  // A single sentence that is too long is not cut, as it would be among others.
  if (inner.length === 0 || inner.length === 1 && to - from > 120) return null;
  const offset = inner.length - (last - check);
  if (check < last && !surely(answer)[offset]) return null;
  for (let i = check; i < last; i++) {
    const x = inner[offset + i - check], y = list[i];
    if (!x || x.source[0] + from !== y.source[0] + shift || x.source[1] + from !== y.source[1] + shift) return null;
  }
  const begin = first > 0 ? list[first].target[0] : 0;
  // Translations in scripts with and without spaces are joined in different ways.
  if (first > 0 && script(answer.target) !== script(base.target.slice(...list[first].target))) return null;
  const rest = last < list.length ? base.target.slice(list[last - 1].target[1]) : "";
  const target = base.target.slice(0, begin) + answer.target + rest;
  const sentences = [
    ...list.slice(0, first),
    ...inner.map((x) => moved(x, from, begin)),
    ...list.slice(last).map((x) => moved(x, shift, target.length - base.target.length)),
  ];
  return { source, target, sentences };
}

// script tells texts that begin in a script without spaces from others, and from none.
const script = (s) => s === "" ? 0 : /^["'\p{Pi}\p{Pf}]*[\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef]/u.test(s) ? 1 : 2;

// withSentence returns a line with another translation of one sentence, whose links are at their place in it.
export function withSentence(line, index, text, links) {
  const { source: [from], source, target: [begin, end] } = line.sentences[index];
  const target = line.target.slice(0, begin) + text + line.target.slice(end);
  const sentences = line.sentences.map((x, i) => {
    if (i < index) return x;
    if (i > index) return moved(x, 0, target.length - line.target.length);
    return { source, target: [begin, begin + text.length], links: links.map(([a, b, c, d]) => [a + from, b + from, c + begin, d + begin]) };
  });
  return { source: line.source, target, sentences, language: line.language };
}

// wordsOf returns the ranges of the words and punctuation marks of a text.
export function wordsOf(s, language) {
  const list = [];
  for (const { segment, index } of segmenter(language).segment(s)) if (segment.trim()) list.push([index, index + segment.length]);
  return list;
}

const segmenters = {};
function segmenter(language) {
  return segmenters[language] ||= new Intl.Segmenter(Intl.Segmenter.supportedLocalesOf(language), { granularity: "word" });
}

const overlap = (a, b, c, d) => a < d && c < b;

// linked returns the ranges of words that belong to the word at a position of a line: {source, target}. side
// says of which text. Without links, as in a translation by way of a third language, they are sentences.
export function linked(line, side, at, languages) {
  // A pointer in the second half of a character is after it, perhaps after the word.
  const around = (ranges) => ranges.find(([from, to]) => from <= at && at < to) || ranges.find(([, to]) => at === to);
  const range = around(line.sentences.map((x) => x[side])), x = line.sentences.find((x) => x[side] === range);
  if (!x) return { source: [], target: [] };
  if (x.links.length === 0) return { source: [x.source], target: [x.target] };
  line.words ||= { source: wordsOf(line.source, languages.source), target: wordsOf(line.target, languages.target) };
  const word = around(line.words[side]);
  if (!word) return { source: [], target: [] };
  const [own, other] = side === "source" ? [0, 2] : [2, 0], otherSide = side === "source" ? "target" : "source";
  const links = x.links.filter((l) => overlap(...word, l[own], l[own + 1]));
  const others = line.words[otherSide].filter(([from, to]) => links.some((l) => overlap(from, to, l[other], l[other + 1])));
  return { [side]: [word], [otherSide]: others };
}
