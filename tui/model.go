package tui

import (
	"context"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/patriceckhart/zot/runtime/message"
	"github.com/patriceckhart/zot/tui/composer"
	"github.com/patriceckhart/zot/tui/dialog"
	"github.com/patriceckhart/zot/tui/keys"
	"github.com/patriceckhart/zot/tui/paint"
	"github.com/patriceckhart/zot/tui/panel"
	"github.com/patriceckhart/zot/tui/style"
	"github.com/patriceckhart/zot/tui/transcript"
)

// Model is the one tea.Model. Its parts are plain structs, changed only here,
// on the program's goroutine.
type Model struct {
	ctx context.Context
	rt  Runtime
	opt Options
	env environment

	width, height int
	look          look
	keys          keys.Map
	focused       bool // the terminal has the focus, as far as it says

	transcript *transcript.Transcript
	composer   composer.Composer
	history    composer.History
	complete   completion
	asks       []*pendingAsk
	dialog     dialog.Dialog
	panel      *panel.Panel
	panelSize  [2]int

	state     State
	usage     message.Usage // of the session
	queue     []string
	loading   [2]int // extensions still loading, of how many
	status    status
	since     time.Time // when the present work began
	cancelled bool      // the user stopped it
	sawDone   bool      // its last event has arrived
	overSince time.Time // when the runtime said that it is over
	lastQuit  time.Time // the last ctrl+c at an empty prompt
	shell     shell
	tasks     map[int]context.CancelFunc // what can be stopped besides a turn
	taskID    int
	ticking   bool
	opens     int // counts dialogs asked for, so that a late one does not open

	pictures inlinePictures

	pastes *pasteStore
	input  pauser

	cmds    []tea.Cmd
	screen  *paint.Screen // what paints the frames; nil where the program draws
	rows    []string      // the frame
	checked checkedRows
	cursor  *tea.Cursor
	quitErr error
	drawn   bool
	drawnAt time.Time
}

// New returns a model for opt. ctx ends what runs beside the screen.
func New(ctx context.Context, opt Options) *Model {
	env := readEnvironment(opt.Env)
	m := &Model{
		ctx: ctx, rt: opt.Runtime, opt: opt, env: env,
		width: 80, height: 24, focused: true,
		pastes: &pasteStore{}, tasks: map[int]context.CancelFunc{},
	}
	m.opt.ReduceMotion = opt.ReduceMotion || env.reduceMotion
	var problems []string
	m.keys, problems = keys.NewMap(opt.Keys)
	m.look = newLook(opt, env)
	m.opt.Theme = m.look.named
	m.transcript = transcript.New(m.look.sheet)
	m.transcript.SetOptions(opt.Transcript)
	m.history.Limit(opt.HistorySize)
	m.state = m.rt.State()
	m.transcript.Load(m.rt.Transcript())
	m.composer.SetText(opt.Prefill)
	m.welcome()
	for _, p := range problems {
		m.transcript.Say("warn", p)
	}
	return m
}

// Init starts what is asked of the terminal and of the disk.
func (m *Model) Init() tea.Cmd {
	cmds := []tea.Cmd{tea.Raw(enterModes)}
	if m.look.auto {
		cmds = append(cmds, m.askBackground())
	}
	if m.opt.HistoryFile != "" {
		cmds = append(cmds, loadHistory(m.opt.HistoryFile, m.opt.HistorySize))
	}
	if m.opt.Theme != "" {
		cmds = append(cmds, m.loadTheme(m.opt.Theme))
	}
	m.showPictures()
	m.draw()
	return tea.Batch(append(cmds, m.takeCmds()...)...)
}

// Update takes one message, and draws.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	m.handle(msg)
	if _, tick := msg.(tickMsg); tick && time.Since(m.drawnAt) < tickEvery {
		return m, tea.Batch(m.takeCmds()...) // what streams has moved the clock already
	}
	m.showPictures()
	m.draw()
	m.drawnAt = time.Now()
	return m, tea.Batch(m.takeCmds()...)
}

func (m *Model) takeCmds() []tea.Cmd {
	cmds := m.cmds
	m.cmds = nil
	return cmds
}

// do queues a command of this update.
func (m *Model) do(cmd tea.Cmd) {
	if cmd != nil {
		m.cmds = append(m.cmds, cmd)
	}
}

func (m *Model) handle(msg tea.Msg) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
		m.transcript.SetWidth(msg.Width)
	case tea.KeyPressMsg:
		m.key(keys.Of(msg))
		m.refresh()
	case tea.PasteMsg:
		m.paste(m.pastes.take(msg.Content))
	case tea.MouseWheelMsg:
		m.wheel(msg)
	case tea.FocusMsg:
		m.focused = true
	case tea.BlurMsg:
		m.focused = false
	case tea.ColorProfileMsg:
		m.setProfile(profileOf(msg.Profile))
	case tea.BackgroundColorMsg:
		m.setBackground(msg.IsDark())
	case batchMsg:
		for _, ev := range msg.events {
			m.event(ev)
		}
		m.refresh()
	case askMsg:
		m.ask(msg.ask)
	case withdrawnMsg:
		m.withdraw(msg.ask)
	case tickMsg:
		m.ticking = false
		m.refresh()
	case expireMsg:
		m.status.expire(msg)
	case doneMsg:
		m.done(msg)
	case jobMsg:
		m.transcript.Deliver(msg.job, msg.rows)
	case filesMsg:
		m.complete.files(m, msg)
	case tea.ModeReportMsg:
		if m.screen != nil && msg.Mode == ansi.ModeSynchronizedOutput {
			m.screen.Synchronized(msg.Value == ansi.ModeReset)
		}
	case quitMsg:
		m.quit(msg.err)
	case fatalMsg:
		m.quit(msg.err)
	}
}

// View returns the frame that the last update drew. Where frames are painted by
// [paint.Screen], the program is left the modes of the terminal alone, and the
// same view every time.
func (m *Model) View() tea.View {
	var v tea.View
	if m.screen == nil {
		v.SetContent(strings.Join(m.rows, "\n"))
		v.Cursor = m.cursor
	} else {
		v.SetContent(" ") // none at all would have the screen erased for ever
		v.Cursor = &tea.Cursor{Shape: tea.CursorBar}
	}
	v.AltScreen = !m.opt.MainScreen
	v.ReportFocus = true
	if m.opt.Mouse {
		v.MouseMode = tea.MouseModeCellMotion
	}
	return v
}

// refresh reads what the runtime shows of itself. A prompt is over here when its
// last event has arrived, which is a little after the runtime knows.
func (m *Model) refresh() {
	now := m.rt.State()
	m.queue = m.rt.Queue()
	was := m.state.Busy
	if now.Busy {
		m.overSince = time.Time{}
	} else if was && !m.sawDone {
		if m.overSince.IsZero() {
			m.overSince = time.Now()
		}
		now.Busy = time.Since(m.overSince) < doneWithin
	}
	m.state = now
	switch {
	case now.Busy && !was:
		m.since, m.cancelled, m.sawDone = time.Now(), false, false
	case !now.Busy && was:
		m.idle()
	}
	m.tick()
}

// doneWithin is how long the last event of a prompt is waited for. It comes
// always; this is for a runtime that failed to send it.
const doneWithin = 3 * time.Second

// idle says that a turn ended. What it left undone is shown as such.
func (m *Model) idle() {
	if m.cancelled {
		m.status.clear() // "stopping"
		m.transcript.StopCalls()
		m.transcript.Mark("", "interrupted")
	}
	if time.Since(m.since) >= longTurn {
		m.announce()
	}
	m.cancelled = false
}

// announce tells a user who looks elsewhere that something waits for them. The
// text is fixed: what is said in a notification is not for a model to choose.
func (m *Model) announce() {
	switch {
	case m.opt.Notify == "off", m.opt.Notify != "always" && m.focused:
		return
	case m.env.knowsOSC9():
		m.do(tea.Raw("\x1b]9;zot waits for you\x07"))
	default:
		m.do(tea.Raw("\a"))
	}
}

func (m *Model) sheet() *style.Sheet { return m.look.sheet }

type tickMsg struct{}

// tickEvery is how often the spinner turns where nothing else is drawn.
const tickEvery = 100 * time.Millisecond

// tick keeps the clock of the status line going while something is at work, and
// only then: an idle screen writes nothing.
func (m *Model) tick() {
	if m.ticking || !m.working() {
		return
	}
	m.ticking = true
	every := tickEvery
	if m.opt.ReduceMotion {
		every = 5 * time.Second
	}
	m.do(tea.Tick(every, func(time.Time) tea.Msg { return tickMsg{} }))
}

func (m *Model) working() bool { return m.state.Busy || m.shell.cancel != nil || len(m.tasks) > 0 }

type quitMsg struct{ err error }

func (m *Model) quit(err error) {
	if err != nil && m.quitErr == nil {
		m.quitErr = err
	}
	m.denyAll()
	m.stopTasks()
	if m.shell.cancel != nil {
		m.shell.cancel()
	}
	m.do(tea.Quit)
}
