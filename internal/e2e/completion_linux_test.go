package e2e

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// session is an interactive shell on a pseudo-terminal.
type session struct {
	t        *testing.T
	terminal *os.File

	mu   sync.Mutex
	text string // what the shell has written
	read int    // up to where expect has read it
}

const shellPrompt = "READY>"

// startShell starts a shell in dir, whose "tfm" prints its arguments in brackets, and completes as
// the program under test.
func startShell(t *testing.T, dir string, command ...string) *session {
	t.Helper()
	path, err := exec.LookPath(command[0])
	if err != nil {
		t.Skipf("needs %s, for example from 'apt-get install %[1]s': %v", command[0], err)
	}
	bin := t.TempDir()
	stub := fmt.Sprintf("#!/bin/sh\nif [ \"$1\" = completion ]; then exec '%s' \"$@\"; fi\nprintf '[%%s]' \"$@\"\necho\n", program())
	noError(t, os.WriteFile(filepath.Join(bin, "tfm"), []byte(stub), 0o777))
	outside, inside := pseudoTerminal(t, 200)
	c := exec.Command(path, command[1:]...)
	c.Dir = dir
	c.Env = []string{"GORACE=atexit_sleep_ms=0", "TERM=dumb", "LANG=C.UTF-8", "HOME=" + bin, "PS1=" + shellPrompt + " ", "PATH=" + bin + ":" + os.Getenv("PATH")}
	c.Stdin, c.Stdout, c.Stderr = inside, inside, inside
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	noError(t, c.Start())
	t.Cleanup(func() {
		c.Process.Kill()
		c.Wait()
	})
	s := &session{t: t, terminal: outside}
	go func() {
		buf := make([]byte, 4096)
		for {
			n, err := outside.Read(buf)
			s.mu.Lock()
			s.text += string(buf[:n])
			s.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	s.expect(shellPrompt)
	return s
}

func (s *session) send(text string) {
	s.t.Helper()
	if _, err := io.WriteString(s.terminal, text); err != nil {
		s.t.Fatal(err)
	}
}

// expect waits until the shell has written want.
func (s *session) expect(want string) {
	s.t.Helper()
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		s.mu.Lock()
		unread := s.text[s.read:]
		i := strings.Index(unread, want)
		if i >= 0 {
			s.read += i + len(want)
		}
		s.mu.Unlock()
		if i >= 0 {
			return
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("the shell wrote %q, want %q in it", unread, want)
		}
	}
}

// The script of PowerShell asks the binary.
func TestCompletionInPowerShell(t *testing.T) {
	if words := mustRun(t, "", "completion", "-words", "-empty-word", "--", "train", "-optimizer").stdout; !strings.Contains(words, "adamw\n") {
		t.Errorf("the completions after -optimizer are\n%s", words)
	}
	script := mustRun(t, "", "completion", "powershell").stdout
	mustHave(t, script, "Register-ArgumentCompleter -Native -CommandName 'tfm'", "completion -words")
}

// Each shell completes commands, flags, values and files. The candidates come from the binary.
func TestCompletion(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"corpus one.txt", "other.txt"} {
		noError(t, os.WriteFile(filepath.Join(dir, name), nil, 0o666))
	}
	noError(t, os.Mkdir(filepath.Join(dir, "run.ckpt"), 0o777))
	for _, shell := range []struct {
		name    string
		command []string
		load    string
	}{
		{"bash", []string{"bash", "--norc", "--noprofile", "-i"}, "source <(tfm completion bash)"},
		{"zsh", []string{"zsh", "-f", "-i"}, "autoload -Uz compinit; compinit -u -D; source <(tfm completion zsh)"},
		{"fish", []string{"fish", "--no-config", "-i", "-C", "function fish_prompt; echo '" + shellPrompt + " '; end"}, "tfm completion fish | source"},
	} {
		t.Run(shell.name, func(t *testing.T) {
			s := startShell(t, dir, shell.command...)
			s.send(shell.load + "\n")
			s.expect(shellPrompt)
			for _, c := range []struct{ typed, want string }{
				{"tfm trai\t", "[train]"},
				{"tfm train -pres\t", "[train][-preset]"},
				{"tfm train -preset sma\t", "[train][-preset][small]"},
				{"tfm train -optimizer sg\t", "[train][-optimizer][sgd]"},
				{"tfm train --schedule con\t", "[train][--schedule][constant]"},
				{"tfm train -set norm-k\trms", "[train][-set][norm-kind=rms]"},
				{"tfm train -src corp\t", "[train][-src][corpus one.txt]"},
				{"tfm report -run ru\t", "[report][-run][run.ckpt"},
				{"tfm help less\t", "[help][lesson]"},
			} {
				s.send(c.typed + "\n")
				s.expect(c.want)
				s.expect(shellPrompt)
			}
			const eraseLine = "\x15"
			for _, list := range []struct{ line, want string }{{"tfm tr", "translate"}, {"tfm train -preset ", "multi30k-90m"}, {"tfm train -optimizer ", "adamw"}} {
				if shell.name == "fish" { // its list is drawn by moving the cursor
					s.send("complete -C '" + list.line + "'\n")
				} else {
					s.send(list.line + "\t\t\t")
				}
				s.expect(list.want)
				s.send(eraseLine)
			}
		})
	}
}
