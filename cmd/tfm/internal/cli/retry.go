package cli

import (
	"errors"
	"io"
	"slices"
	"syscall"
)

// retryCode is the exit code after a failure that another attempt may not have, EX_TEMPFAIL of
// sysexits.h.
const retryCode = 75

// retryErrors are errors of systems that pass: a full or failing disk, a network, limits.
var retryErrors = []syscall.Errno{syscall.EIO, syscall.ENOSPC, syscall.EDQUOT, syscall.ESTALE, syscall.ETIMEDOUT, syscall.EAGAIN, syscall.EINTR,
	syscall.ENOMEM, syscall.ENFILE, syscall.EMFILE, syscall.ECONNRESET, syscall.ENETDOWN, syscall.ENETUNREACH}

// RetryError is the error of a command whose next attempt may succeed.
type RetryError struct{ Err error }

func (e RetryError) Error() string { return e.Err.Error() }

func (e RetryError) Unwrap() error { return e.Err }

// MayRetry returns err as a RetryError if its cause is a device, a network, an input that broke
// off, or SIGTERM, by which engines move work to other machines.
func MayRetry(err error) error {
	var number syscall.Errno
	var interrupted InterruptError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &interrupted):
		if interrupted.Signal != syscall.SIGTERM {
			return err
		}
	case errors.As(err, &number):
		if !slices.Contains(retryErrors, number) {
			return err
		}
	case !errors.Is(err, io.ErrUnexpectedEOF):
		return err
	}
	return RetryError{err}
}
