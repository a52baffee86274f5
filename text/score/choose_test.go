package score

import (
	"strings"
	"testing"
)

func TestFor(t *testing.T) {
	for _, c := range []struct {
		name, references string // one reference in each line
		want             Tokenizer
	}{
		{"nothing", "", Tok13a},
		{"no letters", "123, 45\n!?", Tok13a},
		{"English", "The ferry leaves at 7.30.", Tok13a},
		{"German", "Die Fähre fährt um 7.30 Uhr ab.", Tok13a},
		{"Arabic with vowels", "ذَهَبَ الوَلَدُ إِلَى المَدْرَسَةِ", Tok13a},
		{"Hindi", "मैं किताब पढ़ता हूँ।", Tok13a},
		{"Vietnamese, decomposed", "To\u0302i \u0111o\u0323c sa\u0301ch mo\u0302\u0303i nga\u0300y.", Tok13a},
		{"Korean", "나는 매일 아침 책을 읽습니다.", Tok13a},
		{"Korean with Chinese characters", "大韓民國의 수도는 서울입니다. 나는 學校에 갑니다.", Tok13a},
		{"English about Chinese", "The word 你好 means hello, and 再见 means goodbye to them.", Tok13a},
		{"Chinese", "渡轮七点半开，对吗？\n没有人知道灯为什么灭了。", TokZh},
		{"Chinese, traditional", "沒有人知道燈為什麼滅了。", TokZh},
		{"Chinese with Latin names", "John Smith 和 Mary Jones 在 New York 的 Broadway 见面了，谈了很久。", TokZh},
		{"partly Chinese", "Good morning.\n没有人知道灯为什么灭了。\nOK", TokZh},
		{"Chinese, tokenized", "没有 人 知道 灯 为什么 灭 了 。", TokZh},
		{"Chinese with a Japanese word", "他说的日语里「の」这个字最常见，我也记住了。", TokZh},
		{"Chinese phonetics", "ㄅㄆㄇㄈ", TokZh},
		{"Japanese", "フェリーは七時半に出ますね。", TokChar},
		{"Japanese, few kana", "東京大学医学部附属病院の診療科案内", TokZh}, // under a tenth
		{"Japanese, some kana", "東京大学の医学部は本郷にあります。", TokChar},
		{"Katakana", "コンピューター", TokChar},
		{"Thai", "ไม่มีใครรู้ว่าทำไมไฟดับ", TokChar},
		{"Thai with English", "ผมใช้ Windows กับ Linux ทุกวันที่ทำงาน", TokChar},
		{"Lao", "ຂ້ອຍອ່ານປຶ້ມທຸກໆມື້", TokChar},
		{"Khmer", "ខ្ញុំអានសៀវភៅរាល់ថ្ងៃ", TokChar},
		{"Burmese", "ကျွန်တော်နေ့တိုင်းစာဖတ်တယ်", TokChar},
		{"Tibetan", "ང་ཉིན་ལྟར་དེབ་ཀློག་གི་ཡོད།", TokChar},
	} {
		if got := Auto.For(strings.Split(c.references, "\n")); got != c.want {
			t.Errorf("%s: Auto.For = %v, want %v", c.name, got, c.want)
		}
	}
	if got := TokIntl.For([]string{"没有人知道"}); got != TokIntl {
		t.Errorf("TokIntl.For = %v, want %v", got, TokIntl)
	}
}

// With Auto, BLEU uses 13a.
func TestBLEUAuto(t *testing.T) {
	hyps, refs := []string{"It's 1,000.5, OK."}, []string{"It's 1,000.5, OK?"}
	got, want := Count(BLEU{}, hyps, refs), Count(BLEU{Tokenizer: Tok13a}, hyps, refs)
	if got.String() != want.String() || got.Result().Signature != want.Result().Signature {
		t.Errorf("%v\n%s\nwant\n%v\n%s", got, got.Result().Signature, want, want.Result().Signature)
	}
}
