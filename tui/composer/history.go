package composer

// History is what was sent before, newest last. The zero value is empty.
type History struct {
	items []string
	at    int // index while walking; len(items) for the draft
	draft Draft
	walk  bool
	limit int
}

// Limit sets how many entries are kept; 0 means MaxHistory, below 0 none.
func (h *History) Limit(n int) { h.limit = n }

func (h *History) most() int {
	if h.limit == 0 {
		return MaxHistory
	}
	return max(0, h.limit)
}

// MaxHistory is how many entries are kept unless a limit says otherwise.
const MaxHistory = 500

// Load replaces the entries.
func (h *History) Load(items []string) {
	if n := len(items) - h.most(); n > 0 {
		items = items[n:]
	}
	h.items = append([]string(nil), items...)
	h.walk = false
}

// Add appends what was sent. An entry equal to the last one is not repeated.
func (h *History) Add(text string) {
	h.walk = false
	if text == "" || (len(h.items) > 0 && h.items[len(h.items)-1] == text) {
		return
	}
	h.items = append(h.items, text)
	if n := len(h.items) - h.most(); n > 0 {
		h.items = append([]string(nil), h.items[n:]...)
	}
}

// Previous shows the entry before the present one; the draft is kept.
func (h *History) Previous(c *Composer) bool {
	if !h.walk {
		h.walk, h.at, h.draft = true, len(h.items), c.Draft()
	}
	if h.at == 0 {
		return false
	}
	h.at--
	c.SetText(h.items[h.at])
	return true
}

// Next goes the other way, back to the draft.
func (h *History) Next(c *Composer) bool {
	if !h.walk {
		return false
	}
	h.at++
	if h.at >= len(h.items) {
		h.walk = false
		c.Restore(h.draft)
		return true
	}
	c.SetText(h.items[h.at])
	return true
}

// Leave ends a walk: the text was changed and is a draft of its own now.
func (h *History) Leave() { h.walk = false }

// Items lists the entries, newest first.
func (h *History) Items() []string {
	out := make([]string, 0, len(h.items))
	for i := len(h.items) - 1; i >= 0; i-- {
		out = append(out, h.items[i])
	}
	return out
}
