package git

import "context"

// PlainConfig is what Config reads without asking git, if it can.
func (r *Repo) PlainConfig() (map[string][]string, bool) { return r.configByLibrary() }

// AskConfig is what git says.
func (r *Repo) AskConfig() (map[string][]string, error) { return r.askConfig(context.Background()) }

// UsePlumbing has git itself answer, also where libgit2 could.
func (r *Repo) UsePlumbing() {
	r.store.close()
	r.git = &plumbing{repo: r}
	r.store = r.git
}
