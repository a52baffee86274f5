// Package tensorboard writes TensorBoard event files: scalars and histograms over the steps of a
// training. It imports only the standard library. tensorboard.go is the whole package.
//
// An event file is a sequence of records in TensorFlow's TFRecord format. A record contains one
// protocol buffer message Event (tensorflow/core/util/event.proto):
//
//	uint64 length | uint32 masked CRC-32C of length | Event | uint32 masked CRC-32C of Event
//
// in little-endian order. A checksum c is masked as (c rotated right by 15 bits) + 0xa282ead8. The
// first Event contains the version of the format. TensorBoard reads all files of a folder whose
// names contain "tfevents", in the order of their names.
//
// # Resumed runs
//
// A run that is resumed at step n repeats steps that the killed run has already written.
// Writer.Start(n+1) at the beginning of a new file in the same folder makes TensorBoard drop the
// earlier events of steps ≥ n+1. The faster loader of TensorBoard 2.5 and later ignores Start,
// but if the steps of a tag do not ascend, it drops the tag's earlier events from that step on,
// which has the same effect.
package tensorboard

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"math/bits"
	"time"
)

// Writer writes an event file. It writes each event with one call of the io.Writer's Write. After
// the first events, Scalars allocates nothing. A Writer is not safe for concurrent use.
type Writer struct {
	w             io.Writer
	record        []byte // header and Event
	value, packed []byte // a Summary, and a message in it
}

// Scalar is a named number. TensorBoard groups tags by the prefix before the first slash.
type Scalar struct {
	Tag   string
	Value float64 // written as float32
}

// Histogram counts values: Counts[i] is the number of values in (Limits[i-1], Limits[i]], Counts[0]
// that in [Min, Limits[0]]. The first and the last count should not be 0, because TensorBoard uses
// Min and Max as the bounds of these intervals.
type Histogram struct {
	Min, Max        float64 // of the values
	Sum, SumSquares float64 // of the values
	Limits          []float64
	Counts          []float64 // len(Counts) = len(Limits)
}

// FileName returns the name of an event file that is created now. The names are in the order of
// creation.
func FileName(now time.Time) string {
	return fmt.Sprintf("events.out.tfevents.%010d.%09d.tfm", now.Unix(), now.Nanosecond())
}

// NewWriter returns a Writer to w, after writing the first event, the version. Like all methods, it
// returns the error of w.
func NewWriter(w io.Writer, now time.Time) (*Writer, error) {
	t := &Writer{w: w}
	t.begin(now, 0)
	t.record = appendBytes(t.record, eventFileVersion, "brain.Event:2")
	return t, t.end()
}

// Start marks the start of a session at a step: events of this and later steps in earlier files are
// invalid.
func (t *Writer) Start(now time.Time, step int) error {
	t.begin(now, step)
	t.record = appendBytes(t.record, eventSessionLog, appendVarint(nil, sessionLogStatus, sessionLogStart))
	return t.end()
}

// Scalars writes scalars of a step.
func (t *Writer) Scalars(now time.Time, step int, scalars ...Scalar) error {
	t.begin(now, step)
	for _, s := range scalars {
		t.value = appendBytes(t.value, summaryValue, t.scalar(s))
	}
	t.record = appendBytes(t.record, eventSummary, t.value)
	return t.end()
}

// Histogram writes a histogram of a step. It panics if the lengths of Limits and Counts differ.
func (t *Writer) Histogram(now time.Time, step int, tag string, h Histogram) error {
	if len(h.Limits) != len(h.Counts) {
		panic(fmt.Sprintf("tensorboard: histogram with %d limits and %d counts", len(h.Limits), len(h.Counts)))
	}
	t.begin(now, step)
	t.value = appendBytes(t.value, summaryValue, t.histogram(tag, h))
	t.record = appendBytes(t.record, eventSummary, t.value)
	return t.end()
}

const headerSize = 8 + 4 // bytes of a record before the Event

// begin starts a record with Event.wall_time, in seconds, and Event.step.
func (t *Writer) begin(now time.Time, step int) {
	t.record = append(t.record[:0], make([]byte, headerSize)...)
	t.record = appendDouble(t.record, eventWallTime, float64(now.UnixMicro())/1e6)
	t.record = appendVarint(t.record, eventStep, uint64(step))
	t.value = t.value[:0]
}

// end adds length and checksums to the record and writes it.
func (t *Writer) end() error {
	length := uint64(len(t.record) - headerSize)
	binary.LittleEndian.PutUint64(t.record, length)
	binary.LittleEndian.PutUint32(t.record[8:], maskedCRC(t.record[:8]))
	t.record = binary.LittleEndian.AppendUint32(t.record, maskedCRC(t.record[headerSize:]))
	_, err := t.w.Write(t.record)
	return err
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func maskedCRC(b []byte) uint32 {
	return bits.RotateLeft32(crc32.Checksum(b, castagnoli), -15) + 0xa282ead8
}

// Fields of the messages Event, SessionLog, Summary, Summary.Value and HistogramProto.
const (
	eventWallTime    = 1 // double
	eventStep        = 2 // int64
	eventFileVersion = 3 // string
	eventSummary     = 5 // Summary
	eventSessionLog  = 7 // SessionLog

	sessionLogStatus = 1 // enum
	sessionLogStart  = 1

	summaryValue = 1 // repeated Value

	valueTag       = 1 // string
	valueSimple    = 2 // float
	valueHistogram = 5 // HistogramProto

	histogramMin        = 1 // double
	histogramMax        = 2 // double
	histogramCount      = 3 // double
	histogramSum        = 4 // double
	histogramSumSquares = 5 // double
	histogramLimits     = 6 // repeated double, packed
	histogramCounts     = 7 // repeated double, packed
)

// scalar returns the Summary.Value of s.
func (t *Writer) scalar(s Scalar) []byte {
	t.packed = appendBytes(t.packed[:0], valueTag, s.Tag)
	t.packed = appendKey(t.packed, valueSimple, fixed32)
	t.packed = binary.LittleEndian.AppendUint32(t.packed, math.Float32bits(float32(s.Value)))
	return t.packed
}

// histogram returns the Summary.Value of h.
func (t *Writer) histogram(tag string, h Histogram) []byte {
	var count float64
	for _, c := range h.Counts {
		count += c
	}
	var p []byte
	p = appendDouble(p, histogramMin, h.Min)
	p = appendDouble(p, histogramMax, h.Max)
	p = appendDouble(p, histogramCount, count)
	p = appendDouble(p, histogramSum, h.Sum)
	p = appendDouble(p, histogramSumSquares, h.SumSquares)
	p = appendBytes(p, histogramLimits, doubles(h.Limits))
	p = appendBytes(p, histogramCounts, doubles(h.Counts))
	t.packed = appendBytes(t.packed[:0], valueTag, tag)
	t.packed = appendBytes(t.packed, valueHistogram, p)
	return t.packed
}

// Wire types of protocol buffers.
const (
	varint    = 0
	fixed64   = 1
	delimited = 2
	fixed32   = 5
)

func appendKey(b []byte, field, wire uint64) []byte { return binary.AppendUvarint(b, field<<3|wire) }

func appendVarint(b []byte, field, x uint64) []byte {
	return binary.AppendUvarint(appendKey(b, field, varint), x)
}

func appendDouble(b []byte, field uint64, x float64) []byte {
	return binary.LittleEndian.AppendUint64(appendKey(b, field, fixed64), math.Float64bits(x))
}

func appendBytes[T string | []byte](b []byte, field uint64, x T) []byte {
	b = binary.AppendUvarint(appendKey(b, field, delimited), uint64(len(x)))
	return append(b, x...)
}

func doubles(x []float64) []byte {
	b := make([]byte, 0, 8*len(x))
	for _, v := range x {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
	}
	return b
}
