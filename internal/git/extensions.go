package git

/*
#cgo !static pkg-config: libgit2
#cgo static pkg-config: libgit2 --static
#include <git2.h>

// git_libgit2_opts is variadic, which cgo can't call.
static int rekal_allow_extensions(void) {
	const char *names[] = {
		"worktreeconfig", "partialclone", "preciousobjects", "noop-v1", "relativeworktrees", "submodulepathconfig",
		"objectformat", "refstorage",
	};
	return git_libgit2_opts(GIT_OPT_SET_EXTENSIONS, names, sizeof(names) / sizeof(names[0]));
}

static int rekal_leave_owners_to_git(void) {
	return git_libgit2_opts(GIT_OPT_SET_OWNER_VALIDATION, 0);
}
*/
import "C"

import (
	"errors"
	"sync"

	git2 "github.com/libgit2/git2go/v34"
)

// prepare sets what is global to the process in libgit2, once; git2go has no calls for most of it.
//
// libgit2 1.5 refuses every extension that it was not told of. Allowed are those that do not
// change how objects and refs are stored, among them what git writes by itself
// (sparse-checkout, partial clones, relative paths of worktrees), and two that do so by their
// value, which chooseStore looks at. It also has its own idea of whose repository may be
// opened, which knows neither "safe.directory = *" nor SUDO_UID; checkOwner asks git.
var prepare = sync.OnceValue(func() error { //nolint:gochecknoglobals // as are the options
	if C.rekal_allow_extensions() < 0 {
		return errors.New("libgit2 refused GIT_OPT_SET_EXTENSIONS")
	}
	if C.rekal_leave_owners_to_git() < 0 {
		return errors.New("libgit2 refused GIT_OPT_SET_OWNER_VALIDATION")
	}
	return errors.Join(git2.SetMwindowSize(packWindow), git2.SetMwindowMappedLimit(2*packWindow))
})

// packWindow is how many bytes of a pack are mapped at a time. By default a whole pack is, and a
// large team's counts as 200 MB of memory.
const packWindow = 16 << 20

// LibraryVersion is the version of libgit2 that the process runs with: "1.5.1".
func LibraryVersion() string { return C.LIBGIT2_VERSION }
