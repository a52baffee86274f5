package runlog

import (
	"fmt"
	"syscall"
	"testing"
)

// The logs of a training can be more than a process may open.
func TestReadRoundsOpensOneLogAtATime(t *testing.T) {
	logs := map[string]string{}
	for round := 1; round <= 60; round++ {
		logs[fmt.Sprintf("round-%04d/worker-0.jsonl", round)] = fmt.Sprintf(`{"event":"step","step":%d}`, round)
	}
	dir := writeLogs(t, logs)
	var limit syscall.Rlimit
	must(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit))
	must(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: 40, Max: limit.Max}))
	defer syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit)
	all, err := ReadRounds(dir)
	must(t, err)
	if len(all.Steps) != 60 {
		t.Errorf("found %d steps, want 60", len(all.Steps))
	}
}
