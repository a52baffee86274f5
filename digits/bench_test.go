package digits

import (
	"testing"

	"tfm/mat"
	"tfm/model"
)

// BenchmarkStep measures a forward and a backward pass on one thread.
func BenchmarkStep(b *testing.B) {
	for _, name := range Names() {
		b.Run("preset="+name, func(b *testing.B) {
			r, err := Preset(name)
			if err != nil {
				b.Fatal(err)
			}
			m, err := model.NewClassifier(r.Model)
			if err != nil {
				b.Fatal(err)
			}
			m.Params.AllocForTraining()
			m.Init(1)
			pass, x, labels := model.NewClassifierPass(m, nil), mat.New(r.Batch*Side, Side), make([]int32, r.Batch)
			for b.Loop() {
				pass.Train(x, labels, 1, 1)
			}
			b.ReportMetric(float64(r.Batch)*float64(b.N)/b.Elapsed().Seconds(), "images/s")
		})
	}
}
