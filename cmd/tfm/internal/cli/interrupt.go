package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// InterruptError is the signal that ended a training before its time.
type InterruptError struct{ Signal os.Signal }

func (e InterruptError) Error() string { return fmt.Sprintf("interrupted: %v", e.Signal) }

// ExitCode is what a shell shows for a program that the signal ended: 130 after Ctrl-C, 143 after
// SIGTERM.
func (e InterruptError) ExitCode() int {
	if s, ok := e.Signal.(syscall.Signal); ok {
		return 128 + int(s)
	}
	return 1
}

// Interruptible returns a context that SIGINT, SIGTERM or SIGHUP ends, the cause being an
// InterruptError. The next of these signals ends the program at once. A pipe that nobody reads any
// more ends nothing: a training is worth more than its progress line. Signals that the program was
// started to ignore (as with nohup) stay ignored.
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

// Interruption is the signal that ended ctx; nil if none did.
func Interruption(ctx context.Context) error {
	var e InterruptError
	if errors.As(context.Cause(ctx), &e) {
		return e
	}
	return nil
}
