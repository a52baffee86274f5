package train

import (
	"errors"
	"fmt"
	"os"
)

// errInUse is wrapped in the error of Run and Lock if another run uses the folder.
var errInUse = errors.New("another run is using these checkpoints")

// Lock reserves a folder of checkpoints for this run until unlock is called or the process ends. It
// fails if another run, in this or another process, holds the lock. Run locks Options.Dir. On
// systems without file locks, Lock does nothing.
func Lock(dir string) (unlock func(), err error) {
	if unlock, err = lock(dir); err == nil && unlock == nil {
		err = errInUse
	}
	if err != nil {
		return nil, fmt.Errorf("train: %s: %w", dir, err)
	}
	return unlock, nil
}

// lockDir locks the folder of the run. For a new run it creates the folder.
func (o Options) lockDir() (unlock func(), err error) {
	if o.Dir == "" {
		return func() {}, nil
	}
	if !o.Resume {
		if err := os.MkdirAll(o.Dir, 0o777); err != nil {
			return nil, err
		}
	} else if _, err := os.Stat(o.Dir); errors.Is(err, os.ErrNotExist) {
		return func() {}, nil // begin returns the error that there is no checkpoint
	}
	return Lock(o.Dir)
}
