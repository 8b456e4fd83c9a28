package subprocess

import "os"

// pipes are the three of a process. They are made here and not by os/exec so
// that ours are files with deadlines and no goroutine copies. os.Pipe makes
// them close-on-exec: the end of one process is never inherited by another.
type pipes struct {
	inRead, inWrite, outRead, outWrite, errRead, errWrite *os.File
}

func openPipes() (*pipes, error) {
	p := &pipes{}
	for _, pair := range [][2]**os.File{
		{&p.inRead, &p.inWrite}, {&p.outRead, &p.outWrite}, {&p.errRead, &p.errWrite},
	} {
		var err error
		if *pair[0], *pair[1], err = os.Pipe(); err != nil {
			p.closeTheirs()
			p.closeOurs()
			return nil, err
		}
	}
	return p, nil
}

func (p *pipes) closeTheirs() { closeAll(p.inRead, p.outWrite, p.errWrite) }
func (p *pipes) closeOurs()   { closeAll(p.inWrite, p.outRead, p.errRead) }

func closeAll(files ...*os.File) {
	for _, f := range files {
		if f != nil {
			_ = f.Close()
		}
	}
}
