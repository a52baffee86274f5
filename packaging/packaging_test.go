package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// toyRelease returns the files of a release whose binaries are short texts.
func toyRelease(t *testing.T) map[string][]byte {
	t.Helper()
	r := release{
		version: "1.2.3-rc.1", commit: "0a842496115f", date: time.Unix(1700000000, 0),
		docs:    []file{{"README.md", 0o644, []byte("read me")}, {"LICENSE", 0o644, []byte("MIT")}, {"LICENSE-Go", 0o644, []byte("BSD")}, {"docs/a.md", 0o644, []byte("a")}},
		pages:   []file{{"tfm.1", 0o644, []byte(".TH TFM")}},
		scripts: []file{{"tfm.bash", 0o644, []byte("b")}, {"_tfm", 0o644, []byte("z")}, {"tfm.fish", 0o644, []byte("f")}, {"tfm.ps1", 0o644, []byte("p")}},
	}
	binaries := map[target][]byte{}
	for _, t := range targets {
		binaries[t] = []byte("binary for " + t.os + t.arch)
	}
	files, err := r.files(binaries)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// untar returns "PATH MODE CONTENT" of the files of an archive, without its folders.
func untar(t *testing.T, data []byte) (files []string) {
	t.Helper()
	r := tar.NewReader(bytes.NewReader(data))
	for {
		h, err := r.Next()
		if err == io.EOF {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		if h.Uid != 0 || h.Gid != 0 || h.ModTime.Unix() != 1700000000 {
			t.Errorf("%s: owner %d:%d, time %v", h.Name, h.Uid, h.Gid, h.ModTime)
		}
		if h.Typeflag == tar.TypeReg || h.Mode != 0o755 {
			files = append(files, fmt.Sprintf("%s %o %s", h.Name, h.Mode, content))
		}
	}
}

func gunzip(t *testing.T, data []byte) []byte {
	t.Helper()
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func TestReleaseIsReproducible(t *testing.T) {
	first := toyRelease(t)
	t.Setenv("TZ", "Asia/Tokyo")
	second := toyRelease(t)
	if len(first) != 9 || len(second) != len(first) {
		t.Errorf("%d and %d files, want 9", len(first), len(second))
	}
	for name, data := range first {
		if !bytes.Equal(second[name], data) {
			t.Errorf("two runs differ in %s", name)
		}
		if sum := fmt.Sprintf("%x  %s\n", sha256.Sum256(data), name); name != "SHA256SUMS" && !strings.Contains(string(first["SHA256SUMS"]), sum) {
			t.Errorf("SHA256SUMS lacks %q", sum)
		}
	}
}

func TestArchives(t *testing.T) {
	files := toyRelease(t)
	const folder = "tfm-1.2.3-rc.1-macos-arm64/"
	want := []string{
		"LICENSE 644 MIT", "LICENSE-Go 644 BSD", "README.md 644 read me",
		"completions/_tfm 644 z", "completions/tfm.bash 644 b", "completions/tfm.fish 644 f", "completions/tfm.ps1 644 p",
		"docs/a.md 644 a", "man/man1/tfm.1 644 .TH TFM", "tfm 755 binary for darwinarm64",
	}
	for i := range want {
		want[i] = folder + want[i]
	}
	if got := untar(t, gunzip(t, files["tfm-1.2.3-rc.1-macos-arm64.tar.gz"])); !slices.Equal(got, want) {
		t.Errorf("the archive has\n%q, want\n%q", got, want)
	}
	data := files["tfm-1.2.3-rc.1-windows-amd64.zip"]
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	f, err := z.Open("tfm-1.2.3-rc.1-windows-amd64/tfm.exe")
	if err != nil {
		t.Fatal(err)
	}
	if content, err := io.ReadAll(f); err != nil || string(content) != "binary for windowsamd64" {
		t.Errorf("tfm.exe is %q, %v", content, err)
	}
}

func TestDeb(t *testing.T) {
	data := toyRelease(t)["tfm_1.2.3~rc.1_arm64.deb"]
	rest, ok := bytes.CutPrefix(data, []byte("!<arch>\n"))
	if !ok {
		t.Fatal("no archive of ar")
	}
	members := map[string][]byte{}
	for len(rest) > 0 {
		size, err := strconv.Atoi(strings.TrimSpace(string(rest[48:58])))
		if err != nil {
			t.Fatal(err)
		}
		members[strings.TrimSpace(string(rest[:16]))] = rest[60 : 60+size]
		rest = rest[60+size+size%2:]
	}
	if string(members["debian-binary"]) != "2.0\n" {
		t.Errorf("debian-binary is %q", members["debian-binary"])
	}
	control := untar(t, gunzip(t, members["control.tar.gz"]))
	for _, want := range []string{"./control 644 Package: tfm\nVersion: 1.2.3~rc.1\nArchitecture: arm64\n", "  usr/bin/tfm\n"} {
		if !strings.Contains(strings.Join(control, ""), want) {
			t.Errorf("no %q in %q", want, control)
		}
	}
	page, err := gzipped([]byte(".TH TFM"))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"bin/tfm 755 binary for linuxarm64", "lib/systemd/system/tfm.service 644 " + string(unit),
		"share/bash-completion/completions/tfm 644 b",
		"share/doc/tfm/README.md 644 read me", "share/doc/tfm/copyright 644 MIT\nBSD\n", "share/doc/tfm/docs/a.md 644 a",
		"share/fish/vendor_completions.d/tfm.fish 644 f",
		"share/man/man1/tfm.1.gz 644 " + string(page),
		"share/zsh/vendor-completions/_tfm 644 z",
	}
	for i := range want {
		want[i] = "./usr/" + want[i]
	}
	if got := untar(t, gunzip(t, members["data.tar.gz"])); !slices.Equal(got, want) {
		t.Errorf("the package has\n%q, want\n%q", got, want)
	}
	if _, err := exec.LookPath("dpkg-deb"); err != nil {
		t.Skip("optional: dpkg-deb is of Debian")
	}
	path := filepath.Join(t.TempDir(), "tfm.deb")
	if err := os.WriteFile(path, data, 0o666); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("dpkg-deb", "--contents", path).CombinedOutput(); err != nil || !strings.Contains(string(out), "./usr/bin/tfm\n") {
		t.Errorf("dpkg-deb --contents: %v\n%s", err, out)
	}
}
