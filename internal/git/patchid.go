package git

/*
#include <stdlib.h>
#include <git2.h>
#include <git2/sys/repository.h>

enum { REKAL_LEFT_OUT = 1 };

// Trees are diffed over the object database alone, with an empty configuration: what a user
// configures must not change a patch-id.
static int rekal_bare(git_repository **repo, const char *objects)
{
	git_odb *odb = NULL;
	git_config *none = NULL;
	int err;

	*repo = NULL;
	if (!(err = git_odb_open(&odb, objects)) && !(err = git_repository_wrap_odb(repo, odb)) &&
	    !(err = git_config_new(&none)))
		err = git_repository_set_config(*repo, none);
	git_config_free(none);
	git_odb_free(odb);
	return err;
}

static int rekal_tree(git_tree **tree, git_repository *repo, const char *commit)
{
	git_oid id;
	git_commit *c = NULL;
	int err;

	if (!*commit) // before a root commit
		return 0;
	if (!(err = git_oid_fromstr(&id, commit)) && !(err = git_commit_lookup(&c, repo, &id)))
		err = git_commit_tree(tree, c);
	git_commit_free(c);
	return err;
}

// Whether the sides of a diff are here and small enough. A blob that is not here is looked
// for once.
static int rekal_fits(git_diff *diff, git_odb *odb, size_t max_files, size_t max_bytes)
{
	size_t n = git_diff_num_deltas(diff), left = max_bytes, i;
	int side;

	if (n == 0 || n > max_files)
		return REKAL_LEFT_OUT;
	for (i = 0; i < n; i++) {
		const git_diff_delta *d = git_diff_get_delta(diff, i);
		const git_diff_file *files[2] = { &d->old_file, &d->new_file };
		for (side = 0; side < 2; side++) {
			size_t size;
			git_object_t type;
			if (!files[side]->mode || files[side]->mode == GIT_FILEMODE_COMMIT)
				continue;
			if (git_odb_read_header(&size, &type, odb, &files[side]->id) || size > left)
				return REKAL_LEFT_OUT;
			left -= size;
		}
	}
	return 0;
}

// Whether a diff that was printed has a binary file. It stands in it as "differ" and nothing
// more, so that two different ones would be one patch.
static int rekal_binary(git_diff *diff)
{
	size_t n = git_diff_num_deltas(diff), i;

	for (i = 0; i < n; i++)
		if (git_diff_get_delta(diff, i)->flags & GIT_DIFF_FLAG_BINARY)
			return REKAL_LEFT_OUT;
	return 0;
}

static int rekal_patch_id(char *out, const char *objects, const char *parent, const char *commit,
	size_t max_files, size_t max_bytes)
{
	git_diff_options how = GIT_DIFF_OPTIONS_INIT;
	git_repository *repo = NULL;
	git_odb *odb = NULL;
	git_tree *before = NULL, *after = NULL;
	git_diff *diff = NULL;
	git_oid id;
	int err;

	if (!(err = rekal_bare(&repo, objects)) && !(err = git_repository_odb(&odb, repo)) &&
	    !(err = rekal_tree(&before, repo, parent)) && !(err = rekal_tree(&after, repo, commit)) &&
	    !(err = git_diff_tree_to_tree(&diff, repo, before, after, &how)) &&
	    !(err = rekal_fits(diff, odb, max_files, max_bytes)) &&
	    !(err = git_diff_patchid(&id, diff, NULL)) &&
	    !(err = rekal_binary(diff)))
		git_oid_tostr(out, GIT_OID_HEXSZ + 1, &id);
	git_diff_free(diff);
	git_tree_free(after);
	git_tree_free(before);
	git_odb_free(odb);
	git_repository_free(repo);
	return err;
}
*/
import "C"

import (
	"path/filepath"
	"unsafe"
)

// What a patch-id is computed of at most. A commit above it is a generated one, and waiting
// for its diff would be felt.
const (
	patchFiles = 300
	patchBytes = 256 << 10 // of both sides of all files
)

// PatchID is the stable patch-id of a commit's change: what `git diff-tree -p --root COMMIT |
// git patch-id --stable` prints where neither attributes nor configuration change the diff
// (but for commits with an empty file, which libgit2 describes in its own way). Equal patches
// have equal patch-ids, wherever they apply. It is "" where there is none: for a merge, an
// empty change, one with binary files, one that is too large, or one whose objects are not
// all here.
//
// git2go has no call for it and does not hand out its handle, so the objects are opened anew.
func (r *Repo) PatchID(c Commit) string {
	parent := ""
	switch len(c.Parents) {
	case 0:
	case 1:
		parent = string(c.Parents[0])
	default:
		return ""
	}
	objects := C.CString(filepath.Join(r.layout.CommonDir, "objects"))
	defer C.free(unsafe.Pointer(objects))
	before, after := C.CString(parent), C.CString(string(c.OID))
	defer C.free(unsafe.Pointer(before))
	defer C.free(unsafe.Pointer(after))
	var out [C.GIT_OID_HEXSZ + 1]C.char
	if C.rekal_patch_id(&out[0], objects, before, after, patchFiles, patchBytes) != 0 {
		return ""
	}
	return C.GoString(&out[0])
}
