package guard

import "sync"

// A memory holds the yeses that were given for longer than one call. They end
// with the conversation in which they were given.
type memory struct {
	mu   sync.Mutex
	all  bool // everything that is asked by the user's own wish
	keys map[string]bool
}

// allows tells whether a question was answered before. A yes to everything
// answers only what the user wanted to be asked about: what a policy wants asked
// needs a yes for the very rule.
func (m *memory) allows(key string, soft bool) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.all && soft || m.keys[key]
}

func (m *memory) add(key string, a Answer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.keys == nil {
		m.keys = map[string]bool{}
	}
	m.all = m.all || a.Everything
	if a.Always || a.Everything {
		m.keys[key] = true
	}
}

func (m *memory) allowsAll() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.all
}

func (m *memory) setAll(on bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.all = on
}

func (m *memory) forget() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.all, m.keys = false, nil
}
