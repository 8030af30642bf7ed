package ledger

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/git-rekal/git-rekal/internal/advice"
	"github.com/git-rekal/git-rekal/internal/git"
)

// The network is `git push` and `git fetch`, run as the user's own git. A remote's ledgers arrive at the
// remote-tracking refs. Adopt takes them in from there, and only ever adds, except for what was scrubbed. A push that
// is rejected fetches, merges and pushes again. A sync fetches before it pushes: mostly, what it sends is merged
// already then.

// trackingPrefix is where git notes what a remote's ledgers are. A plain `git fetch` of a clone
// writes there, too, and prunes; what is taken in from there is kept elsewhere.
func trackingPrefix(remote string) string { return "refs/remotes/" + remote + "/rekal/" }

// ErrRewritten is a remote's ledger that its author scrubbed.
var ErrRewritten = errors.New("its author took something out of it")

// refChange says how a ref may move as something is taken in.
type refChange bool

const (
	anyChange refChange = false
	onlyAdds  refChange = true // what it held stays behind it
)

// ErrRefused is a remote's ledger that can't be taken in as it is.
var ErrRefused = errors.New("not taken in")

// refusal is an ErrRefused with its cause.
type refusal struct {
	ref   string
	cause error
}

func (r *refusal) Error() string {
	return fmt.Sprintf("ledger: %s: %v: %v", r.ref, ErrRefused, r.cause)
}
func (r *refusal) Unwrap() []error { return []error{ErrRefused, r.cause} }

// Hint says what to do.
func (r *refusal) Hint() string {
	switch {
	case errors.As(r.cause, new(*BoundsError)): // knows more
	case errors.Is(r.cause, git.ErrNotFound):
		return `objects are missing in this clone; "git rekal sync" fetches them`
	case errors.Is(r.cause, ErrFormat):
		return "update git-rekal if a newer one wrote it, else rename or delete the branch on the remote"
	case errors.Is(r.cause, git.ErrMalformed):
		return `nobody can read it: rename or delete it on the remote; for your own branch "git rekal doctor" says how`
	}
	return advice.Of(r.cause)
}

// Fetch brings every ledger that a remote holds up to the remote-tracking refs, whole even
// where the clone is shallow or partial.
func Fetch(ctx context.Context, repo *git.Repo, remote string, attended git.Attended) error {
	return fetch(ctx, repo, remote, "*", attended)
}

func fetch(ctx context.Context, repo *git.Repo, remote, name string, attended git.Attended) error {
	spec := []string{"+" + localPrefix + name + ":" + trackingPrefix(remote) + name}
	if err := repo.Fetch(ctx, remote, spec, false, attended); err != nil {
		return fmt.Errorf("ledger: %w", err)
	}
	if !repo.Incomplete() {
		return nil
	}
	again, err := incompleteLedgers(ctx, repo, remote, name)
	if err != nil || len(again) == 0 {
		return err
	}
	if err := repo.Fetch(ctx, remote, again, true, attended); err != nil {
		return fmt.Errorf("ledger: %w", err)
	}
	return nil
}

// MirroredAddresses are the addresses of people whose ledgers a remote holds only as another clone knew them, because
// that was pushed with --mirror: no sync fetches them. Those of whom something is here are left out.
func MirroredAddresses(ctx context.Context, repo *git.Repo, remote string,
	attended git.Attended,
) (people []string, err error) {
	refs, err := repo.RefsAt(ctx, remote, attended, remotePrefix+"*")
	if err != nil {
		return nil, fmt.Errorf("ledger: %w", err)
	}
	heads, err := Heads(repo)
	for _, ref := range slices.Sorted(maps.Keys(refs)) {
		rest, ok := strings.CutPrefix(ref, remotePrefix)
		_, name, _ := strings.Cut(rest, "/")
		if who := shownAddress(name); ok && isAddressRef(name) && !slices.Contains(people, who) &&
			!slices.ContainsFunc(heads, func(h Head) bool { return strings.EqualFold(h.Email, who) }) {
			people = append(people, who)
		}
	}
	return people, err
}

// incompleteLedgers lists, as refspecs, the fetched ledgers of which something is not here.
func incompleteLedgers(ctx context.Context, repo *git.Repo, remote, name string) ([]string, error) {
	heads, err := Heads(repo)
	if err != nil {
		return nil, err
	}
	var held []git.OID
	for _, h := range heads {
		held = append(held, h.OID)
	}
	prefix := trackingPrefix(remote)
	tips, err := repo.Refs(prefix + name)
	if err != nil {
		return nil, fmt.Errorf("ledger: %w", err)
	}
	var out []string
	for _, ref := range slices.Sorted(maps.Keys(tips)) {
		if _, err := repo.Commit(tips[ref]); err != nil {
			continue // no ledger at all
		}
		if err := checkComplete(ctx, repo, tips[ref], held...); errors.Is(err, git.ErrNotFound) {
			out = append(out, "+"+localPrefix+strings.TrimPrefix(ref, prefix)+":"+ref)
		}
	}
	return out, ctx.Err()
}

// checkComplete looks at what a tip holds beyond others, and returns git.ErrNotFound when a commit
// or a segment of that is not here, as it may be in a clone that is shallow or partial.
func checkComplete(ctx context.Context, repo *git.Repo, tip git.OID, have ...git.OID) error {
	commits, err := Since(ctx, repo, tip, have...)
	if err != nil || !repo.Incomplete() {
		return err
	}
	for _, c := range commits {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("ledger: %w", err)
		}
		for _, s := range c.Segments {
			if _, err := repo.BlobSize(s.Blob); err != nil {
				return fmt.Errorf("ledger: %w", err)
			}
		}
	}
	return nil
}

// Adopted says what Adopt took in.
type Adopted struct {
	Ledgers  int       // refs that moved, one's own included
	Own      git.OID   // the tip of one's own ledger, when it moved
	Scrubbed []Dropped // ledgers of which something was given up, because their author scrubbed it
	Refused  []error   // what was left out, one for each ledger
}

// Dropped is a ref whose history was given up for one without what was scrubbed.
type Dropped struct {
	Ref string
	Own bool
	Was git.OID
}

// RescueCommand says how to get back what somebody else may have scrubbed of one's own ledger.
func (d Dropped) RescueCommand() string {
	return fmt.Sprintf(`your ledger was scrubbed on another machine; if that was not you, first run "git branch rescued %s", which keeps it as it was`, d.Was)
}

// Adopt takes in what the remote-tracking refs of a remote hold: one's own ledger into its
// branch, the others' into refs/rekal/<remote>/. Nothing that is held is ever given up but for
// what the ledger itself says was scrubbed: a ledger that was rewritten is merged. One that
// can't be read is refused and costs only itself.
func (l *Ledger) Adopt(ctx context.Context, remote string) (Adopted, error) {
	return l.adopt(ctx, remote, "*", anyChange)
}

// Fetched maps the remote-tracking refs of a remote's ledgers to what they hold; "*" is every remote.
func Fetched(repo *git.Repo, remote string) (map[string]git.OID, error) {
	tips, err := repo.Refs(trackingPrefix(remote) + "*")
	if err != nil {
		return nil, fmt.Errorf("ledger: %w", err)
	}
	maps.DeleteFunc(tips, func(ref string, tip git.OID) bool { return isCodeBranch(repo, ref, tip) })
	return tips, nil
}

// RemoteSetbacks says what a remote serves less of, or otherwise, than it did, in order, given Fetched of before and
// after. What was taken in is kept.
func RemoteSetbacks(repo *git.Repo, before, after map[string]git.OID) []string {
	var out []string
	for ref, was := range before {
		now, who := after[ref], shownAddress(ref[strings.LastIndexByte(ref, '/')+1:])
		if on, err := repo.IsAncestor(was, now); err != nil || on {
			continue // nobody can tell, or it went on
		}
		back, err := repo.IsAncestor(now, was)
		switch {
		case now == "":
			out = append(out, "no ledger of "+who+" any more")
		case err == nil && back:
			out = append(out, "an older state of the ledger of "+who+" than this clone has seen")
		default:
			out = append(out, "another history of the ledger of "+who+" than this clone has seen")
		}
	}
	slices.Sort(out)
	return out
}

// AdoptAdded is Adopt for one remote-tracking ref where nobody asked to share: nothing is given up. A ledger of which
// something was scrubbed is refused with ErrRewritten, and left to Adopt.
func (l *Ledger) AdoptAdded(ctx context.Context, remote, ref string) (Adopted, error) {
	return l.adopt(ctx, remote, strings.TrimPrefix(ref, trackingPrefix(remote)), onlyAdds)
}

// Restore takes in what a remote was last known to hold of one's own ledger, and reports
// whether that was anything.
func (l *Ledger) Restore(ctx context.Context, remote string) (bool, error) {
	taken, err := l.adopt(ctx, remote, strings.TrimPrefix(l.ref, localPrefix), anyChange)
	return taken.Own != "", err
}

func (l *Ledger) adopt(ctx context.Context, remote, name string, allowed refChange) (Adopted, error) {
	var out Adopted
	prefix := trackingPrefix(remote)
	tips, err := l.repo.Refs(prefix + name)
	if err != nil {
		return out, fmt.Errorf("ledger: %w", err)
	}
	for _, from := range slices.Sorted(maps.Keys(tips)) {
		name := strings.TrimPrefix(from, prefix)
		if strings.Contains(name, "/") || isCodeBranch(l.repo, from, tips[from]) {
			continue // an escaped address holds no slash
		}
		if !isAddressRef(name) {
			out.Refused = append(out.Refused, fmt.Errorf("ledger: %s: %w: its name is not one that an address has", from,
				ErrRefused))
			continue
		}
		to := remotePrefix + remote + "/" + name
		own := localPrefix+name == l.ref
		if own {
			to = l.ref
		} else if l.Ignore.Has(Head{Ref: to, Email: shownAddress(name), Remote: remote}) {
			continue
		}
		there := tips[from]
		if own {
			var beyond error
			if there, beyond = l.boundedTip(ctx, there); beyond != nil {
				out.Refused = append(out.Refused, &refusal{from, beyond})
			}
			if there == "" {
				continue
			}
		}
		was, tip, err := mergeIntoRef(ctx, l.repo, owner{shownAddress(name), own}, to, there, allowed)
		switch {
		case ctx.Err() != nil:
			return out, fmt.Errorf("ledger: %w", ctx.Err())
		case err != nil:
			out.Refused = append(out.Refused, &refusal{from, err})
		case was != tip:
			out.Ledgers++
			if own {
				out.Own = tip
			}
			if err := out.noteDropped(ctx, l.repo, Dropped{to, own, was}, tip, from); err != nil {
				return out, err
			}
		}
	}
	return out, nil
}

// boundedTip is how much of what a remote holds of one's own ledger is taken in: whoever may push there can add to it.
// It is read within the bounds for other people's. Where what is here is beyond them already, its owner made or took in
// as much, and what is not here is counted by itself.
func (l *Ledger) boundedTip(ctx context.Context, tip git.OID) (git.OID, error) {
	held, err := l.Tip()
	if behind, _ := l.repo.IsAncestor(tip, held); behind || l.Unbounded || err != nil {
		return tip, nil //nolint:nilerr // what is wrong with it, take says
	}
	var over *BoundsError
	exceeds := func(err error) bool { return errors.As(err, &over) && !errors.Is(err, git.ErrMalformed) }
	b := DefaultBounds()
	end, err := b.NewestWithin(ctx, l.repo, tip, Cumulative{}, NoLimit)
	if !exceeds(err) {
		return tip, nil //nolint:nilerr // the same
	}
	if held != "" {
		if _, err := b.NewestWithin(ctx, l.repo, held, Cumulative{}, NoLimit); exceeds(err) {
			if err := b.CheckAdded(ctx, l.repo, held, tip); !exceeds(err) {
				return tip, nil //nolint:nilerr // the same
			}
			end.OID = held
		}
	}
	what := "its beginning"
	if end.OID != "" {
		what = fmt.Sprintf("commit %.12s", end.OID)
	}
	return end.OID, &BoundsError{What: fmt.Sprintf("what is behind %s: %s", what, over.What), Own: true}
}

// noteDropped notes that a ref moved to where its old history is not behind it any more, and empties
// the reflogs that would keep that.
func (t *Adopted) noteDropped(ctx context.Context, repo *git.Repo, d Dropped, now git.OID, tracking string) error {
	if d.Was == "" {
		return nil
	}
	if behind, err := repo.IsAncestor(d.Was, now); err != nil || behind {
		return err
	}
	t.Scrubbed = append(t.Scrubbed, d)
	return errors.Join(repo.ExpireReflog(ctx, d.Ref), repo.ExpireReflog(ctx, tracking))
}

// mergeIntoRef moves a ref on to hold what another tip holds, too, as far as that is allowed, and tells where it was
// and is.
func mergeIntoRef(ctx context.Context, repo *git.Repo, of owner, ref string, tip git.OID,
	allowed refChange,
) (was, now git.OID, err error) {
	for range tries {
		held, err := repo.Ref(ref)
		if err != nil && !errors.Is(err, git.ErrNotFound) {
			return "", "", err
		}
		if behind, err := repo.IsAncestor(tip, held); err != nil || behind {
			return held, held, err
		}
		// What can't be read would make unreadable what is held.
		if err := repo.CheckCommitSizes(ctx, tip, held); err != nil {
			return "", "", err
		}
		if err := checkComplete(ctx, repo, tip, held); err != nil {
			return "", "", err
		}
		next := tip
		if held != "" {
			if next, err = merge(ctx, repo, of, held, tip); err != nil || next == held {
				return held, next, err
			}
			if behind, err := repo.IsAncestor(held, next); allowed == onlyAdds && (err != nil || !behind) {
				return held, held, cmp.Or(err, ErrRewritten)
			}
		}
		err = repo.CompareAndSwap(ctx, ref, held, next, "rekal: fetch")
		if !errors.Is(err, git.ErrMoved) {
			return held, next, err
		}
	}
	return "", "", fmt.Errorf("%s: %w", ref, git.ErrMoved)
}

// Sent says what a Push has done.
type Sent struct {
	Commits  int       // of the ledger that the remote did not have, as far as was known here
	Scrubbed []Dropped // see Adopted
}

// Push sends one's own ledger to a remote, never by force, but over what was scrubbed since (then
// only in the place of the very commit that was seen there). Where the remote holds more of it
// (from another machine), that is fetched and merged first.
func (l *Ledger) Push(ctx context.Context, remote string, attended git.Attended) (out Sent, err error) {
	stuck := 0 // tries after which nothing had changed
	for range tries {
		tip, err := l.Tip()
		if err != nil || tip == "" {
			return out, err
		}
		had := l.lastSeenAt(remote)
		new, err := l.send(ctx, remote, had, tip, attended)
		if err == nil {
			out.Commits, err = l.noteSent(ctx, remote, new, had, tip)
			return out, err
		}
		err = fmt.Errorf("ledger: %w", err)
		if !errors.Is(err, git.ErrRejected) {
			return out, err
		}
		if stuck > 1 {
			return out, l.explainRejection(ctx, remote, attended, err)
		}
		taken, pulled := l.mergeRemote(ctx, remote, attended)
		out.Scrubbed = append(out.Scrubbed, taken.Scrubbed...)
		switch {
		case errors.Is(pulled, ErrRefused):
			return out, pulled
		case pulled != nil:
			return out, l.explainRejection(ctx, remote, attended, err) // what was wrong with the push tells more
		}
		if now, err := l.Tip(); err == nil && now == tip && l.lastSeenAt(remote) == had {
			stuck++
		}
	}
	return out, fmt.Errorf("ledger: push to %q: %w: gave up after %d tries", remote, git.ErrRejected, tries)
}

// explainRejection is a BlockedError where a branch of the remote is why a push was rejected, and else what git said.
func (l *Ledger) explainRejection(ctx context.Context, remote string, attended git.Attended, rejected error) error {
	by, err := l.repo.ConflictingRefAt(ctx, remote, l.ref, attended)
	if err != nil || by == "" {
		return rejected
	}
	return &BlockedError{Ref: l.ref, By: by, Remote: remote}
}

func (l *Ledger) send(ctx context.Context, remote string, lastSeen, tip git.OID,
	attended git.Attended,
) (sent bool, err error) {
	instead, err := l.holdsAllOf(ctx, lastSeen, tip)
	if err != nil {
		return false, err
	}
	if instead {
		return l.repo.Replace(ctx, remote, l.ref, lastSeen, tip, attended)
	}
	return l.repo.Push(ctx, remote, l.ref, tip, attended)
}

// holdsAllOf reports whether a tip holds all that another one does, less what was scrubbed, without
// having it behind itself.
func (l *Ledger) holdsAllOf(ctx context.Context, old, tip git.OID) (bool, error) {
	if old == "" {
		return false, nil
	}
	if behind, err := l.repo.IsAncestor(old, tip); err != nil || behind {
		return false, err
	}
	if _, err := l.repo.Commit(old); err != nil {
		return false, nil //nolint:nilerr // what is not here was scrubbed by nobody; the push tells more
	}
	both, err := merge(ctx, l.repo, owner{l.who.Email, true}, old, tip)
	return err == nil && both == tip, nil //nolint:nilerr // the same
}

// IsSent reports whether a remote is known to hold all of one's own ledger, if there is one. It goes by the
// remote-tracking ref, so a push of code without new sessions costs no second connection.
func (l *Ledger) IsSent(remote string) (bool, error) {
	tip, err := l.Tip()
	return err == nil && (tip == "" || tip == l.lastSeenAt(remote)), err
}

// trackingRef is the ref that says what a remote holds of one's own ledger.
func (l *Ledger) trackingRef(remote string) string {
	return trackingPrefix(remote) + strings.TrimPrefix(l.ref, localPrefix)
}

// lastSeenAt is what a remote held of one's own ledger when it was last seen; "" for nothing.
func (l *Ledger) lastSeenAt(remote string) git.OID {
	id, err := l.repo.Ref(l.trackingRef(remote))
	if err != nil {
		return ""
	}
	return id
}

// noteSent notes what the remote holds now. git does so itself only where the remote's refspec
// covers the branch. It is no reason to fail that it can't be noted: it was sent.
func (l *Ledger) noteSent(ctx context.Context, remote string, new bool, lastSeen, tip git.OID) (int, error) {
	if now := l.lastSeenAt(remote); now != tip {
		_ = l.repo.CompareAndSwap(ctx, l.trackingRef(remote), now, tip, "rekal: push")
	}
	if !new {
		return 0, nil
	}
	commits, err := Since(ctx, l.repo, tip, lastSeen)
	if err != nil {
		return 0, err
	}
	return len(commits), nil
}

// mergeRemote merges what a remote holds of one's own ledger into the branch.
func (l *Ledger) mergeRemote(ctx context.Context, remote string, attended git.Attended) (Adopted, error) {
	name := strings.TrimPrefix(l.ref, localPrefix)
	if err := fetch(ctx, l.repo, remote, name, attended); err != nil {
		return Adopted{}, err
	}
	taken, err := l.adopt(ctx, remote, name, anyChange)
	return taken, errors.Join(append(taken.Refused, err)...)
}
