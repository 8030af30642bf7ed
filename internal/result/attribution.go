package result

// Attribution is who wrote the lines that a commit brought, as far as that is known line by line.
type Attribution struct {
	Commit   string // 40 or 64 digits
	At       string // when it was committed
	Files    []AttributedFile
	Sessions map[string]Writer // by ID: those that wrote a line
}

// AttributedFile is a file of it.
type AttributedFile struct {
	Path    string
	Wrote   map[string][]Range // by session, in order
	Unknown []Range            // lines of which nothing is known, in order
}

// Writer is a session, as other tools name one.
type Writer struct {
	Source   string // the agent
	NativeID string // the agent's own ID of it
	Model    string // "" where the transcript names none
	Author   string // address
}
