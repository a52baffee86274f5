package filter

import (
	"fmt"

	"tfm/internal/format"
)

// FailedLine is the kind of the warning about a line without answer.
const FailedLine = "lines that were not translated"

// Failed returns the error that failed units of all, such as lines, were not done, such as
// translated. It is nil if failed is 0.
func Failed(failed, all int, unit, done string) error {
	if failed == 0 {
		return nil
	}
	return fmt.Errorf("%s of %s not %s", format.Thousands(failed), format.Count(all, unit), done)
}
