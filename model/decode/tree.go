package decode

import (
	"slices"

	"tfm/model"
)

// tree holds the hypotheses of a source, finished ones too. A node is a token of one or more
// hypotheses, so those that begin alike share nodes. A hypothesis is the path from a root, which is
// BOS, to its last node.
type tree struct {
	nodes []node
	begin int32 // tokens after BOS that are given, see Options.Begins
}

type node struct {
	logP      float64 // of the hypothesis up to the token
	token     int32
	parent    int32 // node of the previous token, -1 for a root
	position  int32 // of the token, 0 for a root
	lane      int32 // index in the cache, see encodedSource; -1 if it has none
	refs      int32 // its children with a lane, plus 1 if it is the last of a row's hypothesis
	childPage int32 // page of its newest child with a lane
}

// addRoot adds a hypothesis without tokens.
func (t *tree) addRoot() int32 {
	t.nodes = append(t.nodes, node{token: model.BOS, parent: -1, lane: -1})
	return int32(len(t.nodes) - 1)
}

// add adds a token after a node and returns its node. logP is that of the hypothesis with the
// token.
func (t *tree) add(parent, token int32, logP float64) int32 {
	t.nodes = append(t.nodes, node{logP: logP, token: token, parent: parent, position: t.nodes[parent].position + 1, lane: -1})
	return int32(len(t.nodes) - 1)
}

// isToken reports whether node i is a token of a hypothesis, neither BOS nor one of its begin.
func (t *tree) isToken(i int32) bool { return i >= 0 && t.nodes[i].position > t.begin }

// appendTokens appends the tokens of the hypothesis that ends in node i, without BOS and its begin.
// It appends none if i is -1.
func (t *tree) appendTokens(tokens []int32, i int32) []int32 {
	n := len(tokens)
	for ; t.isToken(i); i = t.nodes[i].parent {
		tokens = append(tokens, t.nodes[i].token)
	}
	slices.Reverse(tokens[n:])
	return tokens
}

// common returns the last node that the hypotheses of nodes a and b have in common, -1 for none.
func (t *tree) common(a, b int32) int32 {
	for a != b {
		if a < 0 || b >= 0 && t.nodes[b].position > t.nodes[a].position {
			a, b = b, a
		}
		a = t.nodes[a].parent // the deeper one
	}
	return a
}

// treeRow is a hypothesis in a step: that which ends in a node of a source's tree. Its previous
// token had a row in the last step with rows of the source.
type treeRow struct {
	source int32 // handle
	node   int32
}
