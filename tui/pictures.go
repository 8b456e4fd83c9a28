package tui

import (
	"crypto/rand"
	"encoding/binary"

	tea "charm.land/bubbletea/v2"

	"github.com/patriceckhart/zot/tui/picture"
)

// inlinePictures shows the pictures of the conversation among its rows, on
// terminals that can.
type inlinePictures struct {
	protocol picture.Protocol
	base     uint32 // the terminal's numbers begin here: other programs have theirs
	loads    int    // the state of the transcript that the rest is about
	asked    int    // how many pictures were looked at
	made     map[int]*picture.Picture
}

// maxInline is how many pictures are shown: the latest. Of others the
// description stays, and /image shows them.
const maxInline = 20

// pictureProtocol is how pictures are drawn here.
func (m *Model) pictureProtocol() picture.Protocol {
	switch p := picture.Of(m.env.vars); {
	case m.opt.Images == "off":
		return picture.None
	case m.opt.Images == "on" && p == picture.None:
		return picture.Kitty
	default:
		return p
	}
}

// showPictures has the pictures drawn that are new in the conversation. Where
// the program draws the frames, or there is only ASCII, none are.
func (m *Model) showPictures() {
	in := &m.pictures
	if p := m.pictureProtocol(); p != in.protocol || m.transcript.Loads() != in.loads {
		m.forgetPictures()
		in.protocol, in.loads, in.asked = p, m.transcript.Loads(), 0
	}
	if in.protocol == picture.None || m.look.ascii || m.opt.MainScreen {
		return
	}
	images := m.transcript.Images()
	for in.asked = max(in.asked, len(images)-maxInline); in.asked < len(images); {
		img := images[in.asked]
		in.asked++
		m.makePicture(in.asked, img.Data)
	}
}

// makePicture draws picture n beside the screen.
func (m *Model) makePicture(n int, data []byte) {
	in := m.pictures
	if in.base == 0 {
		var b [4]byte
		_, _ = rand.Read(b[:]) // never fails
		in.base = binary.BigEndian.Uint32(b[:])>>9 + 1
		m.pictures.base = in.base
	}
	width := m.width
	m.do(work(func() func(*Model) {
		p, err := picture.Make(data, in.protocol, in.base+uint32(n), width)
		return func(m *Model) {
			now := &m.pictures
			if err != nil || now.loads != in.loads || now.protocol != in.protocol {
				return // the description says what it is
			}
			m.addPicture(n, p)
		}
	}))
}

func (m *Model) addPicture(n int, p *picture.Picture) {
	in := &m.pictures
	if in.made == nil {
		in.made = map[int]*picture.Picture{}
	}
	in.made[n] = p
	m.sendPicture(p)
	m.transcript.SetPicture(n, p.Lines, p.Width)
	if old := n - maxInline; in.made[old] != nil {
		m.forgetPicture(old)
	}
}

// sendPicture hands the terminal what it needs before the rows are shown.
func (m *Model) sendPicture(p *picture.Picture) {
	if p.Before != "" {
		m.do(tea.Raw(p.Before))
	}
	for i, strip := range p.Instead {
		if m.screen != nil {
			m.screen.Instead(p.Cells[i], strip)
		}
	}
}

func (m *Model) forgetPicture(n int) {
	p := m.pictures.made[n]
	delete(m.pictures.made, n)
	m.transcript.SetPicture(n, nil, 0)
	if p.Forget != "" {
		m.do(tea.Raw(p.Forget))
	}
	if m.screen != nil {
		for i := range p.Instead {
			m.screen.Instead(p.Cells[i], "")
		}
	}
}

func (m *Model) forgetPictures() {
	for n := range m.pictures.made {
		m.forgetPicture(n)
	}
}

// resendPictures is for after another program had the terminal: it may have
// dropped them.
func (m *Model) resendPictures() {
	for _, p := range m.pictures.made {
		m.sendPicture(p)
	}
}

// farewellPictures frees what the terminal keeps.
func (m *Model) farewellPictures() string {
	all := ""
	for _, p := range m.pictures.made {
		all += p.Forget
	}
	return all
}
