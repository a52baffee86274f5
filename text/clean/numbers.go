package clean

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"tfm/text/internal/words"
)

// numbers reports sides with different numbers. Equal are numbers with the same significant digits,
// because languages separate and abbreviate them differently: 1,234.50 and 1.234,5; 1.5 million,
// 1 500 000 and 150万; the parts of dates in any order.
//
// A number of one side only may be written in words on the other. It is a fault if it has three
// digits or more and is not round.
func (c *cleaner) numbers(p *pair) bool {
	if p.src.Digits == 0 && p.tgt.Digits == 0 {
		return false
	}
	src, tgt := parseNumbers(p.Source), parseNumbers(p.Target)
	left, right := withoutEqual(src, slices.Clone(tgt), sameKey)
	left, right = withoutEqual(groups(left), groups(right), sameKey)
	left = withoutKnown(left, groups(tgt), p.Target)
	right = withoutKnown(right, groups(src), p.Source)
	left, right = withoutEqual(left, right, related)
	if len(left) > 0 && len(right) > 0 {
		return true
	}
	return slices.ContainsFunc(slices.Concat(left, right), func(n number) bool { return len(n.digits) >= 3 && len(n.key()) >= 2 })
}

// number is a number of a text: its digits, and those between separators.
type number struct {
	digits string
	groups []string
}

// key returns the significant digits.
func (n number) key() string { return cmp.Or(strings.Trim(n.digits, "0"), "0") }

// maxNumbers is the limit of the numbers of a side that are compared.
const maxNumbers = 100

// parseNumbers returns the numbers of s.
func parseNumbers(s string) (list []number) {
	for i := 0; i < len(s) && len(list) < maxNumbers; {
		r, size := utf8.DecodeRuneInString(s[i:])
		if !unicode.IsDigit(r) {
			i += size
			continue
		}
		var n number
		n, i = parseNumber(s, i)
		list = append(list, n)
	}
	return list
}

// parseNumber parses the number at s[i:] and returns its end.
func parseNumber(s string, i int) (number, int) {
	group, i := parseDigits(s, i)
	n := number{group, []string{group}}
	for i < len(s) {
		r, size := utf8.DecodeRuneInString(s[i:])
		group, end := parseDigits(s, i+size)
		if group == "" {
			break
		}
		switch r {
		case '.', ',', '٫', '٬', '．', '，':
		case ' ', '\'', '’', '\u00A0', '\u2009', '\u202F':
			// Of thousands only
			if len(group) != 3 || len(n.groups[len(n.groups)-1]) != 3 && (len(n.groups) > 1 || len(n.digits) > 3) {
				return n, i
			}
		default:
			return n, i
		}
		n.digits += group
		n.groups = append(n.groups, group)
		i = end
	}
	return n, i
}

// parseDigits returns the digits at s[i:], in ASCII, and their end.
func parseDigits(s string, i int) (string, int) {
	var digits []byte
	for i < len(s) {
		r, size := utf8.DecodeRuneInString(s[i:])
		if !unicode.IsDigit(r) {
			break
		}
		digits = append(digits, byte('0'+words.DigitValue(r)))
		i += size
	}
	return string(digits), i
}

// groups returns the numbers between separators.
func groups(list []number) (single []number) {
	for _, n := range list {
		for _, g := range n.groups {
			single = append(single, number{g, []string{g}})
		}
	}
	return single
}

// withoutEqual returns two lists without the numbers that both have, as often as both have them.
func withoutEqual(a, b []number, equal func(n, m number) bool) (left, right []number) {
	right = b
	for _, n := range a {
		if i := slices.IndexFunc(right, func(m number) bool { return equal(n, m) }); i >= 0 {
			right = slices.Delete(right, i, i+1)
		} else {
			left = append(left, n)
		}
	}
	return left, right
}

// withoutKnown returns the numbers that the other side does not have, neither in digits, even if
// less often, nor in Chinese characters.
func withoutKnown(list, other []number, otherText string) []number {
	var chinese []string
	if len(list) > 0 {
		chinese = chineseNumbers(otherText)
	}
	return slices.DeleteFunc(list, func(n number) bool {
		return slices.Contains(chinese, n.key()) || slices.ContainsFunc(other, func(m number) bool { return sameKey(n, m) })
	})
}

func sameKey(n, m number) bool { return n.key() == m.key() }

// related reports whether n and m can be the same hour on clocks of 12 and 24 hours, or the same
// year with and without its century.
func related(n, m number) bool { return sameHour(n.digits, m.digits) || sameYear(n.digits, m.digits) }

func sameHour(a, b string) bool {
	if len(a) > 2 || len(b) > 2 {
		return false
	}
	x, _ := strconv.Atoi(a) // has ASCII digits only
	y, _ := strconv.Atoi(b)
	return max(x, y) <= 24 && max(x, y)-min(x, y) == 12
}

func sameYear(a, b string) bool {
	return len(a) == 4 && len(b) == 2 && a[2:] == b || len(b) == 4 && len(a) == 2 && b[2:] == a
}

const (
	chineseDigits = "〇一二三四五六七八九"
	chineseUnits  = "十百千万亿"
)

var chineseVariants = strings.NewReplacer("零", "〇", "○", "〇", "两", "二", "兩", "二", "萬", "万", "億", "亿")

// chineseNumbers returns the significant digits of the numbers in Chinese characters.
func chineseNumbers(s string) (keys []string) {
	var digits []byte                    // of a number without units, such as 一九九八
	value, section := int64(0), int64(0) // up to the last 万 or 亿, and after it
	digit := -1                          // after the last unit
	units, inside := false, false
	end := func() {
		if inside {
			n := number{digits: string(digits)}
			if units {
				n.digits = strconv.FormatInt(value+section+int64(max(digit, 0)), 10)
			}
			keys = append(keys, n.key())
		}
		digits, value, section, digit, units, inside = digits[:0], 0, 0, -1, false, false
	}
	for _, r := range chineseVariants.Replace(s) {
		d, u := strings.IndexRune(chineseDigits, r), strings.IndexRune(chineseUnits, r)
		switch {
		case d >= 0:
			inside, digit = true, d/len("一")
			digits = append(digits, byte('0'+digit))
		case u >= 0 && value < 1e10:
			inside, units = true, true
			switch unit := []int64{10, 100, 1000, 1e4, 1e8}[u/len("十")]; r {
			default:
				if digit < 0 {
					digit = 1
				}
				section += int64(digit) * unit
			case '万':
				value, section = value+max(section+int64(max(digit, 0)), 1)*unit, 0
			case '亿':
				value, section = max(value+section+int64(max(digit, 0)), 1)*unit, 0
			}
			digit = -1
		default:
			end()
		}
	}
	end()
	return keys
}
