package bench

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/patriceckhart/zot/runtime/event"
	"github.com/patriceckhart/zot/runtime/extension"
	"github.com/patriceckhart/zot/transports"
)

// A drain is the connection of an extension that subscribes to turns' ends and
// answers, and takes everything at once. What is measured with it is the host
// alone.
type drain struct {
	lines chan []byte
	done  chan struct{}
	once  sync.Once
	taken *atomic.Int64 // events
}

func startDrain(name string, taken *atomic.Int64) *drain {
	d := &drain{lines: make(chan []byte, 3), done: make(chan struct{}), taken: taken}
	d.lines <- fmt.Appendf(nil, `{"type":"hello","name":%q}`, name)
	d.lines <- []byte(`{"type":"subscribe","events":["assistant_message"]}`)
	d.lines <- []byte(`{"type":"ready"}`)
	return d
}

func (d *drain) ReadFrame() ([]byte, error) {
	select {
	case line := <-d.lines:
		return line, nil
	case <-d.done:
		return nil, io.EOF
	}
}

func (d *drain) WriteFrame(frame []byte, _ time.Time) error {
	if strings.HasPrefix(string(frame[:min(len(frame), 15)]), `{"type":"event"`) {
		d.taken.Add(1)
	}
	return nil
}

func (d *drain) CloseWrite() error { return nil }

func (d *drain) Stop(context.Context, transports.Grace) transports.Exit {
	d.once.Do(func() { close(d.done) })
	return transports.Exit{}
}

func (d *drain) Done() <-chan struct{} { return d.done }
func (d *drain) Exit() transports.Exit { return transports.Exit{} }

// observers starts n extensions that only listen.
func observers(b *testing.B, n int, taken *atomic.Int64) *extension.Manager {
	b.Helper()
	var all []extension.Entry
	for i := range n {
		name := fmt.Sprintf("drain%d", i)
		all = append(all, extension.Entry{Name: name, Launch: func(context.Context, io.Writer) (transports.Conn, error) {
			return startDrain(name, taken), nil
		}})
	}
	m := extension.New(extension.Options{Plan: func() extension.Plan { return extension.Plan{Entries: all} }})
	m.Start()
	if late := m.WaitReady(b.Context()); len(late) > 0 {
		b.Fatalf("not ready: %v", late)
	}
	return m
}

// BenchmarkEvent compares what it takes to tell fifty subscribers of an event
// of 64 KiB with what it takes to tell one: the bytes that are allocated are
// those of one encoding either way.
func BenchmarkEvent(b *testing.B) {
	const size, subscribers, batch = 64 << 10, 50, 100
	e := event.AssistantMessage{Visible: strings.Repeat("x", size)}
	tell := func(n int) (perEvent time.Duration, bytes float64) {
		var taken atomic.Int64
		m := observers(b, n, &taken)
		defer m.Stop(b.Context())
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		start := time.Now()
		for i := range batch {
			m.Observe(e)
			for taken.Load() < int64((i+1)*n) {
				runtime.Gosched()
			}
		}
		took := time.Since(start)
		runtime.ReadMemStats(&after)
		return took / batch, float64(after.TotalAlloc-before.TotalAlloc) / batch
	}
	for b.Loop() {
		one, bytesOfOne := tell(1)
		fifty, bytesOfFifty := tell(subscribers)
		b.ReportMetric(float64(one.Nanoseconds())/1e3, "1-subscriber-µs")
		b.ReportMetric(float64(fifty.Nanoseconds())/1e3, "50-subscribers-µs")
		b.ReportMetric(bytesOfOne/size, "1-subscriber-encodings")
		b.ReportMetric(bytesOfFifty/size, "50-subscribers-encodings")
		b.ReportMetric(bytesOfFifty/bytesOfOne, "bytes-ratio")
	}
	b.ReportMetric(0, "ns/op")
}
