package run

import "golang.org/x/sys/unix"

// What macOS calls these requests.
const (
	getModes = unix.TIOCGETA
	setModes = unix.TIOCSETA
	toRead   = 0x4004667f // FIONREAD of sys/filio.h: how many bytes are there
)
