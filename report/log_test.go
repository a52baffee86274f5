package report

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"tfm/train/runlog"
)

const startLine = `{"event":"start","time":"2026-11-21T09:10:11Z","version":"v1","step":0,"settings":{"preset":"tiny","d-model":"128","heads":"4","src":"a.en"},"train_pairs":29000,"valid_pairs":1014,"vocabulary":8000,"parameters":2349056,"threads":2,"kernels":"avx512"}`

func stepLine(step int) string {
	return fmt.Sprintf(`{"event":"step","step":%d,"epoch":0,"elapsed":%g,"loss":%g,"nll":%g,"accuracy":0.5,"rate":0.001,"grad_norm":1.5,"src_per_sec":9000,"tgt_per_sec":9500}`,
		step, float64(step)/4, 9-float64(step)/10, 8-float64(step)/10)
}

func validLine(step int, bleu float64, best bool, hyp string) string {
	return fmt.Sprintf(`{"event":"valid","step":%d,"elapsed":%g,"loss":5,"nll":4,"accuracy":0.5,"bleu":%g,"best":%v,"took":1,"samples":[{"src":"A <b>dog</b>.","ref":"Ein <b>Hund</b>.","hyp":%q}]}`,
		step, float64(step)/4, bleu, best, hyp)
}

func resumeLine(step int) string {
	return strings.Replace(startLine, `"step":0`, fmt.Sprintf(`"step":%d`, step), 1)
}

// logOf returns the log with the given lines.
func logOf(lines ...string) string { return strings.Join(lines, "\n") + "\n" }

func mustRead(t *testing.T, log string) *runlog.Run {
	t.Helper()
	r, err := runlog.Read(strings.NewReader(log), "log")
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Every log that can be read has a page.
func FuzzPageOfLog(f *testing.F) {
	f.Add([]byte(logOf(startLine, stepLine(1), validLine(1, 3, true, "Ein Hund."), resumeLine(1), stepLine(2))))
	f.Add([]byte(logOf(startLine, stepLine(1)) + stepLine(2)[:40]))
	f.Add([]byte(`{"step":9000000000000000000,"loss":1e308}` + "\n" + `{"event":"valid","step":9223372036854775807,"loss":-1e308,"nll":800,"bleu":1e-320}`))
	f.Add([]byte(`{"event":"start","step":0,"settings":{"model":["</script>"],"x":null}}` + "\n" + `{"step":0,"rate":0,"grad_norm":5e-324,"src_per_sec":1e300,"tgt_per_sec":-1e300}`))
	f.Fuzz(func(t *testing.T, log []byte) {
		r, err := runlog.Read(bytes.NewReader(log), "log")
		if err != nil {
			return
		}
		var page bytes.Buffer
		if err := (Page{Name: "fuzz", Run: r}).Write(&page); err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(page.String(), "<script"); n != 1 {
			t.Errorf("%d script elements, want 1", n)
		}
	})
}
