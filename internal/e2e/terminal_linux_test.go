package e2e

import (
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"golang.org/x/sys/unix"
)

// pseudoTerminal opens a terminal of the given width. Each end reads the output of the other.
func pseudoTerminal(t *testing.T, columns uint16) (outside, inside *os.File) {
	t.Helper()
	outside, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip("needs pseudo-terminals: ", err)
	}
	t.Cleanup(func() { outside.Close() })
	fd := int(outside.Fd())
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: columns})
	}
	if err != nil {
		t.Skip("needs pseudo-terminals: ", err)
	}
	inside, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip("needs pseudo-terminals: ", err)
	}
	t.Cleanup(func() { inside.Close() })
	return outside, inside
}

// onTerminal runs tfm with standard error, and standard output if toScreen, on a terminal. It
// returns what appeared there.
func onTerminal(t *testing.T, columns uint16, toScreen bool, args ...string) string {
	t.Helper()
	outside, inside := pseudoTerminal(t, columns)
	seen := make(chan string)
	go func() {
		var b strings.Builder
		io.Copy(&b, outside) // ends with an error when the other end is closed
		seen <- b.String()
	}()
	c := tfm(args...)
	if c.Stderr = inside; toScreen {
		c.Stdout = inside
	}
	noError(t, c.Run())
	inside.Close()
	return <-seen
}

func TestProgressOnATerminal(t *testing.T) {
	const columns = 40
	args, _ := trainArgs(t, "-steps", "0", "-time", "700ms")
	text := onTerminal(t, columns, false, args...)
	if strings.Count(text, "\rstep ") < 2 {
		t.Errorf("no line was written over in place:\n%q", text)
	}
	for _, line := range strings.FieldsFunc(text, func(r rune) bool { return r == '\r' || r == '\n' }) {
		if strings.HasPrefix(line, "step ") && utf8.RuneCountInString(line) >= columns {
			t.Errorf("%q does not fit in %d columns", line, columns)
		}
	}
}

// tfm translate shows its progress through a file on a terminal, with the remaining time, unless
// its output goes there or -progress=false.
func TestTranslateProgressOnATerminal(t *testing.T) {
	m := toyModel(t)
	for _, c := range []struct {
		flags     []string
		toScreen  bool
		wantShown bool
	}{
		{nil, false, true},
		{[]string{"-progress=false"}, false, false},
		{nil, true, false},
	} {
		text := onTerminal(t, 80, c.toScreen, append(append([]string{"translate", "-model", m}, c.flags...), toy.testSrc)...)
		shown := strings.Contains(text, " a second, ") && strings.Contains(text, "%, ") && strings.Contains(text, "s left")
		if total := strings.Contains(text, " lines in "); shown != c.wantShown || total != c.wantShown {
			t.Errorf("%q, output to the terminal %t: progress %t, total %t, want %t\n%q", c.flags, c.toScreen, shown, total, c.wantShown, text)
		}
	}
}

func TestPrompt(t *testing.T) {
	outside, inside := pseudoTerminal(t, 80)
	c := tfm("translate", "-model", toyModel(t))
	var stdout, stderr strings.Builder
	c.Stdin, c.Stdout, c.Stderr = inside, &stdout, &stderr
	noError(t, c.Start())
	io.WriteString(outside, "the big cat\n\n\x04") // Ctrl-D
	done := make(chan error, 1)
	go func() { done <- c.Wait() }()
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(30 * time.Second):
		c.Process.Kill()
		t.Fatal("Ctrl-D did not end it")
	}
	if strings.Count(stdout.String(), "\n") != 2 || !strings.Contains(stderr.String(), "Ctrl-D") || !strings.Contains(stderr.String(), "\n> ") {
		t.Errorf("%q, %q", stdout.String(), stderr.String())
	}
	c = tfm("translate", "-model", toyModel(t)) // reads /dev/null, which is no terminal
	c.Stdout, c.Stderr = &stdout, &stderr
	stderr.Reset()
	if err := c.Run(); err != nil || stderr.Len() > 0 {
		t.Errorf("without a terminal: %v, %q", err, stderr.String())
	}
}
