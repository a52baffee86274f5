// The texts of the page. {} in a text is replaced.
const texts = {
  en: {
    title: "Translate", languages: "Languages", from: "From", to: "To", swap: "Swap languages",
    text: "Text", placeholder: "Type or paste text", translation: "Translation", clear: "Clear", copy: "Copy", copied: "Copied",
    help: "Point at a word to see the words that it translates. Click on a word of the translation, or go to it with the arrow keys and press Enter, to choose another.",
    others: "What else could stand here", none: "Nothing else", looking: "Looking for others…",
    auto: "Detect language", detected: "Detected: {}", busy: "Translating…", glossary: "Glossary", noGlossary: "None",
    key: "API key", use: "Use", files: "Files", choose: "Choose files", drop: "or drop them anywhere on this page",
    waiting: "Waiting", progress: "Translating {}", done: "{} is translated", download: "Download {}", cancel: "Cancel", remove: "Remove", ofFile: "{}: {}",
    again: "{} Trying again in {} s.", fault0: "The server does not answer.", fault403: "The server does not accept this key.",
    fault429: "Too many requests.", fault503: "The server is busy.", needsKey: "This server needs an API key.", ui: "中文",
  },
  zh: {
    title: "翻译", languages: "语言", from: "源语言", to: "目标语言", swap: "交换语言",
    text: "原文", placeholder: "输入或粘贴文本", translation: "译文", clear: "清除", copy: "复制", copied: "已复制",
    help: "指向一个词，可看到与它对应的词。点击译文中的词，或用方向键移到该词后按回车键，可换成别的译法。",
    others: "此处的其他译法", none: "没有其他译法", looking: "正在查找其他译法……",
    auto: "检测语言", detected: "检测到：{}", busy: "正在翻译……", glossary: "术语表", noGlossary: "无",
    key: "API 密钥", use: "使用", files: "文件", choose: "选择文件", drop: "或将文件拖放到此页面上",
    waiting: "等待中", progress: "正在翻译，已完成 {}", done: "{} 已翻译", download: "下载 {}", cancel: "取消", remove: "移除", ofFile: "{}：{}",
    again: "{}{} 秒后重试。", fault0: "服务器没有应答。", fault403: "服务器不接受此密钥。",
    fault429: "请求过多。", fault503: "服务器繁忙。", needsKey: "此服务器需要 API 密钥。", ui: "English",
  },
};

export let language = navigator.languages.map((l) => l.slice(0, 2)).find((l) => l in texts) || "en";
export function switchLanguage() { language = language === "en" ? "zh" : "en"; }

// t returns a text with values in the places of {}.
export function t(name, ...values) {
  return texts[language][name].replace(/{}/g, () => values.shift());
}

// languageName returns the name of a language, or what the server calls it.
export function languageName({ code, name }) {
  try {
    return new Intl.DisplayNames([language], { type: "language" }).of(code);
  } catch {
    return name;
  }
}

// faultText returns what a Fault means. Other messages of the server are in English.
export function faultText({ status, message, retryAfter }) {
  const known = texts[language]["fault" + status];
  return retryAfter ? t("again", known || message, retryAfter) : known || message;
}

// show sets the texts of the document.
export function show() {
  document.documentElement.lang = language;
  document.title = t("title");
  document.getElementById("ui").lang = language === "en" ? "zh" : "en";
  for (const e of document.querySelectorAll("[data-text]")) e.textContent = t(e.dataset.text);
  for (const e of document.querySelectorAll("[data-label]")) e.setAttribute("aria-label", t(e.dataset.label));
  for (const e of document.querySelectorAll("[data-title]")) e.title = t(e.dataset.title);
  for (const e of document.querySelectorAll("[data-placeholder]")) e.placeholder = t(e.dataset.placeholder);
}
