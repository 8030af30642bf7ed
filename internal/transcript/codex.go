package transcript

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/zstd"
	"github.com/tidwall/gjson"

	"github.com/git-rekal/git-rekal/internal/lazy"
	"github.com/git-rekal/git-rekal/internal/session"
)

// Codex reads the rollouts of OpenAI's Codex (CLI, desktop application, editors), versions 0.20 to 0.171:
//
//	<home>/sessions/YYYY/MM/DD/rollout-<local time>-<session ID>.jsonl
//	<home>/archived_sessions/rollout-<local time>-<session ID>.jsonl
//
// where <home> is ${CODEX_HOME:-~/.codex}, and an older rollout may be compressed in place (….jsonl.zst).
type Codex struct{}

// Name is the source of the sessions.
func (Codex) Name() string { return "codex" }

// Locate lists the rollouts whose first record names a folder of the repository.
func (Codex) Locate(ctx context.Context, env Env) (Found, error) {
	home := env.homeFolder("CODEX_HOME", ".codex")
	return folderLayout{file: codexFile, made: codexFolder}.locate(ctx, newFinder(env, Codex{}, codexTools),
		filepath.Join(home, "sessions"), filepath.Join(home, "archived_sessions"))
}

var codexName = lazy.Expr(`^rollout-.*?([0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})\.jsonl(\.zst)?$`)

// codexFile is the rollout of a name; of a compressed one that lies there plain, too, the plain one counts.
func codexFile(dir, entry string) File {
	m := codexName.FindStringSubmatch(entry)
	if m == nil {
		return File{}
	}
	f := File{Path: filepath.Join(dir, entry), NativeID: m[1], ReadWhole: m[2] != ""}
	if f.ReadWhole {
		if _, err := os.Lstat(strings.TrimSuffix(f.Path, m[2])); err == nil {
			return File{}
		}
	}
	return f
}

// codexFolder is the working folder that one of the first records names. Before 0.44 it stood in a text.
func codexFolder(head []byte) string {
	if cwd := gjson.GetBytes(head, "payload.cwd"); cwd.Type == gjson.String {
		return validText(cwd.Str)
	}
	if gjson.GetBytes(head, "type").Str == "message" {
		return session.ElementText(joinTexts(gjson.GetBytes(head, "content")), "cwd")
	}
	return ""
}

// Open gives a compressed rollout as it was.
func (Codex) Open(_ context.Context, opt Options) (io.ReadCloser, error) {
	return OpenUncompressed(opt.File.Path)
}

// OpenUncompressed opens a file; a compressed one as it was.
func OpenUncompressed(path string) (io.ReadCloser, error) {
	file, err := os.Open(path)
	if err != nil || !strings.HasSuffix(path, ".zst") {
		return file, err
	}
	plain, err := zstd.NewReader(file, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxWindow))
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return &zipped{io.LimitReader(plain, maxUnpacked), plain, file}, nil
}

// maxUnpacked bounds what is read of a compressed rollout, in bytes: a few KB may unpack to anything.
const maxUnpacked = 1 << 30

// maxWindow bounds what unpacking holds at once, in bytes; the highest level of zstd without --long uses 128 MiB.
const maxWindow = 128 << 20

// zipped is a compressed file that is read as it was.
type zipped struct {
	io.Reader
	plain *zstd.Decoder
	file  io.Closer
}

func (z *zipped) Close() error {
	z.plain.Close()
	return z.file.Close()
}

func (Codex) recognises(rec gjson.Result) (File, bool) {
	meta := rec.Get("payload")
	if !meta.Exists() && !rec.Get("type").Exists() && rec.Get("instructions").Exists() { // before 0.44
		meta = rec
	} else if rec.Get("type").Str != "session_meta" {
		return File{}, false
	}
	id := ledgerNameOf(meta.Get("id"))
	return File{NativeID: id}, id != ""
}
