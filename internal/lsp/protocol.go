package lsp

import "encoding/json"

// The parts of the protocol that are used, by its names:
// https://microsoft.github.io/language-server-protocol/specifications/lsp/3.17/specification/

type position struct {
	Line      int `json:"line"`      // from 0
	Character int `json:"character"` // in units of UTF-16
}

type span struct { // "Range" there
	Start position `json:"start"`
	End   position `json:"end"`
}

type documentID struct {
	URI string `json:"uri"`
}

type initializeParams struct {
	Capabilities struct {
		TextDocument struct {
			Hover struct {
				ContentFormat []string `json:"contentFormat"`
			} `json:"hover"`
		} `json:"textDocument"`
		Window struct {
			ShowDocument struct {
				Support bool `json:"support"`
			} `json:"showDocument"`
		} `json:"window"`
	} `json:"capabilities"`
	InitializationOptions struct {
		InlayHints bool `json:"inlayHints"` // ours: who is behind a run of lines, at the end of its first one
	} `json:"initializationOptions"`
}

type initializeResult struct {
	Capabilities serverCapabilities `json:"capabilities"`
	ServerInfo   struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	} `json:"serverInfo"`
}

type serverCapabilities struct {
	PositionEncoding       string         `json:"positionEncoding"`
	TextDocumentSync       syncOptions    `json:"textDocumentSync"`
	HoverProvider          bool           `json:"hoverProvider"`
	CodeActionProvider     actionOptions  `json:"codeActionProvider"`
	InlayHintProvider      bool           `json:"inlayHintProvider,omitempty"`
	ExecuteCommandProvider commandOptions `json:"executeCommandProvider"`
}

type syncOptions struct {
	OpenClose bool `json:"openClose"`
	Change    int  `json:"change"`
}

// syncIncremental: a change names the place and the new text.
const syncIncremental = 2

type actionOptions struct {
	CodeActionKinds []string `json:"codeActionKinds"`
}

type commandOptions struct {
	Commands []string `json:"commands"`
}

type cancelParams struct {
	ID json.RawMessage `json:"id"` // a number or a text
}

type didOpenParams struct {
	TextDocument struct {
		documentID
		Text string `json:"text"`
	} `json:"textDocument"`
}

type didChangeParams struct {
	TextDocument   documentID `json:"textDocument"`
	ContentChanges []change   `json:"contentChanges"`
}

// change replaces a part of the text, or without Range all of it.
type change struct {
	Range *span  `json:"range"`
	Text  string `json:"text"`
}

type documentParams struct {
	TextDocument documentID `json:"textDocument"`
}

type positionParams struct {
	TextDocument documentID `json:"textDocument"`
	Position     position   `json:"position"`
}

type rangeParams struct {
	TextDocument documentID `json:"textDocument"`
	Range        span       `json:"range"`
	Context      struct {
		Only []string `json:"only"` // kinds of actions; none: all
	} `json:"context"`
}

type hoverResult struct {
	Contents markup `json:"contents"`
	Range    span   `json:"range"`
}

type markup struct {
	Kind  string `json:"kind"` // plaintext or markdown
	Value string `json:"value"`
}

type inlayHint struct {
	Position    position `json:"position"`
	Label       string   `json:"label"`
	PaddingLeft bool     `json:"paddingLeft"`
}

type codeAction struct {
	Title   string  `json:"title"`
	Kind    string  `json:"kind"`
	Command command `json:"command"`
}

type command struct {
	Title     string `json:"title"`
	Command   string `json:"command"`
	Arguments []any  `json:"arguments"`
}

type executeParams struct {
	Command   string            `json:"command"`
	Arguments []json.RawMessage `json:"arguments"`
}

type showDocumentParams struct {
	URI       string `json:"uri"`
	TakeFocus bool   `json:"takeFocus"`
}

type message struct {
	Type    int    `json:"type"`
	Message string `json:"message"`
}

// messageInfo is the kind of message that no editor interrupts anybody for.
const messageInfo = 3
