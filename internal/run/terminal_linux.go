package run

import "golang.org/x/sys/unix"

// What Linux calls these requests.
const (
	getModes = unix.TCGETS
	setModes = unix.TCSETS
	toRead   = unix.TIOCINQ // how many bytes are there
)
