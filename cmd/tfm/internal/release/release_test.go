package release

import (
	"runtime/debug"
	"testing"
)

func TestRead(t *testing.T) {
	const commit, date = "0a842496115f661f8eaa1651a6a73c1113788997", "2026-11-24T17:22:57Z"
	for _, c := range []struct {
		version, commit, modified string
		want, tag                 string
	}{
		{"(devel)", "", "", "devel", ""}, // go build -buildvcs=false
		{"", "", "", "devel", ""},
		{"v1.2.3", "", "", "v1.2.3", "v1.2.3"}, // go install MODULE@v1.2.3
		{"v1.2.3", commit, "false", "v1.2.3 (0a842496115f, 2026-11-24)", "v1.2.3"},
		{"v1.2.3-rc.1", commit, "false", "v1.2.3-rc.1 (0a842496115f, 2026-11-24)", "v1.2.3-rc.1"},
		{"v1.2.3+dirty", commit, "true", "v1.2.3 (0a842496115f-dirty, 2026-11-24)", ""},
		{"v1.2.4-0.20261124172257-0a842496115f", commit, "false", "v1.2.4-devel (0a842496115f, 2026-11-24)", ""},
		{"v1.2.3-rc.1.0.20261124172257-0a842496115f", commit, "false", "v1.2.3-devel (0a842496115f, 2026-11-24)", ""},
		{"v0.0.0-20261124172257-0a842496115f+dirty", commit, "true", "devel (0a842496115f-dirty, 2026-11-24)", ""},
	} {
		build := debug.BuildInfo{Main: debug.Module{Version: c.version}}
		if c.commit != "" {
			build.Settings = []debug.BuildSetting{{Key: "vcs.revision", Value: c.commit}, {Key: "vcs.time", Value: date}, {Key: "vcs.modified", Value: c.modified}}
		}
		if i := read(&build); i.String() != c.want || i.Tag() != c.tag {
			t.Errorf("%q, modified %q: %q and tag %q, want %q and %q", c.version, c.modified, i, i.Tag(), c.want, c.tag)
		}
	}
}
