package run

import (
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

// signals catches the signals that are sent to us, to pass them on to the command.
type signals struct{ got chan os.Signal }

// catchSignals begins to hear them. What our caller ignores (nohup, a job in the background) stays ignored, by the
// command, too. SIGPIPE is heard so that a closed stdout is an error of a write, and not our end.
func catchSignals() signals {
	s := signals{make(chan os.Signal, 16)}
	for _, sig := range []os.Signal{
		syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGWINCH,
		syscall.SIGPIPE,
	} {
		if !signal.Ignored(sig) {
			signal.Notify(s.got, sig)
		}
	}
	return s
}

func (s signals) stop() {
	signal.Stop(s.got)
	close(s.got)
}

// passOn hands signals on until stop. Those that a terminal sends to all of its foreground have reached the command
// already.
func (s signals) passOn(to *os.Process, out *streams) {
	for sig := range s.got {
		switch sig {
		case syscall.SIGPIPE:
			continue
		case syscall.SIGWINCH:
			out.resize() // then it may ask for the size again
		case syscall.SIGINT, syscall.SIGQUIT:
			if inForeground() {
				continue
			}
		}
		_ = to.Signal(sig) // it has ended: so it needs none
	}
}

// inForeground reports whether the terminal sends what is typed to our process group.
func inForeground() bool {
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return false
	}
	defer tty.Close()
	group, err := unix.IoctlGetInt(int(tty.Fd()), unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}
