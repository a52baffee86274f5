package main

import (
	"bytes"
	"io"
	"os"
	"time"

	"tfm/train"
)

// appendFile is a file that a run adds to as it goes, in pieces that it flushes. A training is worth more than the record of
// it: if the file cannot be written, warn is called once, and nothing is written any more.
type appendFile struct {
	f       *os.File // nil if it cannot be written
	buf     []byte   // what is not yet in the file; grows to what a second brings
	flushed time.Time
	warn    func(error)
}

func openAppendFile(path string, flags int, warn func(error)) *appendFile {
	a := &appendFile{warn: warn, flushed: time.Now()}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|flags, 0o666)
	if err != nil {
		warn(err)
		return a
	}
	a.f = f
	return a
}

// Write never fails: see flush.
func (a *appendFile) Write(p []byte) (int, error) {
	if a.f != nil {
		a.buf = append(a.buf, p...)
	}
	return len(p), nil
}

// flushAfter flushes what there is after an event: at once, but steps only every second, for there can be hundreds.
func (a *appendFile) flushAfter(k train.Kind) {
	if now := time.Now(); k != train.Stepped || now.Sub(a.flushed) >= time.Second {
		a.flushed = now
		a.flush()
	}
}

func (a *appendFile) flush() {
	if a.f == nil {
		return
	}
	_, err := a.f.Write(a.buf)
	a.buf = a.buf[:0]
	a.check(err)
}

func (a *appendFile) close() {
	if a.flush(); a.f != nil {
		a.check(a.f.Close())
		a.f = nil
	}
}

func (a *appendFile) check(err error) {
	if err != nil && a.f != nil {
		a.f.Close()
		a.f = nil
		a.warn(err)
	}
}

// toLastLine goes to the end of the last whole line and cuts off what a killed run left behind it.
func (a *appendFile) toLastLine() {
	if a.f == nil {
		return
	}
	size, err := a.f.Seek(0, io.SeekEnd)
	end := size
	for block := make([]byte, 1<<16); err == nil && end > 0; {
		part := block[:min(end, int64(len(block)))]
		if _, err = a.f.ReadAt(part, end-int64(len(part))); err != nil {
			break
		}
		if i := bytes.LastIndexByte(part, '\n'); i >= 0 {
			end -= int64(len(part) - 1 - i)
			break
		}
		end -= int64(len(part))
	}
	if err == nil && end < size {
		if err = a.f.Truncate(end); err == nil {
			_, err = a.f.Seek(end, io.SeekStart)
		}
	}
	a.check(err)
}
