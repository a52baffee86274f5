package mat

import (
	"encoding/binary"
	"go/constant"
	"go/token"
	"go/types"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// Every instruction that the assembler lacks is encoded by a macro with its disassembly as a
// comment, on the same line or on the line before. GNU objdump must agree.
func TestEncodedInstructions(t *testing.T) {
	for _, arch := range []struct {
		name      string
		sizes     map[string]int // bytes of the directives
		registers map[string][]int
		objdump   []string // names of the program
		options   []string
	}{
		{"arm64", map[string]int{"WORD": 4}, map[string][]int{"": {3, 14, 21, 28}},
			[]string{"aarch64-linux-gnu-objdump", "objdump"}, []string{"-m", "aarch64"}},
		{"amd64", map[string]int{"BYTE": 1, "WORD": 2, "LONG": 4}, map[string][]int{"zmm": {3, 14, 21, 28}, "tmm": {1, 6, 3}, "r": {8, 11, 9}},
			[]string{"x86_64-linux-gnu-objdump", "objdump"}, []string{"-m", "i386:x86-64"}},
	} {
		t.Run(arch.name, func(t *testing.T) {
			files, err := filepath.Glob("*_" + arch.name + ".[sh]")
			if err != nil || len(files) == 0 {
				t.Fatal("no assembly files: ", err)
			}
			definition := regexp.MustCompile(`^#define (\w+)(?:\(([^)]*)\))?\s+((?:(?:BYTE|WORD|LONG) \$\(.+?\)(?:; )?)+)(?:\s+// (.+))?$`)
			directive := regexp.MustCompile(`\b(BYTE|WORD|LONG) \$(.+)`)
			var code []byte
			var want []string
			for _, file := range files {
				text, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				previous := ""
				for n, line := range strings.Split(string(text), "\n") {
					d := definition.FindStringSubmatch(line)
					comment, isComment := strings.CutPrefix(previous, "// ")
					previous = line
					if d != nil && d[4] == "" && isComment {
						d[4] = comment
					}
					if d == nil || d[4] == "" {
						if instruction, _, _ := strings.Cut(line, "//"); directive.MatchString(instruction) {
							t.Errorf("%s:%d: encoding without a macro or without its disassembly: %s", file, n+1, line)
						}
						continue
					}
					for round := range 4 { // each parameter takes the value of each register
						numbers, disassembly := d[3], d[4]
						for i, parameter := range strings.Split(d[2], ",") {
							p := strings.TrimSpace(parameter)
							if p == "" {
								continue
							}
							inText := regexp.MustCompile(`\b(zmm|tmm|[vqdsxwr]?)` + p + `\b`)
							registers := arch.registers[""]
							if class := inText.FindStringSubmatch(disassembly); class != nil && registers == nil {
								registers = arch.registers[class[1]]
							}
							value := strconv.Itoa(registers[(i+round)%len(registers)])
							numbers = regexp.MustCompile(`\b`+p+`\b`).ReplaceAllString(numbers, value)
							disassembly = inText.ReplaceAllString(disassembly, "${1}"+value)
						}
						for _, statement := range strings.Split(numbers, ";") {
							d := directive.FindStringSubmatch(statement)
							v, err := types.Eval(token.NewFileSet(), nil, token.NoPos, d[2])
							if err != nil {
								t.Fatalf("%s:%d: %v", file, n+1, err)
							}
							number, exact := constant.Uint64Val(constant.ToInt(v.Value))
							size := arch.sizes[d[1]]
							if size == 0 || !exact || number>>(8*size) != 0 {
								t.Fatalf("%s:%d: %s", file, n+1, statement)
							}
							code = append(code, binary.LittleEndian.AppendUint64(nil, number)[:size]...)
						}
						want = append(want, disassembly)
					}
				}
			}

			file := filepath.Join(t.TempDir(), "code")
			if err := os.WriteFile(file, code, 0o666); err != nil {
				t.Fatal(err)
			}
			var out []byte
			for _, objdump := range arch.objdump {
				options := append([]string{"-D", "-b", "binary", "--no-show-raw-insn"}, arch.options...)
				if out, err = exec.Command(objdump, append(options, file)...).Output(); err == nil {
					break
				}
			}
			if err != nil {
				t.Skipf("needs objdump for %s, from binutils or binutils-aarch64-linux-gnu: %v", arch.name, err)
			}
			lines := regexp.MustCompile(`(?m)^ +[0-9a-f]+:\t(.*)$`).FindAllStringSubmatch(string(out), -1)
			if len(lines) != len(want) {
				t.Fatalf("%d instructions, objdump prints %d", len(want), len(lines))
			}
			for i, w := range want {
				if got := strings.Join(strings.Fields(lines[i][1]), " "); got != w {
					t.Errorf("encoding of %q disassembles to %q", w, got)
				}
			}
		})
	}
}
