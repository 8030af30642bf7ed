package run

import (
	"errors"
	"io"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// streamEnd is one stream: what the command writes to, and what we read.
type streamEnd struct {
	child, ours *os.File
	to          io.Writer
	shown       func() bool // false: it is only heard
	pty         bool
}

// streams is the command's output on its way.
type streams struct {
	out, err streamEnd
	terminal *os.File // whose size the pty has; nil for none
	hear     func([]byte)

	readers sync.WaitGroup
	mutex   sync.Mutex // of all below, and of the order
	closed  bool
	latest  time.Time     // when something came, or was handed on
	blocked time.Duration // how long whoever takes it kept us waiting
	failure error
}

// openStreams makes what the command writes to.
func openStreams(c Command) (*streams, error) {
	s := &streams{hear: c.Hear}
	var err error
	if s.out, err = s.newEnd(c, Out, c.Stdout); err != nil {
		return nil, err
	}
	if isSameStream(c.Stdout, c.Stderr) {
		s.err = s.out
		return s, nil
	}
	if s.err, err = s.newEnd(c, Err, c.Stderr); err != nil {
		s.out.close()
		return nil, err
	}
	return s, nil
}

func (s *streams) newEnd(c Command, as Stream, w io.Writer) (e streamEnd, err error) {
	e.to, e.shown = w, sync.OnceValue(func() bool { return c.Show(as) })
	if f, ok := w.(*os.File); ok && IsTerminal(f) {
		e.pty, s.terminal = true, f
		if e.ours, e.child, err = pty.Open(); err == nil {
			err = e.copySizeTo(f)
		}
		if err == nil {
			return e, nil
		}
		e.close() // no pty to be had: a pipe does
		e.pty = false
	}
	e.ours, e.child, err = os.Pipe()
	return e, err
}

// copySizeTo gives the pty the size of our terminal. It changes no byte on the way: our terminal does what terminals
// do.
func (e streamEnd) copySizeTo(f *os.File) error {
	fd := int(e.child.Fd())
	modes, err := unix.IoctlGetTermios(fd, getModes)
	if err != nil {
		return err
	}
	modes.Oflag &^= unix.OPOST
	modes.Lflag &^= unix.ECHO
	if err := unix.IoctlSetTermios(fd, setModes, modes); err != nil {
		return err
	}
	return pty.InheritSize(f, e.ours)
}

func (e streamEnd) close() {
	for _, f := range []*os.File{e.child, e.ours} {
		if f != nil {
			_ = f.Close() // nothing was written
		}
	}
}

func (s *streams) close() {
	s.out.close()
	if s.err.ours != s.out.ours {
		s.err.close()
	}
}

// IsTerminal reports whether a file is one.
func IsTerminal(f *os.File) bool {
	_, err := unix.IoctlGetTermios(int(f.Fd()), getModes)
	return err == nil
}

// isSameStream reports whether two streams lead to one place: one terminal, one pipe or one file.
func isSameStream(a, b io.Writer) bool {
	x, ok := a.(*os.File)
	y, ok2 := b.(*os.File)
	if !ok || !ok2 {
		return false
	}
	i, err := x.Stat()
	j, err2 := y.Stat()
	return err == nil && err2 == nil && os.SameFile(i, j)
}

// startReading reads from now on: the command has its ends.
func (s *streams) startReading() {
	_ = s.out.child.Close() // the command's own copy is what counts
	s.readFrom(s.out)
	if s.err.ours != s.out.ours {
		_ = s.err.child.Close()
		s.readFrom(s.err)
	}
}

func (s *streams) readFrom(e streamEnd) {
	s.readers.Go(func() {
		buf := make([]byte, 64<<10)
		for {
			n, err := e.ours.Read(buf)
			if n > 0 && !s.handOn(e, buf[:n]) {
				_ = e.ours.Close() // the command's next write fails, as ours did
				return
			}
			if err != nil { // io.EOF; of a pty EIO
				return
			}
		}
	})
}

// handOn hands on what was read, and reports whether more is wanted.
func (s *streams) handOn(e streamEnd, p []byte) bool {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.closed {
		return true // and let it run dry: nobody is to be killed for it
	}
	s.callListener(p)
	s.latest = time.Now() //nolint:forbidigo // how long it is quiet is no matter of the caller's clock
	if !e.shown() {
		return true
	}
	_, err := e.to.Write(p)
	began := s.latest
	s.latest = time.Now() //nolint:forbidigo // see above
	s.blocked += s.latest.Sub(began)
	if err != nil {
		if s.failure == nil {
			s.failure = err
		}
		return false
	}
	return true
}

// callListener lets the listener hear. One that panics hears no more; the output goes on.
func (s *streams) callListener(p []byte) {
	if s.hear == nil {
		return
	}
	defer func() {
		if recover() != nil {
			s.hear = nil
		}
	}()
	s.hear(p)
}

// drain waits behind the exit for what is still on its way. The time in which nobody takes what was printed does not
// count.
func (s *streams) drain() {
	done := make(chan struct{})
	go func() { s.readers.Wait(); close(done) }()
	_, before := s.activity()
	start := time.Now() //nolint:forbidigo // see take
	tick := time.NewTicker(quiet / 5)
	defer tick.Stop()
	for {
		select {
		case <-done:
			s.stop()
			return
		case <-tick.C:
			since, blocked := s.activity()
			if since.Before(start) {
				since = start
			}
			now := time.Now() //nolint:forbidigo // see take
			if now.Sub(since) >= quiet && !s.isInputWaiting() || now.Sub(start)-(blocked-before) >= last {
				s.stop()
				return
			}
		}
	}
}

// activity is when something came or was handed on, and how long we were kept waiting so far.
func (s *streams) activity() (latest time.Time, blocked time.Duration) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.latest, s.blocked
}

// isInputWaiting reports whether something is there to be read.
func (s *streams) isInputWaiting() bool {
	for _, f := range []*os.File{s.out.ours, s.err.ours} {
		conn, err := f.SyscallConn()
		if err != nil {
			continue
		}
		n := 0
		_ = conn.Control(func(fd uintptr) { n, _ = unix.IoctlGetInt(int(fd), toRead) }) // closed: nothing is
		if n > 0 {
			return true
		}
	}
	return false
}

// stop ends the output: what comes later is nobody's.
func (s *streams) stop() {
	s.mutex.Lock()
	s.closed = true
	s.mutex.Unlock()
}

func (s *streams) outputError() error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if errors.Is(s.failure, syscall.EPIPE) {
		return nil // who read it has enough
	}
	return s.failure
}

// resize gives the ptys the size that our terminal has now.
func (s *streams) resize() {
	for _, e := range []streamEnd{s.out, s.err} {
		if e.pty && s.terminal != nil {
			_ = pty.InheritSize(s.terminal, e.ours) // it keeps the old one
		}
	}
}
