package runlog

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"testing/quick"
	"time"
)

func create(t *testing.T) (w *Writer, path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), FileName)
	w, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	return w, path
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// randomRecord returns an R with random fields: numbers of nine digits or NaN, and strings that
// JSON escapes.
func randomRecord[R any](random *rand.Rand) (record R) {
	v := reflect.ValueOf(&record).Elem()
	for i := range v.NumField() {
		setRandom(v.Field(i), random)
	}
	return record
}

func setRandom(v reflect.Value, random *rand.Rand) {
	texts := []string{"", "a", "</script> & \"quotes\" \\", "日本語\n\t\x01", "\u2028\ufffd"}
	text := func() string { return texts[random.IntN(len(texts))] }
	switch v.Interface().(type) {
	case int:
		v.SetInt(int64(random.IntN(1e9)))
	case bool:
		v.SetBool(random.IntN(2) == 1)
	case string:
		v.SetString(text())
	case Number:
		x := float64(random.IntN(1e9)) * math.Pow10(random.IntN(30)-20) * float64(random.IntN(3)-1)
		var rounded float64
		fmt.Sscan(fmt.Sprintf("%.9g", x), &rounded)
		if random.IntN(5) == 0 {
			rounded = math.NaN()
		}
		v.SetFloat(rounded)
	case time.Time:
		v.Set(reflect.ValueOf(time.Unix(random.Int64N(1e10), 0).UTC()))
	case map[string]string:
		s := map[string]string{}
		for range random.IntN(4) {
			s[text()] = text()
		}
		v.Set(reflect.ValueOf(s))
	case []Sample:
		var s []Sample
		for range random.IntN(3) {
			s = append(s, Sample{text(), text(), text()})
		}
		v.Set(reflect.ValueOf(s))
	default:
		panic(fmt.Sprint("setRandom of a ", v.Type()))
	}
}

// equal reports whether two records are equal. NaN equals NaN.
func equal(a, b any) bool { return fmt.Sprintf("%#v", a) == fmt.Sprintf("%#v", b) }

func TestRoundTrip(t *testing.T) {
	check := func(seed uint64) bool {
		random := rand.New(rand.NewPCG(seed, 0))
		start, step, valid, averaged := randomRecord[Start](random), randomRecord[Step](random), randomRecord[Validation](random), randomRecord[Validation](random)
		saved, end := randomRecord[Saved](random), randomRecord[End](random)
		start.Step = 0
		var log bytes.Buffer
		w := NewWriter(&log)
		for _, err := range []error{w.Start(start), w.Step(step), w.Valid(valid), w.Averaged(averaged), w.Saved(saved), w.End(end), w.Close()} {
			must(t, err)
		}
		r := mustRead(t, log.String())
		ok := true
		for _, c := range [][2]any{{r.Starts, []Start{start}}, {r.Steps, []Step{step}}, {r.Validations, []Validation{valid}}, {*r.Averaged, averaged},
			{*r.End, end}} {
			if !equal(c[0], c[1]) {
				t.Errorf("seed %d: read\n%#v, wrote\n%#v", seed, c[0], c[1])
				ok = false
			}
		}
		return ok
	}
	if err := quick.Check(check, &quick.Config{MaxCount: 200}); err != nil {
		t.Error(err)
	}
}

// Numbers are written with nine digits, infinities as null.
func TestNumbersHaveNineDigits(t *testing.T) {
	var log bytes.Buffer
	w := NewWriter(&log)
	must(t, w.Step(Step{Step: 1, Loss: 1.23456789049, NLL: Number(math.Inf(1)), Rate: -1e-320}))
	must(t, w.Close())
	if s := mustRead(t, log.String()).Steps[0]; s.Loss != 1.23456789 || !s.NLL.IsZero() || math.Abs(float64(s.Rate)+1e-320) > 1e-323 {
		t.Errorf("read %v, %v and %v, want 1.23456789, NaN and -1e-320", s.Loss, s.NLL, s.Rate)
	}
}

// Append truncates partial lines shorter and longer than its block, and continues after the last
// complete line.
func TestAppendTruncatesPartialLine(t *testing.T) {
	for _, partial := range []string{"", `{"event":"st`, strings.Repeat("x", 1<<16), strings.Repeat("x", 1<<17+1)} {
		for _, complete := range []string{"", stepLine(1) + "\n", stepLine(1) + "\n" + stepLine(2) + "\n"} {
			path := filepath.Join(t.TempDir(), FileName)
			must(t, os.WriteFile(path, []byte(complete+partial), 0o666))
			w, err := Append(path)
			must(t, err)
			must(t, w.Step(Step{Step: 3}))
			must(t, w.Close())
			got, err := os.ReadFile(path)
			must(t, err)
			if rest, ok := strings.CutPrefix(string(got), complete); !ok || !strings.HasPrefix(rest, `{"event":"step","step":3,`) || strings.Count(rest, "\n") != 1 {
				t.Errorf("complete lines of %d bytes and a partial one of %d: log is %.200q after step 3", len(complete), len(partial), got)
			}
		}
	}
	w, err := Append(filepath.Join(t.TempDir(), FileName))
	must(t, err)
	must(t, w.Close())
}

// Step records can stay in memory for a second. All other records and Sync flush them.
func TestFlush(t *testing.T) {
	w, path := create(t)
	lines := func() int {
		data, err := os.ReadFile(path)
		must(t, err)
		return strings.Count(string(data), "\n")
	}
	must(t, w.Start(Start{}))
	w.flushed = time.Now().Add(time.Hour) // disables the flush by time
	must(t, w.Step(Step{Step: 1}))
	if n := lines(); n != 1 {
		t.Errorf("%d lines after a start and a step, want 1", n)
	}
	must(t, w.Sync())
	if n := lines(); n != 2 {
		t.Errorf("%d lines after Sync, want 2", n)
	}
	w.flushed = time.Now().Add(time.Hour)
	must(t, w.Step(Step{Step: 2}))
	must(t, w.Saved(Saved{Step: 2}))
	if n := lines(); n != 4 {
		t.Errorf("%d lines after a step and a save, want 4", n)
	}
	w.flushed = time.Now().Add(-2 * flushEvery)
	must(t, w.Step(Step{Step: 3}))
	if n := lines(); n != 5 {
		t.Errorf("%d lines after a step two seconds later, want 5", n)
	}
	must(t, w.Close())
}

// All calls after the first error return that error.
func TestWriterKeepsItsError(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs /dev/full")
	}
	w, err := Create("/dev/full")
	must(t, err)
	for name, err := range map[string]error{"Start": w.Start(Start{}), "Saved": w.Saved(Saved{}), "Sync": w.Sync(), "Close": w.Close()} {
		if err == nil || !strings.Contains(err.Error(), "no space left") {
			t.Errorf("%s: error %v, want no space left", name, err)
		}
	}
	if _, err := Create(t.TempDir()); err == nil {
		t.Error("Create of a folder: no error")
	}
	if _, err := Append(t.TempDir()); err == nil {
		t.Error("Append to a folder: no error")
	}
}

// README.md documents every field of every record, in order.
func TestReadmeDocumentsEveryField(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	must(t, err)
	found := map[string][]string{}
	for _, section := range strings.Split(string(readme), "\n## ")[1:] {
		title, body, _ := strings.Cut(section, "\n")
		for _, kind := range regexp.MustCompile("`(\\w+)`").FindAllStringSubmatch(title, -1) {
			for _, field := range regexp.MustCompile("(?m)^\\| `(\\w+)` \\|(.*)\\|(.*)\\|$").FindAllStringSubmatch(body, -1) {
				found[kind[1]] = append(found[kind[1]], field[1])
				if strings.TrimSpace(field[2]+field[3]) == "" {
					t.Errorf("%s: %s has neither unit nor meaning", kind[1], field[1])
				}
			}
		}
	}
	want := map[string][]string{}
	for kind, record := range map[string]any{"start": Start{}, "step": Step{}, "valid": Validation{}, "averaged": Validation{}, "cooldown": Cooldown{}, "saved": Saved{}, "end": End{}} {
		for i := range reflect.TypeOf(record).NumField() {
			name, _, _ := strings.Cut(reflect.TypeOf(record).Field(i).Tag.Get("json"), ",")
			want[kind] = append(want[kind], name)
		}
	}
	if !reflect.DeepEqual(found, want) {
		t.Errorf("README.md documents\n%v, want\n%v", found, want)
	}
}
