// Command languages makes the profiles of package detect from texts. From the same texts it makes
// the same file on one machine:
//
//	cd tools && go run ./languages TEXTS ../text/detect/profiles.bin
//
// The folder TEXTS has a folder of each language in tags.txt, by its tag, with files of clean lines
// in UTF-8, one of each kind of text. Their names are NAME_WEIGHT.txt: one with WEIGHT 2 is drawn
// from twice as often as one with 1.
//
//	main.go   the languages and their texts
//	train.go  the training, by stochastic gradient descent
//	round.go  integers, and the slopes of held-out texts
package main

import (
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"tfm/internal/hash"
	"tfm/text"
	"tfm/text/detect/profile"
)

// tags has a line of each script that several languages have, in the order of the profiles.
//
//go:embed tags.txt
var tags string

// language is a language with its texts.
type language struct {
	tag     string
	script  profile.Script
	sources []source
}

// source is the lines of a file, those to train and those held out.
type source struct {
	weight         float64
	train, heldOut []string
}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: languages TEXTS OUTPUT")
		os.Exit(2)
	}
	languages, err := readTexts(os.Args[1])
	if err == nil {
		err = os.WriteFile(os.Args[2], build(languages, 2_000_000).Encode(), 0o666)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "languages:", err)
		os.Exit(1)
	}
}

func readTexts(dir string) (languages []language, err error) {
	for script, list := range strings.Split(strings.TrimSpace(tags), "\n") {
		for tag := range strings.FieldsSeq(list) {
			l := language{tag: tag, script: profile.Script(script)}
			paths, _ := filepath.Glob(filepath.Join(dir, tag, "*.txt"))
			seen, heldOut := map[uint64]bool{}, 0
			for _, path := range paths {
				s, err := readSource(path, seen)
				if err != nil {
					return nil, err
				}
				heldOut += len(s.heldOut)
				l.sources = append(l.sources, s)
			}
			if heldOut == 0 {
				return nil, fmt.Errorf("%s: found no text or too few lines", filepath.Join(dir, tag))
			}
			languages = append(languages, l)
		}
	}
	return languages, nil
}

// readSource reads the lines of a file that are not seen. One in 20 is held out. Files of less than
// 50 kB are drawn from less often.
func readSource(path string, seen map[uint64]bool) (s source, err error) {
	_, weight, _ := strings.Cut(strings.TrimSuffix(filepath.Base(path), ".txt"), "_")
	if s.weight, err = strconv.ParseFloat(weight, 64); err != nil || s.weight <= 0 {
		return s, fmt.Errorf("%s: found the weight %q, expected a number above 0", path, weight)
	}
	size := 0
	for line, err := range text.Lines(path) {
		if err != nil {
			return s, err
		}
		h, _ := hash.Text(line)
		switch {
		case seen[h]:
		case h%20 == 0:
			s.heldOut = append(s.heldOut, line)
		default:
			s.train = append(s.train, line)
			size += len(line)
		}
		seen[h] = true
	}
	s.weight *= min(1, float64(size)/50e3)
	return s, nil
}
