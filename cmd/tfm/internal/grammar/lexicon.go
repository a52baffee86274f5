package grammar

import (
	"cmp"
	"slices"
	"strings"
)

// A row of a table has the Chinese word, the English word with its irregular forms after slashes (_
// is a space), and the fields that the comment of the table describes.

// nouns: letters of the noun's kinds and of the verbs that take it (a animal, b boil, c clothing, d
// drink, f food, j small animal, k break, l watch, m make, o open, p draw, r read, s sing, t own, u
// carry, v drive, w write, x repair, y ride, z wash, C has a colour, G person, H relative or
// friend, I instrument, K relative or friend that one can have several of, L language, M music, N
// profession, S kicked, T thrown); the classifier, or container:English if it is uncountable, or -
// for none.
var nouns = parse(`
苹果 apple ft 个; 香蕉 banana ft 根; 橙子 orange ft 个; 鸡蛋 egg fb 个; 蛋糕 cake fm 个; 土豆 potato fb 个
茶 tea d 杯:cup; 咖啡 coffee d 杯:cup; 水 water d 杯:glass; 牛奶 milk d 杯:glass; 啤酒 beer d 瓶:bottle
汤 soup db 碗:bowl; 面条 noodles fb 碗:bowl; 面包 bread f -; 牛肉 beef fb -; 书 book rtwu 本; 报纸 newspaper rt 份
信 letter rwu 封; 故事 story rw 个; 电影 film l 部; 比赛 match l 场; 歌 song sM 首; 音乐 music M -; 大衣 coat ctzC 件
衬衫 shirt ctzC 件; 帽子 hat ctuzC 顶; 车 car tvxzC 辆; 公共汽车 bus vxC 辆; 自行车 bicycle tyxzC 辆; 门 door oxC 扇
窗户 window okxz 扇; 盒子 box topC 个; 包 bag touzC 个; 箱子 suitcase touC 个; 杯子 cup tukzC 个; 桌子 table tpx 张
椅子 chair tpx 把; 床 bed tx 张; 灯 lamp tukx 盏; 房子 house tpC 栋; 手机 phone tukx 部; 电脑 computer tuxk 台
手表 watch tuxk 块; 钥匙 key tu 把; 雨伞 umbrella tuC 把; 笔 pen tuC 支; 票 ticket tu 张; 照片 photo/photos tu 张
刀 knife/knives tuz 把; 花 flower tpC 朵; 树 tree tp 棵; 球 ball tuC 个; 猫 cat apj 只; 狗 dog apj 只; 鸟 bird apj 只
马 horse apy 匹; 羊 sheep/sheep ap 只; 鱼 fish/fish ap 条; 老鼠 mouse/mice apj 只; 鹅 goose/geese ap 只
大象 elephant apy 头; 足球 football S -; 篮球 basketball T -; 钢琴 the_piano I -; 吉他 the_guitar I -
中文 Chinese L -; 英文 English L -; 老师 teacher N 位; 医生 doctor N 位; 护士 nurse N 位; 工程师 engineer N 位
演员 actor N 位; 律师 lawyer N 位; 作家 writer N 位; 司机 driver N 位; 农民 farmer N 位; 厨师 chef N 位
科学家 scientist N 位; 艺术家 artist N 位; 经理 manager N 位; 消防员 fireman/firemen N 位; 学生 student NG 个
孩子 child/children G 个; 男孩 boy G 个; 女孩 girl G 个; 男人 man/men G 个; 女人 woman/women G 个; 客人 guest G 位
妈妈 mother H -; 爸爸 father H -; 爷爷 grandfather H -; 哥哥 older_brother HK 个; 弟弟 younger_brother HK 个
姐姐 older_sister HK 个; 妹妹 younger_sister HK 个; 儿子 son HK 个; 女儿 daughter HK 个; 朋友 friend HK 个`)

// adjectives: letters of the nouns that they modify (P people, - only as a predicate).
var adjectives = parse(`
红色 red C; 蓝色 blue C; 绿色 green C; 白色 white aC; 黑色 black aC; 黄色 yellow C; 新 new t; 旧 old t
大 big ta; 小 small ta; 贵 expensive t; 便宜 cheap t; 漂亮 beautiful ta; 干净 clean z; 脏 dirty z; 重 heavy ta
高 tall P; 矮 short P; 聪明 clever Pa; 年轻 young P; 有名 famous P; 忙 busy -; 累 tired -; 高兴 happy -
生气 angry -; 饿 hungry -`)

// verbs: letters of the nouns that they take (P people, - none); letters of their places, and ! for
// a punctual verb, neither habitual nor in progress, ~ for an involuntary one.
var verbs = parse(`
吃 eat/ate f e; 喝 drink/drank d e; 读 read/read r q; 写 write/wrote w q; 看 watch l h; 听 listen_to M q
唱 sing/sang s h; 买 buy/bought tfc s; 卖 sell/sold tfc s; 找到 find/found tu !; 丢 lose/lost tu !~
看见 see/saw Pa o!~; 遇见 meet/met P oe!~; 帮助 help P w; 等 wait_for P o; 洗 wash z h; 做 make/made m h
煮 cook b h; 画 draw/drew p oq; 开 drive/drove v -; 骑 ride/rode y o; 用 use u q; 打开 open o !
关上 close o !; 打破 break/broke k h!~; 修理 repair x h; 学 learn L q; 教 teach/taught L q
说 speak/spoke L w; 忘记 forget/forgot u !~; 踢 play S o; 打 play T o; 弹 play I h; 工作 work - w
睡觉 sleep/slept - h; 游泳 swim/swam/swimming - o; 跑步 run/ran/running - o; 跳舞 dance - h; 休息 rest - ho
学习 study - q; 散步 walk - o; 旅行 travel/travelled/travelling - c`)

// places: letters of their kinds (c country or city, e eating, h home, o outdoors, q quiet, s shop,
// w work); the English preposition.
var places = parse(`
家 home eqh at; 学校 the_school qw at; 医院 the_hospital w at; 车站 the_station o at; 机场 the_airport ow at
办公室 the_office qw in; 图书馆 the_library q in; 公园 the_park o in; 厨房 the_kitchen eh in; 教室 the_classroom q in
花园 the_garden oh in; 饭馆 the_restaurant e in; 咖啡馆 the_cafe eq in; 商店 the_shop s in; 超市 the_supermarket s at
博物馆 the_museum w in; 酒店 the_hotel eh at; 海滩 the_beach o on; 中国 China c in; 北京 Beijing c in
上海 Shanghai c in; 巴黎 Paris c in; 法国 France c in; 美国 America c in`)

// times: p past, f future, h habit (w also in negations), n now.
var times = parse(`
昨天 yesterday p; 昨晚 last_night p; 上个月 last_month p; 去年 last_year p; 上个星期 last_week p; 今天早上 this_morning p; 明天 tomorrow f
今晚 tonight f; 下个月 next_month f; 明年 next_year f; 下个星期 next_week f; 每天 every_day h; 每年 every_year h; 早上 in_the_morning hw
下午 in_the_afternoon hw; 晚上 in_the_evening hw; 周末 at_the_weekend hw; 星期一 on_Monday pf; 星期五 on_Friday pf; 星期天 on_Sunday pf
现在 now n`)

var (
	numbers    = parse(`两 two; 三 three; 四 four; 五 five; 六 six; 七 seven; 八 eight; 九 nine; 十 ten`)
	names      = parse(`汤姆 Tom; 玛丽 Mary; 安娜 Anna; 彼得 Peter; 露西 Lucy; 大卫 David; 李明 Li_Ming; 王芳 Wang_Fang`)
	adverbs    = parse(`常常 often; 总是 always; 有时候 sometimes; 从不 never`)
	possessors = []possessor{{"我", "my"}, {"你", "your"}, {"他", "his"}, {"她", "her"}, {"我们", "our"}, {"你们", "your"}, {"他们", "their"}}
	pronouns   = []nounPhrase{{"我", "I", "me", "I", first}, {"你", "you", "you", "you", second}, {"他", "he", "him", "he", third},
		{"她", "she", "her", "she", third}, {"我们", "we", "us", "we", pluralPerson}, {"你们", "you", "you", "you", pluralPerson},
		{"他们", "they", "them", "they", pluralPerson}}
)

// possessor is a possessor: its Chinese, and its English before a noun.
type possessor struct{ zh, det string }

// word is a row of a table. forms[0] is the English base form, the others are irregular forms.
type word struct {
	zh    string
	forms []string
	a, b  string // third and fourth field
}

// parse returns the rows of a table.
func parse(table string) (words []word) {
	for _, row := range strings.FieldsFunc(table, func(r rune) bool { return r == ';' || r == '\n' }) {
		f := append(strings.Fields(row), "", "")
		for i := range f {
			f[i] = strings.ReplaceAll(f[i], "_", " ")
		}
		words = append(words, word{f[0], strings.Split(f[1], "/"), f[2], f[3]})
	}
	return words
}

type verbForm int

const (
	baseForm verbForm = iota
	pastForm
	ingForm
	presentForm // third person singular
)

// pluralOf returns w with the -s of plurals and of the third person.
func pluralOf(w string) string {
	switch {
	case endsIn(w, "s", "x", "ch", "sh", "o"):
		return w + "es"
	case endsIn(w, "y") && !endsIn(w, "ay", "ey", "oy", "uy"):
		return w[:len(w)-1] + "ies"
	}
	return w + "s"
}

// endsIn reports whether w has one of the suffixes.
func endsIn(w string, suffixes ...string) bool {
	return slices.ContainsFunc(suffixes, func(s string) bool { return strings.HasSuffix(w, s) })
}

// en returns the English base form, "" of no word.
func (w word) en() string {
	if len(w.forms) == 0 {
		return ""
	}
	return w.forms[0]
}

// irregular returns the first irregular form, "" without one.
func (w word) irregular() string {
	if len(w.forms) > 1 {
		return w.forms[1]
	}
	return ""
}

// plural returns the plural of a noun.
func (w word) plural() string { return cmp.Or(w.irregular(), pluralOf(w.en())) }

// verb returns a form of a verb, whose first word is inflected: listens to, waiting for.
func (w word) verb(f verbForm) string {
	base, particle, _ := strings.Cut(w.forms[0], " ")
	stem := strings.TrimSuffix(base, "e")
	switch {
	case f == presentForm && base == "have":
		base = "has"
	case f == presentForm:
		base = pluralOf(base)
	case f != baseForm && int(f) < len(w.forms):
		base = w.forms[f]
	case f == ingForm:
		base = stem + "ing"
	case f == baseForm:
	case endsIn(base, "y") && !endsIn(base, "ay"):
		base = base[:len(base)-1] + "ied"
	default:
		base = stem + "ed"
	}
	return join(base, particle)
}

// article returns a noun with the indefinite article.
func article(en string) string {
	if strings.ContainsRune("aeiou", rune(en[0])) {
		return "an " + en
	}
	return "a " + en
}

// join returns the words that are not empty, separated by spaces.
func join(words ...string) string {
	return strings.Join(slices.DeleteFunc(words, func(w string) bool { return w == "" }), " ")
}
