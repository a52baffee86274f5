// Shows values under the pointer and enlarges attention maps. The page is complete without it.
document.documentElement.classList.add("scripted");

const show = x => {
  const size = Math.abs(x);
  if (x === 0) return "0";
  if (size < 1e-3) return x.toExponential(2);
  if (size >= 1000) return Math.round(x).toLocaleString("en");
  return x.toPrecision(4);
};
const time = s => s < 10 ? s.toFixed(1) + " s" : s < 60 ? Math.round(s) + " s"
  : s < 3600 ? Math.floor(s / 60) + " min " + Math.floor(s % 60) + " s"
  : Math.floor(s / 3600) + " h " + Math.floor(s % 3600 / 60) + " min";

// Returns the index of the element of a sorted list that is nearest to x.
const nearest = (list, x) => {
  let lo = 0, hi = list.length - 1;
  while (lo < hi) {
    const mid = (lo + hi) >> 1;
    if (list[mid] < x) lo = mid + 1; else hi = mid;
  }
  return lo > 0 && x - list[lo - 1] < list[lo] - x ? lo - 1 : lo;
};

document.querySelectorAll(".chart").forEach((figure, n) => {
  const chart = report.charts[n], plot = figure.querySelector(".plot"), at = figure.querySelector(".at");
  const values = [...figure.querySelectorAll(".legend b")], last = values.map(b => b.textContent);
  const cursor = figure.querySelector(".cursor");
  let step = chart.hi;
  const read = to => {
    step = Math.max(chart.lo, Math.min(chart.hi, to));
    chart.series.forEach((s, i) => {
      const k = nearest(s.x, step), far = Math.abs(s.x[k] - step) > (chart.hi - chart.lo) / 100;
      values[i].textContent = show(s.y[k]) + (far ? " at " + s.x[k].toLocaleString("en") : "");
    });
    const e = report.elapsed;
    at.textContent = "step " + step.toLocaleString("en") + (e.x && e.x.length ? " · " + time(e.y[nearest(e.x, step)]) : "");
    cursor.style.left = 100 * (step - chart.lo) / (chart.hi - chart.lo) + "%";
    plot.classList.add("reading");
  };
  const leave = () => {
    values.forEach((b, i) => b.textContent = last[i]);
    at.textContent = "";
    plot.classList.remove("reading");
  };
  const point = event => {
    const box = plot.getBoundingClientRect();
    read(Math.round(chart.lo + (event.clientX - box.left) / box.width * (chart.hi - chart.lo)));
  };
  plot.addEventListener("pointermove", point);
  plot.addEventListener("pointerdown", point);
  plot.addEventListener("pointerleave", event => { if (event.pointerType === "mouse") leave(); });
  plot.addEventListener("blur", leave);
  plot.addEventListener("keydown", event => {
    const way = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!way) return;
    event.preventDefault();
    read(step + way * Math.max(1, Math.round((chart.hi - chart.lo) / (event.shiftKey ? 10 : 100))));
  });
});

// Returns the weight of a pixel, whose grey level is the square root of the weight.
const pixels = new Map();
const weight = (img, row, column) => {
  if (!pixels.has(img.src)) {
    const canvas = document.createElement("canvas");
    canvas.width = img.naturalWidth;
    canvas.height = img.naturalHeight;
    const context = canvas.getContext("2d", { willReadFrequently: true });
    context.drawImage(img, 0, 0);
    pixels.set(img.src, context.getImageData(0, 0, canvas.width, canvas.height).data);
  }
  return (pixels.get(img.src)[4 * (row * img.naturalWidth + column)] / 255) ** 2;
};

// Shows the weight of img under the pointer in .weight of detail and highlights its tokens.
const readWeight = (event, img, detail) => {
  const box = img.getBoundingClientRect(), inside = (x, n) => Math.max(0, Math.min(n - 1, Math.floor(x * n)));
  const row = inside((event.clientY - box.top) / box.height, img.naturalHeight);
  const column = inside((event.clientX - box.left) / box.width, img.naturalWidth);
  const rows = detail.querySelectorAll(".rows span"), columns = detail.querySelectorAll(".columns span");
  clear(detail);
  rows[row].classList.add("on");
  columns[column].classList.add("on");
  const of = img.closest(".head") ? img.alt.replace(/^.*?, /, "") + ": " : "";
  detail.querySelector(".weight").textContent = of + rows[row].textContent + " → " + columns[column].textContent + " " + weight(img, row, column).toFixed(3);
};
const clear = detail => {
  detail.querySelectorAll(".on").forEach(e => e.classList.remove("on"));
  detail.querySelector(".weight").textContent = "";
};
const listen = (img, detail) => {
  for (const kind of ["pointermove", "pointerdown"]) img.addEventListener(kind, event => readWeight(event, img, detail));
  img.addEventListener("pointerleave", event => { if (event.pointerType === "mouse") clear(detail); });
};

const dialog = document.querySelector("dialog");
dialog.addEventListener("click", event => { if (event.target === dialog) dialog.close(); });
document.querySelectorAll(".attention").forEach(attention => {
  const detail = attention.querySelector(".detail");
  listen(detail.querySelector("img"), detail);
  attention.querySelectorAll(".head").forEach(head => {
    const small = head.querySelector("img");
    listen(small, detail);
    head.addEventListener("click", () => {
      const copy = detail.cloneNode(true), img = copy.querySelector("img");
      clear(copy);
      copy.querySelector(".caption").remove();
      img.src = small.src;
      img.alt = small.alt;
      listen(img, copy);
      dialog.querySelector("h3").textContent = small.alt;
      dialog.querySelector(".enlarged").replaceChildren(copy);
      dialog.showModal();
    });
  });
});
