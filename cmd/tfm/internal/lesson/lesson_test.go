package lesson

import (
	"regexp"
	"strings"
	"testing"

	"tfm/cmd/tfm/internal/terminal"
)

// smallLesson returns a lesson whose model learns in a second.
func smallLesson() *Lesson {
	c := Config()
	c.DModel, c.Heads, c.DFF, c.EncoderLayers, c.DecoderLayers = 64, 4, 128, 2, 2
	return &Lesson{Config: c, Steps: 400, Seed: 1, Threads: 1}
}

func TestLesson(t *testing.T) {
	var b strings.Builder
	l := smallLesson()
	if err := l.Run(&b); err != nil {
		t.Fatalf("%v:\n%s", err, b.String())
	}
	text := b.String()
	for _, want := range []string{
		"\n  both      0 <pad>  1 <s>  2 </s>\n  Chinese   3 我  4 是  5 学  6 生  7 喜  8 欢  9 习  10 男\n",
		"\n  English   3 I  4 am  5 a  6 student  7 like  8 learning  9 boy\n",
		"14 of 14 next tokens right\n\nTraining ends: the loss is below",
		"\n  我喜欢学习    I like learning   = exact\n",
		"\n\n3 of 3 exact\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("output lacks %q:\n%s", want, text)
		}
	}
	for _, line := range strings.Split(text, "\n") {
		if n := terminal.Columns(line); n > 80 {
			t.Errorf("line of %d columns, want at most 80: %s", n, line)
		}
	}
	// Each step's input is that of the step before it and the token that was most probable
	// there.
	steps := regexp.MustCompile(`    (<s>.*?) {2,}(\S+) +\d+\.\d\d%`).FindAllStringSubmatch(text, -1)
	if len(steps) != 14 {
		t.Fatalf("%d decode steps, want one for each of 14 tokens:\n%s", len(steps), text)
	}
	for i, step := range steps[1:] {
		want := steps[i][1] + " " + steps[i][2]
		if steps[i][2] == "</s>" {
			want = "<s>"
		}
		if step[1] != want {
			t.Errorf("input of decode step %d is %q, want %q", i+2, step[1], want)
		}
	}

	l.Threads = 3
	var again strings.Builder
	if err := l.Run(&again); err != nil || again.String() != text {
		t.Errorf("3 threads: error %v, output\n%s\nwant that of 1 thread\n%s", err, again.String(), text)
	}
	l.Seed = 2
	again.Reset()
	if l.Run(&again); again.String() == text {
		t.Error("the output does not depend on the seed")
	}
}

// The decode steps of a model that has not learned are printed too, and Run returns an error.
func TestLessonNotLearned(t *testing.T) {
	var b strings.Builder
	l := smallLesson()
	l.Steps = 1
	err := l.Run(&b)
	if err == nil || !strings.Contains(err.Error(), "not learned in 1 step: 0 of 3") || !strings.Contains(err.Error(), "-steps") {
		t.Errorf("error %v, want not learned in 1 step, and -steps", err)
	}
	for _, want := range []string{"after step   1", "Training ends after its last step", "    <s>  ", "≠ I am a boy\n", "0 of 3 exact\n"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("output lacks %q:\n%s", want, b.String())
		}
	}
}
