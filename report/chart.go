package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"tfm/internal/format"
)

// chart is one or more series over the steps of a run. The SVG paths are in a square of pathSize
// units, which the page stretches to the available space. The labels of the ticks are HTML, so that
// their font size does not depend on the chart's size.
type chart struct {
	Title, Unit string
	Text        string // description for screen readers
	Series      []series
	X, Y        []tick
	Grid        string // SVG path of the horizontal lines at Y
	Marks       []mark

	lo, hi int // steps at the left and the right edge
	bottom float64
	top    float64
	zero   bool // y begins at 0, unless values are negative
	log    bool // y is logarithmic; before layout: if the values span a factor of more than 5
}

// series is one line of a chart.
type series struct {
	Name   string
	Class  string // CSS class: colour and stroke
	Path   string // SVG path
	Dots   bool   // draw a dot at each point
	Legend string // the last value
	Raw    bool   // unsmoothed values of another series

	line line
}

// tick is a labelled position on an axis, in percent from the left or the top.
type tick struct {
	At    float64
	Label string
}

// mark is a marked step, at a position in percent from the left.
type mark struct {
	At           float64
	Class, Title string
}

const (
	pathSize = 2000
	buckets  = 300 // ranges of steps, see line.thin
)

// add adds a series, unless l is empty, with dots if l has at most maxDots points.
func (c *chart) add(name, class string, maxDots int, l line) {
	if n := len(l.x); n > 0 {
		c.Series = append(c.Series, series{Name: name, Class: class, Dots: n <= maxDots, line: l.thin(buckets)})
	}
}

// addNoisy adds a moving average of l and, behind it, l.
func (c *chart) addNoisy(name, class string, l line) {
	radius := min(len(l.x)/120, 250)
	if radius == 0 {
		c.add(name, class, 1, l)
		return
	}
	c.Series = append(c.Series,
		series{Name: name, Class: class + " raw", Raw: true, line: l.thin(buckets)},
		series{Name: fmt.Sprintf("%s, mean of %d steps", name, 2*radius+1), Class: class, line: l.smooth(radius).sample(buckets)})
}

// layout computes scales, ticks, paths and the description for the steps lo to hi. All series must
// have been added.
func (c *chart) layout(lo, hi int) {
	c.lo, c.hi = lo, max(hi, lo+1)
	bottom, top, minPositive := math.Inf(1), math.Inf(-1), math.Inf(1)
	for _, s := range c.Series {
		for _, y := range s.line.y {
			bottom, top = min(bottom, y), max(top, y)
			if y > 1/maxValue {
				minPositive = min(minPositive, y)
			}
		}
	}
	c.log = c.log && minPositive < math.Inf(1) && top/minPositive > 5
	switch {
	case c.log: // values ≤ 0 are drawn at the bottom
		margin := math.Pow(top/minPositive, 0.04)
		c.bottom, c.top = minPositive/margin, top*margin
	case bottom == 0 && top == 0:
		c.bottom, c.top = 0, 1
	case c.zero && bottom >= 0:
		c.bottom, c.top = 0, top*1.05
	default:
		margin := (top - bottom) * 0.05
		c.bottom, c.top = bottom-margin, top+margin
		if bottom >= 0 {
			c.bottom = max(0, c.bottom)
		}
	}
	// all values are equal
	if size := max(math.Abs(c.bottom), math.Abs(c.top)); c.top-c.bottom <= 1e-9*size || size < 1/maxValue {
		margin := max(size/2, 1e-9)
		c.bottom, c.top = c.bottom-margin, c.top+margin
	}
	for _, y := range ticks(c.bottom, c.top, 5, c.log) {
		c.Y = append(c.Y, tick{100 - 100*c.yPos(y), y.String()})
		c.Grid += fmt.Sprintf("M0 %.0fh%d", pathSize*(1-c.yPos(y)), pathSize)
	}
	for _, x := range ticks(float64(c.lo), float64(c.hi), 5, false) {
		if x.at == math.Trunc(x.at) {
			x.step = max(x.step, 1)
			c.X = append(c.X, tick{100 * c.xPos(int(x.at)), x.String()})
		}
	}
	for i := range c.Series {
		s := &c.Series[i]
		s.Legend = figure(s.line.y[len(s.line.y)-1])
		s.Path = c.path(s.line)
	}
	c.describe()
}

// xPos returns the position of a step from the left edge, 0 to 1.
func (c *chart) xPos(x int) float64 { return float64(x-c.lo) / float64(c.hi-c.lo) }

// yPos returns the position of a value from the bottom edge, 0 to 1.
func (c *chart) yPos(y tickValue) float64 {
	if c.log {
		return math.Log(max(y.at, c.bottom)/c.bottom) / math.Log(c.top/c.bottom)
	}
	return (y.at - c.bottom) / (c.top - c.bottom)
}

// path returns the SVG path of l.
func (c *chart) path(l line) string {
	var b strings.Builder
	for i := range l.x {
		b.WriteByte("ML"[min(i, 1)])
		fmt.Fprintf(&b, "%.0f %.0f", pathSize*c.xPos(l.x[i]), pathSize*(1-c.yPos(tickValue{at: l.y[i]})))
	}
	if len(l.x) == 1 {
		b.WriteString("h0")
	}
	return b.String()
}

// DotPath returns an SVG path with a line of length 0 at each point. Their round caps are dots.
func (s series) DotPath() string {
	if !s.Dots {
		return ""
	}
	return strings.NewReplacer("L", "h0M").Replace(strings.TrimSuffix(s.Path, "h0")) + "h0"
}

// mark adds a mark at a step, if the chart shows that step.
func (c *chart) mark(step int, class, title string) {
	if c.lo <= step && step <= c.hi {
		c.Marks = append(c.Marks, mark{100 * c.xPos(step), class, title})
	}
}

// points is the data of a chart for page.js.
type points struct {
	Lo     int    `json:"lo"`
	Hi     int    `json:"hi"`
	Series []line `json:"series"`
}

func (c *chart) points() points {
	p := points{Lo: c.lo, Hi: c.hi}
	for _, s := range c.Series {
		p.Series = append(p.Series, s.line)
	}
	return p
}

// tickValue is a round number on an axis. Its label depends on the distance between ticks (0 if it
// varies) and on the end of the axis.
type tickValue struct{ at, step, end float64 }

func (t tickValue) String() string {
	size := math.Abs(t.at)
	switch {
	case t.at == 0:
		return "0"
	case t.end >= 1e6 && size >= 1e5:
		return strconv.FormatFloat(t.at/1e6, 'f', -1, 64) + "M"
	case t.end >= 1e5 && size >= 1e3:
		return strconv.FormatFloat(t.at/1e3, 'f', -1, 64) + "k"
	case size >= 1000:
		return format.Thousands(int64(t.at))
	case t.step > 0 && t.end >= 1e-3:
		return strconv.FormatFloat(t.at, 'f', max(0, int(math.Ceil(-math.Log10(t.step)-1e-9))), 64)
	case size >= 1e-3:
		return strconv.FormatFloat(t.at, 'g', 6, 64)
	}
	return shortExponent(strconv.FormatFloat(t.at, 'e', -1, 64))
}

// ticks returns about n round numbers from lo to hi. Their distance is 1, 2 or 5 times a power of
// ten; with log, the numbers themselves have that form.
func ticks(lo, hi float64, n int, log bool) []tickValue {
	var t []tickValue
	if log {
		first, last := math.Floor(math.Log10(lo)), math.Ceil(math.Log10(hi))
		every := math.Ceil((last - first) / float64(n+1)) // decades from tick to tick
		for _, within := range [][]float64{{1}, {1, 3}, {1, 2, 5}} {
			t = t[:0]
			for e := first; e <= last; e += every {
				for _, m := range within {
					if at := round(m * math.Pow(10, e)); lo <= at && at <= hi {
						t = append(t, tickValue{at: at, end: hi})
					}
				}
			}
			if len(t) >= 3 || every > 1 {
				return t
			}
		}
	}
	t = t[:0]
	step := math.Pow(10, math.Floor(math.Log10((hi-lo)/float64(n))))
	for _, m := range []float64{1, 2, 5, 10} {
		if (hi-lo)/(m*step) <= float64(n)+0.5 {
			step *= m
			break
		}
	}
	for i := math.Ceil(lo/step - 1e-9); i*step <= hi+1e-9*step; i++ {
		t = append(t, tickValue{round(i * step), step, hi})
	}
	return t
}

// round rounds to ten significant digits.
func round(x float64) float64 {
	r, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 10, 64), 64)
	return r
}

// figure formats a number with four significant digits and thousands separators.
func figure(x float64) string {
	size := math.Abs(x)
	switch {
	case math.IsNaN(x):
		return "–"
	case math.IsInf(x, 0):
		return strings.TrimPrefix(strconv.FormatFloat(x, 'f', -1, 64), "+")
	case x == math.Trunc(x) && size < 1e3:
		return strconv.FormatFloat(x, 'f', 0, 64)
	case size >= 1e15 || size < 1e-3:
		return shortExponent(strconv.FormatFloat(x, 'e', 2, 64))
	case size >= 1000:
		return format.Thousands(int64(math.Round(x)))
	}
	return strconv.FormatFloat(x, 'f', 3-int(math.Floor(math.Log10(size))), 64)
}

// shortExponent removes redundant zeros: 3.50e-04 becomes 3.5e-4.
func shortExponent(s string) string {
	digits, exponent, _ := strings.Cut(s, "e")
	if strings.Contains(digits, ".") {
		digits = strings.TrimRight(strings.TrimRight(digits, "0"), ".")
	}
	sign := strings.TrimPrefix(exponent[:1], "+")
	return digits + "e" + sign + strings.TrimLeft(exponent[1:], "0")
}

// duration formats seconds, such as "3 min 20 s".
func duration(seconds float64) string {
	switch s := int(math.Round(seconds)); {
	case math.IsNaN(seconds) || math.IsInf(seconds, 0):
		return "–"
	case seconds < 10:
		return strconv.FormatFloat(seconds, 'f', 1, 64) + " s"
	case s < 60:
		return fmt.Sprintf("%d s", s)
	case s < 3600:
		return fmt.Sprintf("%d min %d s", s/60, s%60)
	case s < 24*3600:
		return fmt.Sprintf("%d h %d min", s/3600, s%3600/60)
	default:
		return fmt.Sprintf("%d d %d h", s/86400, s%86400/3600)
	}
}
