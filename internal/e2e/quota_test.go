package e2e

import (
	"os/exec"
	"strings"
	"testing"
)

// The default number of threads is GOMAXPROCS, which respects the processor quota of a container
// only in programs whose module asks for the behaviour of Go 1.25 or later.
func TestThreadsRespectTheQuotaOfAContainer(t *testing.T) {
	settings, err := exec.Command("go", "list", "-f", "{{.DefaultGODEBUG}}", "tfm/cmd/tfm").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	for setting := range strings.SplitSeq(strings.TrimSpace(string(settings)), ",") {
		if setting == "containermaxprocs=0" || setting == "updatemaxprocs=0" {
			t.Errorf("tfm is built with GODEBUG %s; go.mod must say go 1.25 or later", setting)
		}
	}
}
