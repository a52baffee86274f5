package mat

import (
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// Each instruction that is written as a number, because the assembler does not know it, stands behind a macro
// whose comment is its disassembly. GNU objdump must agree.
func TestEncodedInstructions(t *testing.T) {
	files, err := filepath.Glob("*_arm64.s")
	if err != nil || len(files) == 0 {
		t.Fatal("no assembly for arm64 here: ", err)
	}
	definition := regexp.MustCompile(`^#define (\w+)\(([^)]*)\)\s+WORD \$\((.+)\)\s+// (.+)$`)
	registers := []int{3, 14, 21, 28}
	var code []byte
	var want []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for n, line := range strings.Split(string(text), "\n") {
			d := definition.FindStringSubmatch(line)
			if d == nil {
				if instruction, _, _ := strings.Cut(line, "//"); strings.Contains(instruction, "WORD") {
					t.Errorf("%s:%d: a WORD that is not behind a macro with its disassembly as a comment: %s", file, n+1, line)
				}
				continue
			}
			expression, disassembly := d[3], d[4]
			for i, parameter := range strings.Split(d[2], ",") {
				p, value := strings.TrimSpace(parameter), strconv.Itoa(registers[i])
				expression = regexp.MustCompile(`\b`+p+`\b`).ReplaceAllString(expression, value)
				disassembly = regexp.MustCompile(`\b([vqdsxw]?)`+p+`\b`).ReplaceAllString(disassembly, "${1}"+value)
			}
			var word uint64
			for _, term := range strings.Split(expression, "|") {
				value, shift, _ := strings.Cut(strings.TrimSpace(term), "<<")
				v, err := strconv.ParseUint(value, 0, 32)
				s := uint64(0)
				if err == nil && shift != "" {
					s, err = strconv.ParseUint(shift, 0, 5)
				}
				if err != nil {
					t.Fatalf("%s:%d: %v", file, n+1, err)
				}
				word |= v << s
			}
			code = binary.LittleEndian.AppendUint32(code, uint32(word))
			want = append(want, disassembly)
		}
	}

	objdump, err := exec.LookPath("aarch64-linux-gnu-objdump")
	if err != nil {
		objdump = "objdump"
	}
	file := filepath.Join(t.TempDir(), "code")
	if err := os.WriteFile(file, code, 0o666); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(objdump, "-D", "-b", "binary", "-m", "aarch64", "--no-show-raw-insn", file).Output()
	if err != nil {
		t.Skip("needs objdump for aarch64, as in Debian's binutils-aarch64-linux-gnu: ", err)
	}
	lines := regexp.MustCompile(`(?m)^ +[0-9a-f]+:\t(.*)$`).FindAllStringSubmatch(string(out), -1)
	if len(lines) != len(want) {
		t.Fatalf("%d instructions, but objdump shows %d", len(want), len(lines))
	}
	for i, w := range want {
		if got := strings.Join(strings.Fields(lines[i][1]), " "); got != w {
			t.Errorf("the encoding of %q is %q", w, got)
		}
	}
}
