// Translation of files, one after another.

import { Fault, stream } from "./api.js";
import { faultText, t } from "./texts.js";

const list = document.getElementById("list");
const queue = []; // {file, settings, say, row, state: [name of a text, value] or Fault, share, link, stop}
let isRunning = false;

// acceptFiles sets the formats for the dialog that chooses files.
export function acceptFiles(extensions) {
  document.getElementById("files").accept = extensions.join(",");
}

// addFiles translates files with parameters of v1/translate.
export function addFiles(files, settings, say) {
  for (const file of files) {
    const x = { file, settings, say, row: document.createElement("li"), state: ["waiting"], share: 0, link: "", stop: new AbortController() };
    queue.push(x);
    list.append(x.row);
    showRow(x);
  }
  run();
}

// showFiles shows the texts of all rows in the language of the page.
export function showFiles() { queue.forEach(showRow); }

function showRow(x) {
  const isOver = x.link || x.state instanceof Fault;
  const name = document.createElement("span"), state = document.createElement("span"), button = document.createElement("button");
  name.textContent = x.file.name;
  name.dir = "auto";
  state.className = x.state instanceof Fault ? "fault" : "";
  if (x.link) {
    const a = document.createElement("a");
    a.href = x.link;
    a.download = x.file.name;
    a.textContent = t("download", x.file.name);
    name.replaceChildren(a);
  } else {
    state.textContent = x.state instanceof Fault ? faultText(x.state) : t(...x.state);
  }
  button.type = "button";
  button.textContent = t(isOver ? "remove" : "cancel");
  button.ariaLabel = t("ofFile", button.textContent, x.file.name);
  button.addEventListener("click", () => remove(x));
  const first = document.createElement("div");
  first.append(name, " ", state);
  if (!isOver) {
    const bar = document.createElement("progress");
    bar.max = 100;
    bar.value = x.share;
    bar.ariaLabel = x.file.name;
    first.append(bar);
  }
  const hadFocus = x.row.contains(document.activeElement);
  x.row.replaceChildren(first, button);
  if (hadFocus) button.focus();
}

function remove(x) {
  x.stop.abort();
  queue.splice(queue.indexOf(x), 1);
  x.row.remove();
  document.getElementById("choose").focus();
}

async function run() {
  if (isRunning) return;
  isRunning = true;
  for (let x; (x = queue.find((y) => !y.link && !(y.state instanceof Fault && !y.state.retryAfter)));) {
    try {
      await translate(x);
      x.say(t("done", x.file.name));
    } catch (fault) {
      if (fault.name === "AbortError") continue;
      if (!(fault instanceof Fault)) throw fault;
      if (!fault.status) fault.retryAfter = 0; // it may be the file that cannot be read or is refused
      x.state = fault;
      x.say(t("ofFile", x.file.name, faultText(fault)));
      showRow(x);
      await new Promise((resolve) => setTimeout(resolve, 1000 * fault.retryAfter));
    }
    showRow(x);
  }
  isRunning = false;
}

async function translate(x) {
  const body = new FormData();
  for (const [name, value] of Object.entries(x.settings)) body.append(name, value);
  body.append("file", x.file);
  for await (const [name, data] of stream("translate_file", "file", { body, signal: x.stop.signal })) {
    if (name === "progress") {
      x.share = data.total ? Math.floor(100 * data.done / data.total) : 0;
      x.state = ["progress", x.share + " %"];
    } else {
      // The address of the server is perhaps that behind a proxy; the page's own is right.
      x.link = "download_file/" + data.translatedFileUrl.split("/").pop();
    }
    showRow(x);
  }
}
