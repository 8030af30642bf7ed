package setup

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// serverFile registers MCP servers with agents; teams commit it, so it is not ignored and names no path of
// this machine.
const serverFile = ".mcp.json"

const (
	serverName  = "git-rekal"
	serverList  = "mcpServers"
	serverEntry = `"git-rekal": {
      "command": "git-rekal",
      "args": ["mcp"]
    }`
)

func (l Layout) serverPath() string { return filepath.Join(l.WorkTree, serverFile) }

// installServer adds the MCP server to .mcp.json, and leaves every other byte as it is.
func installServer(l Layout, made *record, r *Report) error {
	if !l.MCP {
		return nil
	}
	if l.WorkTree == "" {
		r.hint("a bare repository has no %s: run `git rekal init --mcp` in a worktree", serverFile)
		return nil
	}
	path := l.serverPath()
	if isLink(path) {
		r.hint("%s is a link to a file that may serve other repositories; register the server `git-rekal mcp` there", serverFile)
		return nil
	}
	if isSpecial(path) { // to read a pipe is to wait
		r.hint("%s is no file and was left alone", serverFile)
		return nil
	}
	text, err := os.ReadFile(path)
	if absentIsFine(err) != nil {
		return fmt.Errorf("setup: read %s: %w", serverFile, err)
	}
	more, err := addServer(text)
	if err != nil {
		return fmt.Errorf("setup: %s was left alone: %w: add the server `git-rekal mcp` by hand", serverFile, err)
	}
	if bytes.Equal(more, text) {
		if starts(gjson.GetBytes(bytes.TrimPrefix(text, []byte(bom)), serverList+"."+serverName)) {
			r.already("MCP server in %s", serverFile)
		} else {
			r.hint("the server %q in %s runs something else and was left alone; take it out and run `git rekal init --mcp` again, or register `git-rekal mcp` under another name", serverName, serverFile)
		}
		return nil
	}
	err = made.note(path)
	if err == nil {
		err = writeFile(path, more, 0o666)
	}
	if err != nil {
		return fmt.Errorf("setup: write %s: %w", serverFile, err)
	}
	r.done("MCP server in %s", serverFile)
	return nil
}

// removeServer takes the server out of a .mcp.json into which Install put it, and the file where nothing
// else is in it.
func removeServer(l Layout, path string, r *Report) error {
	if isLink(path) || isSpecial(path) {
		return nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		if absentIsFine(err) != nil {
			return fmt.Errorf("setup: read %s: %w", l.show(path), err)
		}
		return nil
	}
	rest, found := cutServer(text)
	switch {
	case !found && gjson.GetBytes(text, serverList+"."+serverName).Exists():
		r.hint("the server %q in %s was edited and stays", serverName, l.show(path))
		return nil
	case !found:
		return nil
	case len(rest) == 0:
		err = os.Remove(path)
	default:
		err = writeFile(path, rest, 0o666)
	}
	if err != nil {
		return fmt.Errorf("setup: take the server out of %s: %w", l.show(path), err)
	}
	r.done("MCP server in %s", l.show(path))
	return nil
}

// isSpecial reports whether something is there that is neither a file nor a folder nor a link.
func isSpecial(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode()&(os.ModeNamedPipe|os.ModeSocket|os.ModeDevice) != 0
}

// addServer adds our server to a text of .mcp.json, as the first one; where some server has our name, the
// text stays as it is. An empty text becomes a file.
func addServer(text []byte) ([]byte, error) {
	body := bytes.TrimPrefix(text, []byte(bom))
	if len(bytes.TrimSpace(body)) == 0 {
		return []byte("{\n  \"" + serverList + "\": {\n    " + serverEntry + "\n  }\n}\n"), nil
	}
	if err := valid(body); err != nil {
		return nil, err
	}
	servers := gjson.GetBytes(body, serverList)
	switch {
	case !servers.Exists():
		return insert(text, bytes.IndexByte(text, '{')+1, "\n  \""+serverList+"\": {\n    "+serverEntry+"\n  }"), nil
	case !servers.IsObject():
		return nil, fmt.Errorf("%q is no object", serverList)
	case servers.Get(serverName).Exists():
		return text, nil
	}
	return insert(text, len(text)-len(body)+servers.Index+1, "\n    "+serverEntry), nil
}

// valid refuses what is no JSON object, and one whose keys we could take for others.
func valid(body []byte) error {
	var top map[string]json.RawMessage
	var syntax *json.SyntaxError
	switch err := json.Unmarshal(body, &top); {
	case errors.As(err, &syntax):
		return fmt.Errorf("it is no valid JSON, from line %d on", 1+bytes.Count(body[:min(int(syntax.Offset), len(body))], []byte("\n")))
	case err != nil || top == nil:
		return errors.New("it is no JSON object")
	}
	lists := 0
	gjson.ParseBytes(body).ForEach(func(key, _ gjson.Result) bool {
		if key.Str == serverList {
			lists++
		}
		return true
	})
	if lists > 1 {
		return fmt.Errorf("it has %q %d times", serverList, lists)
	}
	return nil
}

// insert puts a member behind the brace that ends at a place, before whatever members there are.
func insert(text []byte, at int, member string) []byte {
	rest := text[at:]
	if next := bytes.TrimLeft(rest, " \t\r\n"); len(next) > 0 && next[0] != '}' {
		member += ","
	}
	return []byte(string(text[:at]) + member + string(rest))
}

// cutServer undoes addServer, byte for byte where nobody wrote in what it wrote; ours is whether our
// server was there, as we know it.
func cutServer(text []byte) (rest []byte, ours bool) {
	body := bytes.TrimPrefix(text, []byte(bom))
	if valid(body) != nil {
		return text, false
	}
	server := gjson.GetBytes(body, serverList+"."+serverName)
	if !isOurs(server) {
		return text, false
	}
	for _, before := range [][]byte{nil, cutMember(text, bytes.IndexByte(text, '{'), serverList)} {
		if again, err := addServer(before); err == nil && bytes.Equal(again, text) {
			return before, true
		}
	}
	return cutMember(text, len(text)-len(body)+gjson.GetBytes(body, serverList).Index, serverName), true
}

// starts reports whether a server, as somebody wrote it, starts git-rekal: by whatever path, or as a command of
// git, which may be told the folder.
func starts(server gjson.Result) bool {
	line := commandLine(server)
	if len(line) > 3 && line[1] == "-C" {
		line = slices.Delete(line, 1, 3)
	}
	if len(line) > 0 {
		line[0] = strings.TrimSuffix(filepath.Base(line[0]), ".exe")
	}
	return slices.Equal(line, []string{serverName, "mcp"}) || slices.Equal(line, []string{"git", "rekal", "mcp"})
}

// isOurs reports whether a server is what addServer writes, however it is spaced.
func isOurs(server gjson.Result) bool {
	return slices.Equal(commandLine(server), []string{serverName, "mcp"}) && len(server.Map()) == 2
}

// commandLine is a server's command with its arguments; nil when it names none.
func commandLine(server gjson.Result) []string {
	var s struct {
		Command string   `json:"command"`
		Args    []string `json:"args"`
	}
	if !server.IsObject() || json.Unmarshal([]byte(server.Raw), &s) != nil || s.Command == "" {
		return nil
	}
	return append([]string{s.Command}, s.Args...)
}

// cutMember takes a member out of the object that begins at a place, with the white space before it and one
// comma.
func cutMember(text []byte, at int, name string) []byte {
	object := gjson.ParseBytes(text[at:])
	from, to, behind := at+1, 0, at+1 // behind: where the member before it ends
	object.ForEach(func(key, value gjson.Result) bool {
		end := at + value.Index + len(value.Raw)
		if key.Str == name {
			from, to = behind, end
			return false
		}
		behind = end
		return true
	})
	if to == 0 {
		return text
	}
	rest := text[to:]
	next := bytes.TrimLeft(rest, " \t\r\n")
	if len(next) > 0 && next[0] == ',' && from == at+1 { // the first of several
		rest = next[1:]
	}
	return []byte(string(text[:from]) + string(rest))
}
