package train

import (
	"errors"
	"fmt"
	"os"
)

// errInUse is in the error of a Run, or a Lock, whose folder of checkpoints another run is using.
var errInUse = errors.New("another run is using these checkpoints")

// Lock keeps other runs out of a folder of checkpoints, those of other processes too, until unlock is called or the
// process ends, however it ends. Run does it for Options.Dir. Where the system has no locks, nothing is kept out.
// An error that is errInUse names the folder.
func Lock(dir string) (unlock func(), err error) {
	unlock, err = lock(dir)
	if err != nil {
		return nil, fmt.Errorf("train: %s: %w", dir, err)
	}
	return unlock, nil
}

// lockDir locks the folder of the run, which it makes for a new one.
func (o Options) lockDir() (unlock func(), err error) {
	if o.Dir == "" {
		return func() {}, nil
	}
	if !o.Resume {
		if err := os.MkdirAll(o.Dir, 0o777); err != nil {
			return nil, err
		}
	} else if _, err := os.Stat(o.Dir); errors.Is(err, os.ErrNotExist) {
		return func() {}, nil // there is nothing to go on from, which is said elsewhere
	}
	return Lock(o.Dir)
}
