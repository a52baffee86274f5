"""Encodes nmt_nfkc as internal/charsmap/charsmap.go describes, with a double array of Darts-clone."""
import gzip
import struct

VALUE = 1 << 31


def automaton(entries):
    """The minimal acyclic automaton of entries, key: value, with bytes as keys (Daciuk et al. 2000, section 3).

    Returns its states, each a list of [byte, state], or [0, value] where a key ends. The last one is the root.
    """
    states, index, path, last = [], {}, [[]], b""

    def close(depth):
        while len(path) > depth + 1:
            state = tuple(map(tuple, path.pop()))
            if state not in index:
                index[state] = len(states)
                states.append(state)
            path[-1][-1][1] = index[state]

    for key in sorted(entries):
        common = 0
        while common < min(len(last), len(key)) and last[common] == key[common]:
            common += 1
        close(common)
        for byte in key[common:]:
            path[-1].append([byte, 0])
            path.append([])
        path[-1].append([0, entries[key]])
        last = key
    close(0)
    return states + [tuple(map(tuple, path[0]))]


class Nodes:
    """The free nodes, a circular list that node 0 begins, in blocks of 256."""

    def __init__(self):
        self.next, self.prev, self.is_base = [], [], []
        self.grow()
        self.is_base[0] = True

    def grow(self):
        start = len(self.next)
        for i in range(start, start + 256):
            self.next.append(0)
            self.prev.append(0)
            self.is_base.append(False)
            last = self.prev[0]
            self.next[last], self.prev[i] = i, last
            self.next[i], self.prev[0] = 0, i

    def free(self, i):
        return i != 0 and self.next[i] != i

    def place(self, labels):
        """Takes a node for each label and returns their base, of which they are the only children."""
        base, free = len(self.next), self.next[0]
        while free:
            b = free ^ labels[0]
            if not self.is_base[b] and all(self.free(b ^ c) for c in labels):
                base = b
                break
            free = self.next[free]
        if base == len(self.next):
            self.grow()
        self.is_base[base] = True
        for c in labels:
            i = base ^ c
            self.next[self.prev[i]], self.prev[self.next[i]] = self.next[i], self.prev[i]
            self.next[i] = i
        return base


def double_array(states):
    taken, bases = Nodes(), {}
    for state in sorted(range(len(states)), key=lambda s: -len(states[s])):
        bases[state] = taken.place([byte for byte, _ in states[state]])
    nodes = [0] * len(taken.next)

    def link(i, state):
        offset = i ^ bases[state]
        nodes[i] |= offset << 10 if offset < 1 << 21 else offset << 2 | 1 << 9
        if states[state][0][0] == 0:
            nodes[i] |= 1 << 8

    link(0, len(states) - 1)
    for state, transitions in enumerate(states):
        for byte, to in transitions:
            i = bases[state] ^ byte
            if byte == 0:
                nodes[i] = VALUE | to
            else:
                nodes[i] = byte
                link(i, to)
    # Free nodes become children of a base that no state has.
    for block in range(0, len(nodes), 256):
        for i in range(256):
            if taken.free(block + i):
                nodes[block + i] = i ^ taken.is_base[block:block + 256].index(False)
    return nodes


def encode(plain, nmt):
    """The map of the rules nmt. plain, those of nfkc, decide with them about the order of the replacements."""
    index, entries, offsets, texts = {}, {}, [], b""
    for key in sorted(plain.keys() | nmt.keys(), key=str.encode):
        pair = plain.get(key, key), nmt.get(key, key)
        entries[key.encode()] = index.setdefault(pair, len(index))
    for _, text in index:
        offsets.append(len(texts))
        texts += text.encode() + b"\0"
    trie = double_array(automaton(entries))
    nodes = [VALUE | offsets[n & ~VALUE] if n & VALUE else n for n in trie]
    return struct.pack(f"<{1 + len(nodes)}I", 4 * len(nodes), *nodes) + texts


def write(path, rules):
    with open(path, "wb") as f:
        f.write(gzip.compress(encode(rules["nfkc"], rules["nmt_nfkc"]), 9, mtime=0))
