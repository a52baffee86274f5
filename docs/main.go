// Command docs draws the picture of README.md and BENCHMARKS.md:
//
//	go run ./docs
//
// peers.svg is drawn from the tables of BENCHMARKS.md, in English and in Chinese. It is SVG with
// text as text, a title and a description for screen readers, and a dark variant for
// prefers-color-scheme.
package main

import (
	"fmt"
	"html"
	"log"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("docs: ")
	for name, draw := range pictures {
		svg, err := draw("docs")
		if err != nil {
			log.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join("docs", name), []byte(svg), 0o666); err != nil {
			log.Fatal(err)
		}
	}
}

// pictures maps the name of a file to the function that draws it from the files in dir.
var pictures = map[string]func(dir string) (string, error){
	"peers.svg":    drawPeersFile,
	"peers.zh.svg": inChinese(drawPeersFile),
}

// chinese replaces the words of the pictures.
var chinese = strings.NewReplacer(
	"tfm beside CTranslate2, Marian and PyTorch", "tfm 与 CTranslate2、Marian、PyTorch 的对比",
	"Two cores of an AMD EPYC (Zen 4).", "AMD EPYC（Zen 4）的两个核。",
	"Translating: base, beam 4, one core", "翻译：base，beam 4，单核",
	"Target tokens/s: longer is better.", "每秒译出的 token 数，越长越好",
	"Training: float32, two cores", "训练：float32，两个核",
	"Speed: longer is better. Memory: shorter is better.", "速度越长越好，内存越短越好",
	", one sentence", "，逐句",
	", 32 sentences at once", "，每批 32 句",
	", tokens/s", "，token/秒",
	", memory in GB", "，内存（GB）",
	"not measured", "未测",
	"AMD EPYC (Zen 4); PyTorch memory on an Intel Xeon.", "AMD EPYC（Zen 4）；PyTorch 的内存测自 Intel Xeon。",
	"Marian did not take turns with tfm. See BENCHMARKS.md.", "Marian 并非与 tfm 交替测得。详见 BENCHMARKS.md。",
)

// inChinese returns draw with the words of its picture in Chinese.
func inChinese(draw func(dir string) (string, error)) func(dir string) (string, error) {
	return func(dir string) (string, error) {
		svg, err := draw(dir)
		return chinese.Replace(svg), err
	}
}

// style holds the colors of both schemes. Each picture has its own background, because a page may
// be dark where the browser's scheme is light.
const style = `<style>
svg { --bg: #ffffff; --fg: #1f2328; --dim: #59636e; --grid: #d1d9e0; --own: #0969da; --other: #8c959f }
@media (prefers-color-scheme: dark) {
svg { --bg: #0d1117; --fg: #f0f6fc; --dim: #9198a1; --grid: #3d444d; --own: #4493f8; --other: #656c76 }
}
text { font: 15px -apple-system, "Segoe UI", "Noto Sans", "Noto Sans CJK SC", "PingFang SC", "Microsoft YaHei", sans-serif; fill: var(--fg) }
.dim { fill: var(--dim); font-size: 14px }
.head { font-weight: 600; font-size: 17px }
.bg { fill: var(--bg) }
.own { fill: var(--own) }
.other { fill: var(--other) }
.grid { stroke: var(--grid); fill: none }
</style>
`

// canvas is an SVG document under construction. Coordinates are whole pixels, so that the text is
// the same on every processor.
type canvas struct{ strings.Builder }

// newCanvas begins a document. Title and description are what screen readers read.
func newCanvas(width, height int, title, description string) *canvas {
	c := &canvas{}
	fmt.Fprintf(c, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" role="img" `+
		`aria-labelledby="title description">`+"\n", width, height, width, height)
	fmt.Fprintf(c, "<title id=\"title\">%s</title>\n<desc id=\"description\">%s</desc>\n",
		html.EscapeString(title), html.EscapeString(description))
	c.WriteString(style)
	fmt.Fprintf(c, `<rect class="bg" width="%d" height="%d" rx="6"/>`+"\n", width, height)
	return c
}

// text writes s at (x, y), the left end of its baseline. Attributes are added to the element.
func (c *canvas) text(x, y int, attributes, s string) {
	if attributes != "" {
		attributes = " " + attributes
	}
	fmt.Fprintf(c, `<text x="%d" y="%d"%s>%s</text>`+"\n", x, y, attributes, html.EscapeString(s))
}

// end closes the document and returns it.
func (c *canvas) end() string {
	c.WriteString("</svg>\n")
	return c.String()
}
