package scoring

import (
	"fmt"

	"tfm/text"
)

// ReadFiles returns the lines of the files, which must have equal counts.
func ReadFiles(paths []string) ([][]string, error) {
	files := make([][]string, len(paths))
	for i, path := range paths {
		for line, err := range text.Lines(path) {
			if err != nil {
				return nil, err
			}
			files[i] = append(files[i], line)
		}
		if err := checkCounts(paths[0], len(files[0]), path, len(files[i])); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// ReadHypotheses returns the lines of a file. Their count must equal that of the references. Errors
// call the first reference firstReference.
func ReadHypotheses(path string, references [][]string, firstReference string) ([]string, error) {
	file, err := text.OpenInput(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var hyps []string
	for line, err := range text.ReadLines(file, text.InputName(path)) {
		if err != nil {
			return nil, err
		}
		hyps = append(hyps, line)
	}
	return hyps, checkCounts(path, len(hyps), firstReference, len(references[0]))
}

// checkCounts reports unequal line counts of two files.
func checkCounts(a string, aLines int, b string, bLines int) error {
	if aLines == bLines {
		return nil
	}
	return fmt.Errorf("unequal line counts: %s has %d, %s has %d", text.InputName(a), aLines, text.InputName(b), bLines)
}
