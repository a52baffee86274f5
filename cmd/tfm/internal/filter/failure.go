package filter

import (
	"errors"
	"fmt"
	"math"

	"tfm/internal/format"
	"tfm/translate"
)

// FailedLine is the kind of the warning about a line without answer.
const FailedLine = "lines that were not translated"

// Failure returns an error if r has no translation because its markup is wrong or no hypothesis is
// possible.
func Failure(r *translate.Result) error {
	if r.Err != nil {
		return r.Err
	}
	if len(r.Translations) > 0 && math.IsInf(r.Translations[0].Score, -1) {
		return errors.New("no translation: the flags allow none, or the model's scores are not finite")
	}
	return nil
}

// Failed returns the error that failed units of all, such as lines, were not done, such as
// translated. It is nil if failed is 0.
func Failed(failed, all int, unit, done string) error {
	if failed == 0 {
		return nil
	}
	return fmt.Errorf("%s of %s not %s", format.Thousands(failed), format.Count(all, unit), done)
}
