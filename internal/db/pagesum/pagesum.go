// Package pagesum gives SQLite files a checksum on each page. A changed page is then an input/output error (SQLITE_IOERR_DATA). Without
// it SQLite believes any page that it can parse.
//
// It is a SQLite file system (a "VFS") around the system's. It checks database files whose header reserves 8 bytes at the end of each page,
// and leaves others alone. Sums and format are those of SQLite's ext/misc/cksumvfs.c, with two differences: memory-mapped pages are checked,
// too; and the log beside a file is left alone, so that its frames' own sums hold after a crash.
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
