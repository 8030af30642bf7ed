package git

/*
#cgo !static pkg-config: libgit2
#cgo static pkg-config: libgit2 --static
#include <git2.h>

// git_libgit2_opts is variadic, which cgo can't call.
static int rekal_allow_extensions(void) {
	const char *names[] = {"worktreeconfig", "worktreeConfig", "partialclone", "partialClone", "preciousobjects", "preciousObjects"};
	return git_libgit2_opts(GIT_OPT_SET_EXTENSIONS, names, sizeof(names) / sizeof(names[0]));
}
*/
import "C"

import (
	"errors"
	"sync"
)

// allowExtensions lets libgit2 open repositories whose extensions do not change how
// objects and refs are stored: worktreeConfig (set by sparse-checkout), partialClone and
// preciousObjects. libgit2 1.5 refuses them unless told, and git2go has no call for it.
// The option is global to the process, so it is set once.
var allowExtensions = sync.OnceValue(func() error { //nolint:gochecknoglobals // as is the option
	if C.rekal_allow_extensions() < 0 {
		return errors.New("libgit2 refused GIT_OPT_SET_EXTENSIONS")
	}
	return nil
})

// LibraryVersion is the version of libgit2 that the process runs with: "1.5.1".
func LibraryVersion() string { return C.LIBGIT2_VERSION }
