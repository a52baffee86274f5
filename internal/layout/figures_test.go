package layout

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// notMeasured are numbers of the READMEs that need not be in BENCHMARKS.md.
var notMeasured = map[string]string{
	"29":   "a level of BLEU, explained",
	"2017": "year of the paper",
	"2.0":  "version of a licence",
	"1.25": "version of Go",
	"7.4":  "version of PowerShell",
	"500":  "default of -save-every",
}

var (
	notProse = regexp.MustCompile("(?ms)^```.*?^```$|`[^`]*`|\\]\\([^)]*\\)|<[^>]*>")
	number   = regexp.MustCompile(`(?:^|[^\w.,-])(\d[\d,]*(?:\.\d+)?)`)
	unit     = regexp.MustCompile(`^\)? ?(%|分钟|小时|秒|[A-Za-z]+)`)
	inSeries = regexp.MustCompile(`^( to |[ ,/()、到]+)$`) // between numbers of one unit
	units    = map[string]string{
		"%": "%", "GB": "GB", "MB": "MB", "s": "s", "seconds": "s", "秒": "s", "h": "h", "hours": "h", "小时": "h",
		"m": "min", "min": "min", "minutes": "min", "分钟": "min",
	}
)

// figures returns the numbers of a text in the order of the text, those with a unit as "27 s". In
// a series such as "0.12 / 0.07 GB" each number has the unit.
func figures(text string) []string {
	at := number.FindAllStringSubmatchIndex(text, -1)
	found := make([]string, len(at))
	u := ""
	for i := len(at) - 1; i >= 0; i-- {
		rest := text[at[i][3]:]
		if i == len(at)-1 || !inSeries.MatchString(text[at[i][3]:at[i+1][2]]) {
			u = ""
		}
		if m := unit.FindStringSubmatch(rest); m != nil && units[m[1]] != "" {
			u = " " + units[m[1]]
		}
		found[i] = strings.TrimRight(text[at[i][2]:at[i][3]], ",") + u
	}
	return found
}

func TestFigures(t *testing.T) {
	got := strings.Join(figures("| 0.12 / 0.07 GB | 9,420,800, int8 2.67 to 4.10 times 99.6% in 5 分钟"), "; ")
	if want := "0.12 GB; 0.07 GB; 9,420,800; 2.67; 4.10; 99.6 %; 5 min"; got != want {
		t.Errorf("figures = %s, want %s", got, want)
	}
}

// Every figure of the READMEs is in BENCHMARKS.md, with the same unit.
func TestFiguresAreMeasured(t *testing.T) {
	measured, used := map[string]bool{}, map[string]bool{}
	for _, f := range figures(readFile(t, "BENCHMARKS.md")) {
		measured[f] = true
		measured[strings.Fields(f)[0]] = true
	}
	for _, readme := range []string{"README.md", "README.zh.md"} {
		found := figures(notProse.ReplaceAllString(readFile(t, readme), " "))
		if len(found) < 40 {
			t.Errorf("%s: found %d figures, want at least 40", readme, len(found))
		}
		for _, f := range found {
			if notMeasured[f] != "" {
				used[f] = true
			} else if !measured[f] {
				t.Errorf("%s: BENCHMARKS.md has no figure %s", readme, f)
			}
		}
	}
	for number, what := range notMeasured {
		if !used[number] {
			t.Errorf("no README has the number %s (%s)", number, what)
		}
	}
}

// rowOf has for each figure of the READMEs' first screens words of its line in BENCHMARKS.md.
var rowOf = map[string]string{
	"2.67": "float32, greedy, 1 |", "4.10": "int8, greedy, 1 |", "1.68": "float32, greedy, 32 |", "1.24": "float32, beam 4, 32 |",
	"1.4": "the speed of Marian", "2.3": "the speed of Marian", "3.7": "that of tuned PyTorch", "1.05 GB": "| `base` |", "2.3 GB": "| `base` |", "2.87 GB": "| `base` |",
	"9.4 MB": "| `tiny` |", "193 MB": "| `base` |", "15.5 MB": "the binary for Linux on amd64", "99.6 %": "exact match", "918,528": "exact match", "27 s": "| The demo",
}

// Figures of the READMEs' first screens are in the lines of BENCHMARKS.md that they are from, and
// those of a preset in a row of the preset.
func TestFiguresMeanTheSame(t *testing.T) {
	lines := strings.Split(readFile(t, "BENCHMARKS.md"), "\n")
	measured := func(figure, words string) bool {
		return slices.ContainsFunc(lines, func(line string) bool {
			return strings.Contains(line, words) && slices.Contains(figures(line), figure)
		})
	}
	preset := regexp.MustCompile("(?m)^(\\| `[a-z]+`).*B \\|$")
	for _, readme := range []string{"README.md", "README.zh.md"} {
		text := readFile(t, readme)
		first, _, _ := strings.Cut(text, "\n## ")
		for _, f := range figures(first) {
			words := rowOf[f]
			if words == "" && strings.ContainsAny(f, ". ") {
				t.Errorf("%s: rowOf has no words for the figure %s of the first screen", readme, f)
			} else if words != "" && !measured(f, words) {
				t.Errorf("%s: BENCHMARKS.md has no figure %s in a line with %q", readme, f, words)
			}
		}
		rows := preset.FindAllStringSubmatch(text, -1)
		if len(rows) != 4 {
			t.Errorf("%s: found %d rows of presets, want 4", readme, len(rows))
		}
		for _, row := range rows {
			for _, f := range figures(row[0]) {
				if strings.Contains(f, " ") && !measured(f, row[1]) {
					t.Errorf("%s: BENCHMARKS.md has no figure %s in a row of %s", readme, f, row[1])
				}
			}
		}
	}
}
