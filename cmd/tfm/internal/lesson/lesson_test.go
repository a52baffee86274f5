package lesson

import (
	"regexp"
	"strings"
	"testing"
)

// smallLesson is the lesson for a model that learns it in a second.
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
		"\n  Chinese   0 <pad>  1 <s>  2 </s>  3 我  4 是  5 学  6 生  7 喜  8 欢  9 习  10 男\n",
		"\n  English   0 <pad>  1 <s>  2 </s>  3 I  4 am  5 a  6 student  7 like  8 learning  9 boy\n",
		"14 of 14 next words right\n\nTraining ends: the loss is below",
		"\n  我喜欢学习    I like learning   = exact\n",
		"\n\n3 of 3 word for word\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("it does not show %q:\n%s", want, text)
		}
	}
	// The decoder is given what it has said, turn by turn.
	loop := regexp.MustCompile(`given (<s>.*?) +says (\S+) +\d+\.\d\d%`).FindAllStringSubmatch(text, -1)
	if len(loop) != 14 {
		t.Fatalf("%d turns of the generation loop, want one for each of 14 words and end marks:\n%s", len(loop), text)
	}
	for i, turn := range loop[1:] {
		want := loop[i][1] + " " + loop[i][2]
		if loop[i][2] == "</s>" {
			want = "<s>"
		}
		if turn[1] != want {
			t.Errorf("turn %d is given %q, want %q", i+2, turn[1], want)
		}
	}

	l.Threads = 3
	var again strings.Builder
	if err := l.Run(&again); err != nil || again.String() != text {
		t.Errorf("with 3 threads: %v:\n%s\nwith 1:\n%s", err, again.String(), text)
	}
	l.Seed = 2
	again.Reset()
	if l.Run(&again); again.String() == text {
		t.Error("another seed says the same")
	}
}

// A model that has not learned shows what it says all the same, and that is an error.
func TestLessonNotLearned(t *testing.T) {
	var b strings.Builder
	l := smallLesson()
	l.Steps = 1
	err := l.Run(&b)
	if err == nil || !strings.Contains(err.Error(), "not learned in 1 steps: 0 of 3") || !strings.Contains(err.Error(), "-steps") {
		t.Errorf("the error is %v", err)
	}
	for _, want := range []string{"after step   1", "these were all its steps", "given <s> ", "≠ I am a boy\n", "0 of 3 word for word\n"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("it does not show %q:\n%s", want, b.String())
		}
	}
}
