package document

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"tfm/lang"
)

// pluralForms are the forms of a noun in a language: count of them, and which one a number has, as
// an expression of C.
type pluralForms struct {
	count int
	rule  string
}

// pluralRules has the forms of the languages that gettext documents, where they are not those
// of English.
var pluralRules = []struct {
	languages string
	pluralForms
}{
	{"ja ko zh vi th id ms lo km my", pluralForms{1, "0"}},
	{"fr pt-BR hy oc ti wa mg ln", pluralForms{2, "n > 1"}},
	{"lv", pluralForms{3, "n%10==1 && n%100!=11 ? 0 : n != 0 ? 1 : 2"}},
	{"ga", pluralForms{3, "n==1 ? 0 : n==2 ? 1 : 2"}},
	{"ro", pluralForms{3, "n==1 ? 0 : (n==0 || (n%100 > 0 && n%100 < 20)) ? 1 : 2"}},
	{"lt", pluralForms{3, "n%10==1 && n%100!=11 ? 0 : n%10>=2 && (n%100<10 || n%100>=20) ? 1 : 2"}},
	{"ru uk be sr hr bs", pluralForms{3, "n%10==1 && n%100!=11 ? 0 : n%10>=2 && n%10<=4 && (n%100<10 || n%100>=20) ? 1 : 2"}},
	{"cs sk", pluralForms{3, "(n==1) ? 0 : (n>=2 && n<=4) ? 1 : 2"}},
	{"pl", pluralForms{3, "n==1 ? 0 : n%10>=2 && n%10<=4 && (n%100<10 || n%100>=20) ? 1 : 2"}},
	{"sl", pluralForms{4, "n%100==1 ? 0 : n%100==2 ? 1 : n%100==3 || n%100==4 ? 2 : 3"}},
	{"ar", pluralForms{6, "n==0 ? 0 : n==1 ? 1 : n==2 ? 2 : n%100>=3 && n%100<=10 ? 3 : n%100>=11 ? 4 : 5"}},
}

// pluralFormsOf returns the forms of a language, a BCP 47 tag.
func pluralFormsOf(language string) pluralForms {
	for _, name := range []string{lang.Of(language), lang.Primary(language)} {
		for _, r := range pluralRules {
			for _, l := range strings.Fields(r.languages) {
				if l == name {
					return r.pluralForms
				}
			}
		}
	}
	return pluralForms{2, "n != 1"}
}

// parsePluralForms returns the forms of the fields nplurals and plural of a po file.
func parsePluralForms(count, rule string) (pluralForms, error) {
	n, err := strconv.Atoi(count)
	if err != nil || n < 1 || n > 10 {
		return pluralForms{}, fmt.Errorf("found nplurals=%s, expected 1 to 10", count)
	}
	p := pluralForms{n, strings.TrimSpace(rule)}
	e := pluralExpression{rest: p.rule, n: 1}
	if form, err := e.eval(); err != nil || form < 0 || form >= n {
		return p, fmt.Errorf("found plural=%.40q, expected an expression of C with a value below %d", p.rule, n)
	}
	return p, nil
}

// String returns the forms as a field of a po file has them.
func (p pluralForms) String() string {
	return fmt.Sprintf("nplurals=%d; plural=(%s);", p.count, p.rule)
}

// of returns the form of n, or 0 if the rule is invalid.
func (p pluralForms) of(n int) int {
	e := pluralExpression{rest: p.rule, n: n}
	form, err := e.eval()
	if err != nil {
		return 0
	}
	return form
}

// pluralExpression evaluates an expression of C by recursive descent. Both branches of ?: are
// evaluated.
type pluralExpression struct {
	rest  string
	n     int
	depth int
}

var errExpression = errors.New("invalid expression")

func (e *pluralExpression) eval() (int, error) {
	v, err := e.conditional()
	if err == nil && strings.TrimSpace(e.rest) != "" {
		err = errExpression
	}
	return v, err
}

// take skips and returns the first of operators that e.rest begins with, or returns "".
func (e *pluralExpression) take(operators ...string) string {
	e.rest = strings.TrimLeft(e.rest, " \t")
	for _, o := range operators {
		if strings.HasPrefix(e.rest, o) {
			e.rest = e.rest[len(o):]
			return o
		}
	}
	return ""
}

func (e *pluralExpression) conditional() (int, error) {
	if e.depth++; e.depth > maxDepth {
		return 0, errExpression
	}
	defer func() { e.depth-- }()
	condition, err := e.binary(0)
	if err != nil || e.take("?") == "" {
		return condition, err
	}
	yes, err := e.conditional()
	if err != nil || e.take(":") == "" {
		return 0, errExpression
	}
	no, err := e.conditional()
	if condition != 0 {
		return yes, err
	}
	return no, err
}

// pluralOperators has the binary operators by rising precedence.
var pluralOperators = [][]string{{"||"}, {"&&"}, {"==", "!="}, {"<=", ">=", "<", ">"}, {"+", "-"}, {"*", "/", "%"}}

func (e *pluralExpression) binary(level int) (int, error) {
	if level == len(pluralOperators) {
		return e.operand()
	}
	a, err := e.binary(level + 1)
	for err == nil {
		o := e.take(pluralOperators[level]...)
		if o == "" {
			break
		}
		var b int
		if b, err = e.binary(level + 1); err != nil || (o == "/" || o == "%") && b == 0 {
			return 0, errExpression
		}
		a = operate(o, a, b)
	}
	return a, err
}

func (e *pluralExpression) operand() (int, error) {
	switch {
	case e.take("(") != "":
		v, err := e.conditional()
		if err == nil && e.take(")") == "" {
			err = errExpression
		}
		return v, err
	case e.take("n") != "":
		return e.n, nil
	}
	digits := len(e.rest) - len(strings.TrimLeft(e.rest, "0123456789"))
	v, err := strconv.Atoi(e.rest[:digits])
	e.rest = e.rest[digits:]
	return v, err
}

// operate returns the value of a binary operator. b is not 0 for / and %.
func operate(o string, a, b int) int {
	switch o {
	case "+":
		return a + b
	case "-":
		return a - b
	case "*":
		return a * b
	case "/":
		return a / b
	case "%":
		return a % b
	}
	holds := map[string]bool{
		"||": a != 0 || b != 0, "&&": a != 0 && b != 0, "==": a == b, "!=": a != b, "<=": a <= b, ">=": a >= b, "<": a < b, ">": a > b,
	}[o]
	if holds {
		return 1
	}
	return 0
}
