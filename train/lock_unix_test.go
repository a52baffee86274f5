//go:build linux || darwin || dragonfly || freebsd || netbsd || openbsd

package train

import (
	"context"
	"errors"
	"testing"
)

// During a run, other runs cannot resume or replace the checkpoints in its folder. After it they
// can.
func TestTwoRunsOnOneFolder(t *testing.T) {
	o := smallOptions(3)
	o.Dir, o.SaveEvery = t.TempDir(), 1
	mustRun(t, context.Background(), newModel(t, smallConfig()), nil, copyData(), o, func(e Event) {
		if e.Kind != Saved {
			return
		}
		for _, other := range []Options{{Resume: true}, {Replace: true}} {
			second := o
			second.Resume, second.Replace = other.Resume, other.Replace
			_, err := Run(context.Background(), newModel(t, smallConfig()), nil, copyData(), second, nil)
			wantError(t, err, o.Dir, "another run is using these checkpoints")
			if !errors.Is(err, errInUse) {
				t.Errorf("error %v does not wrap errInUse", err)
			}
		}
		open(t, e.Path)
	})
	o.Resume, o.Steps = true, 4
	mustRun(t, context.Background(), newModel(t, smallConfig()), nil, copyData(), o, nil)
}
