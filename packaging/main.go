// Command packaging writes the files of a release: for each system an archive, for Linux also a
// Debian package, and their checksums. release.sh runs it in a checkout. The same commit, version
// and Go give the same bytes on every machine.
//
//	main.go     what a release consists of
//	build.go    the binaries, and what they print of themselves
//	archive.go  files as tar, tar.gz and zip
//	deb.go      the Debian package, with the systemd unit tfm.service
package main

import (
	"cmp"
	"crypto/sha256"
	"flag"
	"fmt"
	"log"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// name is that of the program, of its folder in cmd and of the packages.
const name = "tfm"

// release is what all files of a release have in common.
type release struct {
	version string    // without "v"
	commit  string    // its first 12 digits
	date    time.Time // of the commit, and of every file
	docs    []file    // README.md and the other documents, at their places
	pages   []file    // manual pages: NAME.1
	scripts []file    // completions, one for each of shells
}

// shells have completions, under a name of their own in archives and in usr/share of Debian.
var shells = []struct{ shell, file, debian string }{
	{"bash", name + ".bash", "bash-completion/completions/" + name},
	{"zsh", "_" + name, "zsh/vendor-completions/_" + name},
	{"fish", name + ".fish", "fish/vendor_completions.d/" + name + ".fish"},
	{"powershell", name + ".ps1", ""}, // Debian has no place
}

// target is a system for which there is a binary.
type target struct{ os, arch string }

var targets = []target{
	{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}, {"windows", "amd64"}, {"windows", "arm64"},
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("packaging: ")
	var r release
	flag.StringVar(&r.version, "version", "", "version, without v")
	flag.StringVar(&r.commit, "commit", "", "commit")
	seconds := flag.Int64("date", 0, "date of the commit, in seconds since 1970")
	dir := flag.String("o", "", "folder to write")
	flag.Parse()
	r.date = time.Unix(*seconds, 0).UTC()
	if err := r.write(*dir); err != nil {
		log.Fatal(err)
	}
}

// write builds the release in dir, which is created.
func (r *release) write(dir string) error {
	binaries, err := r.build()
	if err != nil {
		return err
	}
	if r.docs, err = documents(); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	files, err := r.files(binaries)
	if err != nil {
		return err
	}
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o666); err != nil {
			return err
		}
	}
	return nil
}

// files returns the files of the release by name.
func (r *release) files(binaries map[target][]byte) (map[string][]byte, error) {
	files := map[string][]byte{}
	for _, t := range targets {
		system := cmp.Or(map[string]string{"darwin": "macos"}[t.os], t.os)
		full := fmt.Sprintf("%s-%s-%s-%s", name, r.version, system, t.arch)
		program := file{name, 0o755, binaries[t]}
		var err error
		if t.os == "windows" {
			program.path += ".exe"
			files[full+".zip"], err = zipArchive(r.archive(program), full, r.date)
		} else {
			files[full+".tar.gz"], err = tarGz(r.archive(program), full, r.date)
		}
		if err == nil && t.os == "linux" {
			files[fmt.Sprintf("%s_%s_%s.deb", name, r.debianVersion(), t.arch)], err = r.deb(program, t.arch)
		}
		if err != nil {
			return nil, err
		}
	}
	var sums strings.Builder
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(files[name]), name)
	}
	files["SHA256SUMS"] = []byte(sums.String())
	return files, nil
}

// archive returns the files of an archive.
func (r *release) archive(program file) []file {
	files := append([]file{program}, r.docs...)
	files = append(files, under("man/man1", r.pages)...)
	return append(files, under("completions", r.scripts)...)
}
