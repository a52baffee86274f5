package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// InterruptError is the signal that interrupted a command.
type InterruptError struct{ Signal os.Signal }

func (e InterruptError) Error() string { return fmt.Sprintf("interrupted: %v", e.Signal) }

// ExitCode returns the exit code that shells report for the signal: 130 after Ctrl-C, 143 after
// SIGTERM.
func (e InterruptError) ExitCode() int {
	if s, ok := e.Signal.(syscall.Signal); ok {
		return 128 + int(s)
	}
	return 1
}

// Interruptible returns a context that ends on SIGINT, SIGTERM or SIGHUP, with an InterruptError as
// its cause. The next of these signals ends the program. Signals that the program was started to
// ignore, for example by nohup, stay ignored. SIGPIPE is ignored, so that a run survives the reader
// of its progress.
func Interruptible(parent context.Context) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 1)
	for _, s := range []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(s) {
			signal.Notify(signals, s)
		}
	}
	survivePipe()
	go func() {
		select {
		case s := <-signals:
			signal.Stop(signals)
			cancel(InterruptError{s})
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		cancel(nil)
	}
}

// Interruption returns the InterruptError that ended ctx, or nil.
func Interruption(ctx context.Context) error {
	var e InterruptError
	if errors.As(context.Cause(ctx), &e) {
		return e
	}
	return nil
}
