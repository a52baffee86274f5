package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

const maxBinary = 16_000_000 // bytes, on Linux; others cannot be stripped as far

// build returns the binary of each target. It sets the manual pages and completions, which a binary
// for this machine prints.
func (r *release) build() (map[target][]byte, error) {
	dir, err := os.MkdirTemp("", "packaging")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	module, err := output("go", "list", "-m")
	if err != nil {
		return nil, err
	}
	stamp := fmt.Sprintf("-s -w -X '%s/cmd/%s/internal/release.stamp=v%s %s %s'", strings.TrimSpace(module), name, r.version, r.commit, r.date.Format(time.DateOnly))
	build := func(t target, path string) error {
		// No other settings of the compiler: the binary of a release is the one that the tests run.
		c := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags="+stamp, "-o", path, "./cmd/"+name)
		c.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+t.os, "GOARCH="+t.arch, "GOAMD64=v1", "GOARM64=v8.0")
		c.Stderr = os.Stderr
		if err := c.Run(); err != nil {
			return fmt.Errorf("%v: %w", c, err)
		}
		return nil
	}
	binaries := map[target][]byte{}
	for _, t := range targets {
		path := filepath.Join(dir, t.os+t.arch)
		if err := build(t, path); err != nil {
			return nil, err
		}
		if binaries[t], err = os.ReadFile(path); err != nil {
			return nil, err
		}
		if n := len(binaries[t]); t.os == "linux" && n > maxBinary {
			return nil, fmt.Errorf("the binary for %s and %s has %d bytes, expected at most %d", t.os, t.arch, n, maxBinary)
		}
	}
	own := filepath.Join(dir, "own.exe")
	if err := build(target{runtime.GOOS, runtime.GOARCH}, own); err != nil {
		return nil, err
	}
	return binaries, r.describe(own)
}

// describe sets the manual pages and completions that the binary at path prints.
func (r *release) describe(path string) error {
	commands, err := output(path, "completion", "-words", "-empty-word")
	if err != nil {
		return err
	}
	manual := func(name string, args ...string) error {
		page, err := output(path, append([]string{"help", "-man"}, args...)...)
		r.pages = append(r.pages, file{name, 0o644, []byte(page)})
		return err
	}
	if err := manual(name + ".1"); err != nil {
		return err
	}
	for line := range strings.Lines(commands) {
		command, _, _ := strings.Cut(line, "\t")
		if err := manual(name+"-"+command+".1", command); err != nil {
			return err
		}
	}
	for _, s := range shells {
		script, err := output(path, "completion", s.shell)
		if err != nil {
			return err
		}
		r.scripts = append(r.scripts, file{s.file, 0o644, []byte(script)})
	}
	return nil
}

// documents returns the documents of the checkout, which must be the working directory, and the
// licenses of what the binaries contain of others: golang.org/x/sys, whose is also that of Go's
// library, and the data of sacremoses.
func documents() ([]file, error) {
	names, err := output("git", "ls-files", "LICENSE", "*.md", "*.svg")
	if err != nil {
		return nil, err
	}
	var docs []file
	for _, path := range strings.Fields(names) {
		if strings.HasPrefix(path, "testdata/") {
			continue
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		docs = append(docs, file{path, 0o644, data})
	}
	sys, err := output("go", "list", "-m", "-f", "{{.Dir}}", "golang.org/x/sys")
	if err != nil {
		return nil, err
	}
	for _, license := range []struct{ name, path string }{
		{"LICENSE-Go", filepath.Join(strings.TrimSpace(sys), "LICENSE")},
		{"LICENSE-sacremoses", "text/tokenizer/moses/LICENSE-sacremoses"},
	} {
		data, err := os.ReadFile(license.path)
		if err != nil {
			return nil, err
		}
		docs = append(docs, file{license.name, 0o644, data})
	}
	return docs, nil
}

// output returns the standard output of a command. No setting of the processor that the command
// prints is that of this machine.
func output(command string, args ...string) (string, error) {
	c := exec.Command(command, args...)
	c.Env = append(os.Environ(), "TFM_CPU=generic")
	c.Stderr = os.Stderr
	out, err := c.Output()
	if err != nil {
		return "", fmt.Errorf("%v: %w", c, err)
	}
	return string(out), nil
}
