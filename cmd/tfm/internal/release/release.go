// Package release tells which version of the program this is.
package release

import (
	"cmp"
	"regexp"
	"runtime/debug"
	"strings"
	"sync"
)

// stamp is the version, the commit and its date, separated by spaces. The build of a release sets
// it by the linker's flag -X. Other builds use what the go command recorded.
var stamp string

// Info identifies the source code of a build.
type Info struct {
	Version string // "v1.2.3", "v1.2.4-devel" after that tag, or "devel" without a tag
	Commit  string // its first 12 digits, with "-dirty" if files were changed; "" if unknown
	Date    string // of the commit, as 2006-01-02; "" if unknown
}

// Current returns the Info of the running program.
var Current = sync.OnceValue(func() Info {
	if f := strings.Fields(stamp); len(f) == 3 {
		return Info{f[0], f[1], f[2]}
	}
	build, ok := debug.ReadBuildInfo()
	if !ok {
		return Info{Version: "unknown"}
	}
	return read(build)
})

// String returns "VERSION (COMMIT, DATE)", or the version alone if the commit is unknown.
func (i Info) String() string {
	if i.Commit == "" {
		return i.Version
	}
	return i.Version + " (" + i.Commit + ", " + i.Date + ")"
}

// Tag returns the version if the source code is that of a tag, else "".
func (i Info) Tag() string {
	if strings.HasSuffix(i.Version, "devel") || strings.HasSuffix(i.Commit, "-dirty") || !strings.HasPrefix(i.Version, "v") {
		return ""
	}
	return i.Version
}

// pseudo matches what the go command calls a commit without a tag: v1.2.4-0.20261124171330-COMMIT
// after v1.2.3, or v0.0.0-20261124171330-COMMIT if no commit before it has a tag.
var pseudo = regexp.MustCompile(`^(v\d+\.\d+\.\d+)-(.+\.)?\d{14}-[0-9a-f]{12}$`)

// read returns what the go command recorded.
func read(build *debug.BuildInfo) Info {
	recorded := map[string]string{}
	for _, s := range build.Settings {
		recorded[s.Key] = s.Value
	}
	i := Info{
		Version: cmp.Or(strings.Trim(strings.TrimSuffix(build.Main.Version, "+dirty"), "()"), "devel"),
		Commit:  recorded["vcs.revision"],
	}
	if i.Commit == "" { // built from a module's archive, or without git
		return i
	}
	if m := pseudo.FindStringSubmatch(i.Version); m != nil {
		i.Version = strings.TrimPrefix(m[1]+"-devel", "v0.0.0-")
	}
	i.Commit = i.Commit[:min(12, len(i.Commit))]
	i.Date, _, _ = strings.Cut(recorded["vcs.time"], "T")
	if recorded["vcs.modified"] == "true" {
		i.Commit += "-dirty"
	}
	return i
}
