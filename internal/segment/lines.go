package segment

// The records of format 1. Keys stand in the order of the fields; empty strings and
// false are left out, numbers always stand.

type checkpointLine struct {
	T         string `json:"t"`
	GitSHA    string `json:"git_sha"`
	GitBranch string `json:"git_branch,omitempty"`
	UserEmail string `json:"user_email,omitempty"`
	TS        string `json:"ts"`
	ActorType string `json:"actor_type"`
	AgentID   string `json:"agent_id,omitempty"`
	PatchID   string `json:"patch_id,omitempty"`
	Via       string `json:"via"`
}

type fileLine struct {
	T       string `json:"t"`
	Path    string `json:"path"`
	OldPath string `json:"old_path,omitempty"`
	Change  string `json:"change"`
	Blob    string `json:"blob,omitempty"`
}

type linkLine struct {
	T        string `json:"t"`
	Session  string `json:"session"`
	Inferred bool   `json:"inferred,omitempty"`
	Tie      string `json:"tie,omitempty"`
}

type sessionLine struct {
	T          string `json:"t"`
	ID         string `json:"id"`
	Source     string `json:"source"`
	NativeID   string `json:"native_id"`
	Parent     string `json:"parent,omitempty"`
	ForkedFrom string `json:"forked_from,omitempty"`
	ActorType  string `json:"actor_type"`
	AgentID    string `json:"agent_id,omitempty"`
	Model      string `json:"model,omitempty"`
	Branch     string `json:"branch,omitempty"`
	Title      string `json:"title,omitempty"`
	StartedAt  string `json:"started_at,omitempty"`
	Hash       string `json:"session_hash,omitempty"`
	Cursor     string `json:"cursor,omitempty"`
	Bytes      int64  `json:"bytes"`
	FirstTurn  int    `json:"first_turn"`
	FirstTool  int    `json:"first_tool"`
}

type turnLine struct {
	T       string `json:"t"`
	I       int    `json:"i"`
	Role    string `json:"role"`
	TS      string `json:"ts,omitempty"`
	Content string `json:"content"`
}

type toolLine struct {
	T      string `json:"t"`
	I      int    `json:"i"`
	Turn   int    `json:"turn"`
	Tool   string `json:"tool"`
	Act    string `json:"act,omitempty"`
	Path   string `json:"path,omitempty"`
	Cmd    string `json:"cmd,omitempty"`
	Failed bool   `json:"failed,omitempty"`
	Exit   int    `json:"exit,omitempty"`
}

type memoryLine struct {
	T         string `json:"t"`
	ID        string `json:"id"`
	Title     string `json:"title,omitempty"`
	Content   string `json:"content"`
	Source    string `json:"source,omitempty"`
	TS        string `json:"ts"`
	ActorType string `json:"actor_type,omitempty"`
}

type markLine struct {
	T  string `json:"t"`
	ID string `json:"id"`
	N  int    `json:"n"`
	TS string `json:"ts"`
}

type rewriteLine struct {
	T   string `json:"t"`
	Old string `json:"old"`
	New string `json:"new"`
	TS  string `json:"ts"`
}

type wroteLine struct {
	T       string `json:"t"`
	GitSHA  string `json:"git_sha"`
	Blob    string `json:"blob,omitempty"`
	Session string `json:"session"`
	Path    string `json:"path"`
	Lines   string `json:"lines,omitempty"`
	Gone    int    `json:"gone"`
	TS      string `json:"ts"`
}

type needsLine struct {
	T       string `json:"t"`
	Version string `json:"version"`
}

type scrubLine struct {
	T       string `json:"t"`
	Segment string `json:"segment"`
	TS      string `json:"ts"`
}
