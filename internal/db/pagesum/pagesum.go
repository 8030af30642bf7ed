// Package pagesum gives SQLite files a checksum on each page. SQLite believes whatever stands on a page that it can
// take apart; with these, a page that is not as it was written is an input/output error, SQLITE_IOERR_DATA.
//
// It is a file system of SQLite's (a "VFS") around the one of the system. It looks at database files whose header reserves 8 bytes
// at the end of each page, and leaves all others as they are. It works as SQLite's own ext/misc/cksumvfs.c, whose sums these are, with
// two differences: pages of a file that is mapped into memory are checked, too, where that one gives up the mapping; and the log that
// stands beside a file is left alone, so that the sums that its frames have hold after a crash.
package pagesum

/*
int rekal_pagesum_register(void);
*/
import "C"

import (
	"errors"
	"sync"
)

// Name is what to open a file with: "file:…?vfs=" + Name.
const Name = "pagesum"

// ReserveBytes is SQLITE_FCNTL_RESERVE_BYTES: with 8 it makes a new file one with sums.
const ReserveBytes = 38

// Size is how many bytes of a page the sum takes.
const Size = 8

// Wrong is SQLITE_IOERR_DATA, the extended code of the error of a page that is not as it was written.
const Wrong = 10 | 32<<8

// Register makes Name known to SQLite, once.
//
//nolint:gochecknoglobals // a function
var Register = sync.OnceValue(func() error {
	if rc := C.rekal_pagesum_register(); rc != 0 {
		return errors.New("pagesum: SQLite takes no other file system")
	}
	return nil
})
