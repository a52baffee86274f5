package train

import (
	"errors"
	"fmt"
	"os"
)

// errInUse is in the error of a Run or a Lock on a folder that another run is using.
var errInUse = errors.New("another run is using these checkpoints")

// Lock keeps other runs, of other processes too, out of a folder of checkpoints until unlock is
// called or the process ends, however it ends. Run does that for Options.Dir. It is an error, which
// names the folder, if another run has the lock. On systems without locks it does nothing.
func Lock(dir string) (unlock func(), err error) {
	unlock, err = lock(dir)
	if err != nil {
		return nil, fmt.Errorf("train: %s: %w", dir, err)
	}
	return unlock, nil
}

// lockDir locks the folder of the run, and makes it for a new run.
func (o Options) lockDir() (unlock func(), err error) {
	if o.Dir == "" {
		return func() {}, nil
	}
	if !o.Resume {
		if err := os.MkdirAll(o.Dir, 0o777); err != nil {
			return nil, err
		}
	} else if _, err := os.Stat(o.Dir); errors.Is(err, os.ErrNotExist) {
		return func() {}, nil // begin reports that there is no checkpoint
	}
	return Lock(o.Dir)
}
