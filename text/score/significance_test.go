package score

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
)

// significanceGoldens is testdata/significance.json: sacreBLEU's tests of significance of small
// texts, which testdata/gen_significance.py writes.
type significanceGoldens struct {
	SacreBLEU  string
	Systems    map[string][][]string // outputs of the systems; the first is the baseline
	References map[string][][]string
	Tests      []struct {
		Text, Metric string
		Options      options
		Kind         string
		N            int
		Seed         uint64
		Resamples    int // of a randomization
		Signature    string
		Results      []*struct{ Score, P, Mean, CI *float64 }
	}
}

func TestGoldenSignificance(t *testing.T) {
	data, err := os.ReadFile("testdata/significance.json")
	if err != nil {
		t.Fatal(err)
	}
	var g significanceGoldens
	if err := json.Unmarshal(data, &g); err != nil {
		t.Fatal(err)
	}
	if g.SacreBLEU != sacreBLEUVersion || len(g.Tests) == 0 {
		t.Fatalf("%d goldens of sacreBLEU %s, want some of %s", len(g.Tests), g.SacreBLEU, sacreBLEUVersion)
	}
	for i, c := range g.Tests {
		name := fmt.Sprintf("%d/%s/%s/%s", i, c.Text, c.Metric, c.Kind)
		t.Run(name, func(t *testing.T) {
			var all []*Statistics
			for _, hyps := range g.Systems[c.Text] {
				m := map[string]Metric{"BLEU": c.Options.bleu(), "CHRF": c.Options.chrf(), "TER": c.Options.ter()}[c.Metric]
				all = append(all, Count(m, hyps, g.References[c.Text]...))
			}
			test := Significance{Resamples: c.N, Seed: c.Seed}
			var results []Result
			switch c.Kind {
			case "bs":
				results = test.PairedBootstrap(all[0], all[1:]...)
			case "ar":
				test.Trials, test.Resamples = c.N, c.Resamples
				results = test.PairedRandomization(all[0], all[1:]...)
			default:
				for _, s := range all {
					results = append(results, test.Confidence(s))
				}
			}
			if len(results) != len(c.Results) {
				t.Fatalf("%d results, want %d", len(results), len(c.Results))
			}
			for i, got := range results {
				want := c.Results[i]
				if want == nil {
					continue
				}
				for _, x := range []struct {
					name string
					got  float64
					want *float64
				}{{"score", got.Score, want.Score}, {"p-value", got.P, want.P}, {"mean", got.Mean, want.Mean}, {"interval", got.Interval, want.CI}} {
					if x.want == nil != math.IsNaN(x.got) || x.want != nil && math.Abs(x.got-*x.want) > scoreTolerance {
						t.Errorf("system %d: %s %v, want %v", i, x.name, x.got, *x.want)
					}
				}
				if want := strings.Replace(c.Signature, "version:", "version:tfm-", 1); got.Signature != want {
					t.Errorf("system %d: signature %s, want %s", i, got.Signature, want)
				}
			}
		})
	}
}
