package main

import (
	"bytes"
	"crypto/md5"
	_ "embed"
	"fmt"
	"strings"
)

const (
	maintainer  = "The tfm Authors <tfm@invalid>"
	description = `machine translation on ordinary CPUs
 Trains the Transformer of "Attention Is All You Need" on parallel text and
 translates with it. One static binary without dependencies.`
)

// unit is the systemd unit of 'tfm serve'.
//
//go:embed tfm.service
var unit []byte

// debianVersion is the version as dpkg compares it: 1.2.3~rc.1 comes before 1.2.3.
func (r *release) debianVersion() string { return strings.Replace(r.version, "-", "~", 1) }

// deb returns a package that installs the program with its manual pages, completions and documents.
func (r *release) deb(program file, arch string) ([]byte, error) {
	const share = "usr/share/"
	files := under("usr/bin", []file{program})
	files = append(files, file{"usr/lib/systemd/system/" + name + ".service", 0o644, unit})
	for _, page := range r.pages {
		data, err := gzipped(page.data)
		if err != nil {
			return nil, err
		}
		files = append(files, file{share + "man/man1/" + page.path + ".gz", page.mode, data})
	}
	for i, script := range r.scripts {
		if place := shells[i].debian; place != "" {
			files = append(files, file{share + place, script.mode, script.data})
		}
	}
	var licenses []byte
	for _, doc := range r.docs {
		if strings.HasPrefix(doc.path, "LICENSE") {
			licenses = append(append(licenses, doc.data...), '\n')
			continue
		}
		files = append(files, file{share + "doc/" + name + "/" + doc.path, doc.mode, doc.data})
	}
	files = append(files, file{share + "doc/" + name + "/copyright", 0o644, licenses})

	size := 0
	var sums strings.Builder
	for _, f := range withFolders(files) {
		if size += (len(f.data) + 1023) / 1024; f.data != nil {
			fmt.Fprintf(&sums, "%x  %s\n", md5.Sum(f.data), f.path)
		}
	}
	control := fmt.Sprintf("Package: %s\nVersion: %s\nArchitecture: %s\nMaintainer: %s\nInstalled-Size: %d\nSection: science\nPriority: optional\nDescription: %s\n",
		name, r.debianVersion(), arch, maintainer, size, description)

	var b bytes.Buffer
	b.WriteString("!<arch>\n")
	r.arFile(&b, "debian-binary", []byte("2.0\n"))
	for _, part := range []struct {
		name  string
		files []file
	}{
		{"control.tar.gz", []file{{"control", 0o644, []byte(control)}, {"md5sums", 0o644, []byte(sums.String())}}},
		{"data.tar.gz", files},
	} {
		data, err := tarArchive(part.files, "./", r.date)
		if err == nil {
			data, err = gzipped(data)
		}
		if err != nil {
			return nil, err
		}
		r.arFile(&b, part.name, data)
	}
	return b.Bytes(), nil
}

// arFile appends a file to an archive of the format of ar.
func (r *release) arFile(b *bytes.Buffer, name string, data []byte) {
	fmt.Fprintf(b, "%-16s%-12d%-6d%-6d%-8o%-10d`\n", name, r.date.Unix(), 0, 0, 0o100644, len(data))
	b.Write(data)
	if len(data)%2 == 1 {
		b.WriteByte('\n')
	}
}
