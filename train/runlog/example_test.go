package runlog_test

import (
	"fmt"
	"os"
	"path/filepath"

	"tfm/train/runlog"
)

// A run is killed after step 2 and resumed from the checkpoint of step 1. Read returns step 2 once.
func Example() {
	dir, err := os.MkdirTemp("", "runlog")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, runlog.FileName)

	w, err := runlog.Create(path)
	if err != nil {
		panic(err)
	}
	w.Start(runlog.Start{Settings: runlog.Settings{"preset": "tiny"}})
	w.Step(runlog.Step{Step: 1, Loss: 9.1})
	w.Sync() // before the checkpoint of step 1 becomes visible
	w.Saved(runlog.Saved{Step: 1, Path: "step-00000001.safetensors"})
	w.Step(runlog.Step{Step: 2, Loss: 8.7})
	w.Close()

	if w, err = runlog.Append(path); err != nil {
		panic(err)
	}
	w.Start(runlog.Start{Step: 1, Settings: runlog.Settings{"preset": "tiny"}})
	w.Step(runlog.Step{Step: 2, Loss: 8.5})
	w.End(runlog.End{Reason: "all steps are done", Step: 2})
	if err := w.Close(); err != nil {
		panic(err)
	}

	r, err := runlog.ReadFile(path)
	if err != nil {
		panic(err)
	}
	for _, s := range r.Steps {
		fmt.Println(s.Step, s.Loss)
	}
	fmt.Println(len(r.Starts)-1, "resume;", r.End.Reason)
	// Output:
	// 1 9.1
	// 2 8.5
	// 1 resume; all steps are done
}
