package session

import (
	"errors"
	"io/fs"

	"github.com/patriceckhart/zot/runtime/message"
)

// A decoder turns blocks of the file into blocks of a transcript. Large
// content is held: counted while the file is read, so that the oldest goes
// when there is too much, and read from its blobs at the end, the latest first.
type decoder struct {
	blobs         blobs
	budget        int64 // bytes of large content that may be in memory
	ordinal       int   // of the message that is decoded
	held          []held
	inline        int64 // bytes of held content that came in the file itself
	oldest        int   // index in held of the oldest inline content that is left
	unknownBlocks int
}

// held is a block of large content: where it is, and its blob unless it came
// in the file itself.
type held struct {
	in      []message.Block
	i       int
	blob    string
	ordinal int
}

// hold notes in[i], whose content is large.
func (d *decoder) hold(in []message.Block, i int, blob string) {
	d.held = append(d.held, held{in: in, i: i, blob: blob, ordinal: d.ordinal})
	if blob != "" {
		return
	}
	d.inline += contentSize(in[i])
	for ; d.inline > d.budget && d.oldest < len(d.held); d.oldest++ {
		if h := d.held[d.oldest]; h.blob == "" {
			d.inline -= contentSize(h.in[h.i])
			h.in[h.i] = tooMuch(h.in[h.i])
		}
	}
}

func contentSize(b message.Block) int64 {
	if img, ok := b.(message.Image); ok {
		return int64(len(img.Data))
	}
	return 0
}

func tooMuch(b message.Block) message.Block {
	img, ok := b.(message.Image)
	if !ok {
		return b
	}
	return placeholder(img.MIMEType, int64(len(img.Data)), "not loaded, the session holds more than fits into memory")
}

// loadHeld reads the blobs of the messages from the ordinal first on, and
// returns how many blocks are placeholders then.
func (d *decoder) loadHeld(first int) (missing int) {
	room := d.budget - d.inline
	for i := len(d.held) - 1; i >= 0; i-- {
		h := d.held[i]
		if h.ordinal >= 0 && h.ordinal < first {
			continue
		}
		if h.blob == "" {
			if _, gone := h.in[h.i].(message.Text); gone {
				missing++
			}
			continue
		}
		data, err := d.blobs.get(h.blob, min(room, maxBlob))
		if err != nil {
			missing++
			h.in[h.i] = substitute(h.in[h.i], d.blobs.size(h.blob), err)
			continue
		}
		room -= int64(len(data))
		h.in[h.i] = filled(h.in[h.i], data)
	}
	return missing
}

// filled is the block with its whole content.
func filled(b message.Block, data []byte) message.Block {
	switch b := b.(type) {
	case message.Image:
		b.Data = data
		return b
	case message.Text:
		b.Text = string(data)
		return b
	}
	return b
}

// substitute is what stands for a block whose blob could not be read: of a
// text, its beginning is there.
func substitute(b message.Block, size int64, err error) message.Block {
	why := "its file is damaged"
	switch {
	case errors.Is(err, fs.ErrNotExist):
		why = "its file is missing"
	case errors.Is(err, errTooLarge):
		why = "not loaded, the session holds more than fits into memory"
	}
	switch b := b.(type) {
	case message.Image:
		return placeholder(b.MIMEType, size, why)
	case message.Text:
		b.Text += "\n" + placeholder("the rest of this text", max(0, size-int64(len(b.Text))), why).Text
		return b
	}
	return b
}
