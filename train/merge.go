package train

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"tfm/layer"
	"tfm/mat"
	"tfm/model"
)

// Merge sets the weights to the mean of a round's workers, validates them, and writes the file of
// the next round, unless it is there. It adds the weights and moments in their order. It fails with
// an IncompleteError if a worker's file is missing, unless at least quorum are there: then the
// round goes without the others, which State.Missing records; 0 needs all. Any number of attempts
// may run at the same time; with a quorum only if no worker's file comes meanwhile. Its other
// arguments and errors are those of Run. When ctx ends, nothing is written and its cause is the
// error.
func Merge(ctx context.Context, t *model.Transformer, p *mat.Pool, d Data, o Options, round, quorum int, report func(Event)) error {
	members, err := o.Members(round, quorum)
	if MergeDone(o, round) { // after the look at the files, which another attempt removes
		return nil
	}
	if err == nil {
		err = merge(ctx, t, p, d, o, round, members, report)
	}
	if err != nil && MergeDone(o, round) { // by another attempt
		return nil
	}
	return err
}

func merge(ctx context.Context, t *model.Transformer, p *mat.Pool, d Data, o Options, round int, members []int, report func(Event)) error {
	r, outer, err := openRound(ctx, t, p, d, o, round, report)
	if err != nil {
		return err
	}
	defer r.loader.stop()
	defer outer.Close()
	if r.valid != nil && round == 1 && o.Init != "" { // as Run does
		r.validateWeights(ctx)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	if err := r.averageWorkers(round, members); err != nil {
		return err
	}
	r.send(Event{Kind: Merged, Workers: len(members)})
	if r.valid != nil {
		r.validateWeights(ctx)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	if MergeDone(o, round) { // by another attempt, which perhaps has removed files of this round
		return nil
	}
	if err := r.writeRound(o.OuterPath(round+1), r.optimizer.Moments()); err != nil {
		return err
	}
	r.pruneRounds(round)
	return nil
}

// Members returns the workers whose parts of a round are there, without those of Rounds.Missing. It
// fails with an IncompleteError as Merge does.
func (o Options) Members(round, quorum int) (members []int, err error) {
	if found, err := exists(o.OuterPath(round)); err != nil {
		return nil, err
	} else if !found {
		return nil, IncompleteError{round, []string{o.OuterPath(round)}}
	}
	e := IncompleteError{Round: round}
	for worker := range o.Rounds.Workers {
		if isIn(o.Rounds.Missing, round, worker) {
			continue
		}
		path := o.WorkerPath(round, worker)
		found, err := exists(path)
		switch {
		case err != nil:
			return nil, err
		case found:
			members = append(members, worker)
		default:
			e.Missing = append(e.Missing, path)
		}
	}
	if e.Missing != nil && (quorum == 0 || len(members) < quorum) {
		return nil, e
	}
	if members == nil {
		return nil, fmt.Errorf("train: round %d has no workers", round)
	}
	return members, nil
}

// averageWorkers sets the weights to the mean of the workers', as Average does, and the moments,
// which are 0, to that of theirs (Yu et al., 2019, "On the Linear Speedup Analysis of Communication
// Efficient Momentum SGD"). It sets the state to that after the round.
func (r *run) averageWorkers(round int, members []int) error {
	clear(r.t.Params.W)
	buffer := make([]float32, r.t.Params.Count())
	for i, member := range members {
		state, err := r.addWorker(r.o.WorkerPath(round, member), 1/float32(len(members)), buffer)
		if err != nil {
			return err
		}
		if i == 0 {
			r.state.Step, r.state.Position = state.Step, state.Position
		}
	}
	for worker := range r.o.Rounds.Workers {
		if !slices.Contains(members, worker) {
			r.state.Missing = strings.TrimSpace(r.state.Missing + " " + partName(round, worker))
		}
	}
	return nil
}

// addWorker adds a share of the file of a worker, and returns its state. It reads into buffer.
func (r *run) addWorker(path string, share float32, buffer []float32) (State, error) {
	c, err := OpenPart(path)
	if err != nil {
		return State{}, err
	}
	defer c.Close()
	if _, err := r.match(c); err != nil {
		return State{}, fmt.Errorf("%s: %w", path, err)
	}
	worker := &layer.Params{List: r.t.Params.List, W: buffer}
	if err := c.partWeights(worker); err != nil {
		return State{}, err
	}
	mat.Axpy(share, buffer, r.t.Params.W)
	for _, m := range r.optimizer.Moments() {
		sum := m.Values
		m.Values = buffer[:len(sum)]
		if err := c.partMoments(worker, []Moment{m}); err != nil {
			return State{}, err
		}
		mat.Axpy(share, m.Values, sum)
	}
	return c.State, nil
}

// pruneRounds removes the files that neither the next round nor the end of the training needs,
// except the initial weights, after a round was merged.
func (r *run) pruneRounds(merged int) {
	if MergeDone(r.o, merged+1) { // which knows of later weights that are the best
		return
	}
	for round := range merged {
		for worker := range r.o.Rounds.Workers {
			os.Remove(r.o.WorkerPath(round+1, worker))
		}
	}
	prune(r.o, r.state.Best.Step)
}

// Finish returns the result of a training in rounds whose last round is merged, as Run does.
func Finish(ctx context.Context, t *model.Transformer, p *mat.Pool, d Data, o Options, report func(Event)) (Result, error) {
	r, c, err := openRound(ctx, t, p, d, o, o.Rounds.Rounds+1, report)
	if err != nil {
		return Result{}, err
	}
	defer r.loader.stop()
	c.Close()
	r.checkpoint = c.Path
	return r.finish(ctx, AllSteps)
}
