package e2e

import (
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// flagsIn returns the names of the flags in the tables of a help text.
func flagsIn(help string) (names []string) {
	for _, m := range regexp.MustCompile(`(?m)^  -([a-z0-9-]+)`).FindAllStringSubmatch(help, -1) {
		names = append(names, m[1])
	}
	return names
}

// completions returns the words that complete the last of words.
func completions(t *testing.T, words ...string) (completed []string) {
	t.Helper()
	for line := range strings.Lines(mustRun(t, "", append([]string{"completion", "-words", "--"}, words...)...).stdout) {
		word, _, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		completed = append(completed, word)
	}
	return completed
}

func TestHelp(t *testing.T) {
	few := mustRun(t, "", "help").stdout
	if h := mustRun(t, "", "-h").stdout; h != few {
		t.Errorf("tfm -h =\n%s\nwant the output of tfm help:\n%s", h, few)
	}
	if n := len(regexp.MustCompile(`(?m)^  [a-z]`).FindAllString(few, -1)); n > 22 {
		t.Errorf("tfm help lists %d commands, want at most 22", n)
	}
	list := mustRun(t, "", "help", "-all").stdout
	for _, name := range completions(t, "") {
		line := regexp.MustCompile(`(?m)^  ` + name + ` +(.*)$`).FindStringSubmatch(list)
		if line == nil {
			t.Errorf("tfm help has no line %s:\n%s", name, list)
			continue
		}
		short := mustRun(t, "", "help", name).stdout
		for _, args := range [][]string{{name, "-h"}, {name, "--help"}} {
			if o := mustRun(t, "", args...); o.stdout != short || o.stderr != "" {
				t.Errorf("tfm %s =\n%s%s\nwant the output of tfm help %s", strings.Join(args, " "), o.stdout, o.stderr, name)
			}
		}
		all := mustRun(t, "", "help", name, "-all").stdout
		for _, help := range []string{list, short, all} {
			for _, line := range strings.Split(help, "\n") {
				if utf8.RuneCountInString(line) > 80 || strings.HasSuffix(line, " ") {
					t.Errorf("tfm help %s: %q has more than 80 columns, or a space at its end", name, line)
				}
			}
		}
		mustHave(t, short, line[1], "Usage:\n  tfm "+name, "\nExample")
		var flags []string
		for _, flag := range completions(t, name, "-") {
			flags = append(flags, strings.TrimPrefix(flag, "-"))
		}
		if got := flagsIn(all); !slices.Equal(slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(flags))) {
			t.Errorf("tfm help %s -all shows the flags %v, want %v", name, got, flags)
		}
		if strings.Contains(all, "(default false") || strings.Contains(all, "default is") {
			t.Errorf("tfm help %s -all shows a default twice, or that of a switch:\n%s", name, all)
		}
	}
	for name, want := range map[string]int{"train": 15, "translate": 10} {
		if got := flagsIn(mustRun(t, "", "help", name).stdout); len(got) != want {
			t.Errorf("tfm help %s shows %d flags, want %d: %v", name, len(got), want, got)
		}
	}
}

// A manual page has the flags of the command, and mandoc finds no fault in it.
func TestManualPages(t *testing.T) {
	pages := []string{write(t, "tfm.1", mustRun(t, "", "help", "-man").stdout)}
	for _, name := range completions(t, "") {
		page := mustRun(t, "", "help", name, "-man").stdout
		pages = append(pages, write(t, "tfm-"+name+".1", page))
		if !strings.Contains(read(t, pages[0]), "\n  "+strings.ReplaceAll(name, "-", `\-`)) {
			t.Errorf("the page of tfm does not name %s", name)
		}
		for _, want := range append(completions(t, name, "-"), "NAME", "Usage:") {
			mustHave(t, page, strings.ReplaceAll(want, "-", `\-`))
		}
	}
	if _, err := exec.LookPath("mandoc"); err != nil {
		t.Skip("needs mandoc, for example from 'apt-get install mandoc'")
	}
	found, _ := exec.Command("mandoc", append([]string{"-T", "lint", "-W", "warning"}, pages...)...).CombinedOutput()
	for line := range strings.Lines(string(found)) {
		if !strings.Contains(line, "missing date") { // of a build without git
			t.Error(line)
		}
	}
}
