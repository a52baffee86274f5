package serve

import "sync"

// backend is what all calls share.
type backend struct {
	options   Options
	scheduler *scheduler
	metrics   metrics
	store     store

	mu      sync.Mutex
	catalog *catalog
	keys    clientKeys // nil without Options.Keys
}

// use returns the models and keys of a request, which calls done at its end.
func (b *backend) use() (c *catalog, keys clientKeys, done func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.catalog.users.Add(1)
	return b.catalog, b.keys, b.catalog.users.Done
}

// maxCharacters returns the largest limit of the characters of a request.
func (b *backend) maxCharacters() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return max(b.options.MaxCharacters, b.keys.maxCharacters())
}
