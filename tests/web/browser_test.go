package web_test

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
)

// browser is a real Chromium without a window. It is spoken to over a pipe, in the protocol of its developer tools: a
// JSON object a message, with a zero byte behind it (https://chromedevtools.github.io/devtools-protocol).
type browser struct {
	t       testing.TB
	in      *os.File
	mu      sync.Mutex
	last    int
	waiting map[int]chan reply
	heard   []func(session, method string, params json.RawMessage)
}

type reply struct {
	Result json.RawMessage
	Error  *struct{ Message string }
}

// chromium starts the one that CHROMIUM names, or skips the test.
func chromium(t testing.TB) *browser {
	t.Helper()
	path := os.Getenv("CHROMIUM")
	if path == "" {
		t.Skip("SKIPPED: nothing is looked at in a browser: make web-check does that, with CHROMIUM")
	}
	toIn, in, err1 := os.Pipe()
	out, fromOut, err2 := os.Pipe()
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, path, "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run",
		"--disable-background-networking", "--disable-component-update",
		"--disable-sync", "--disable-default-apps", "--hide-scrollbars", "--force-device-scale-factor=1",
		"--remote-debugging-pipe", "--user-data-dir="+t.TempDir(), "about:blank")
	cmd.ExtraFiles = []*os.File{toIn, fromOut} // 3 and 4
	cmd.WaitDelay = 5 * time.Second
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	b := &browser{t: t, in: in, waiting: map[int]chan reply{}}
	_, _ = toIn.Close(), fromOut.Close()
	go b.listen(out)
	t.Cleanup(func() {
		_, _ = b.try("", "Browser.close", nil)
		late := time.AfterFunc(10*time.Second, end) // its processes write into their folder until it ends by itself
		_ = cmd.Wait()
		late.Stop()
		end()
	})
	return b
}

func (b *browser) listen(out *os.File) {
	r := bufio.NewReader(out)
	for {
		text, err := r.ReadBytes(0)
		if err != nil {
			return
		}
		var m struct {
			reply
			ID        int
			Method    string
			SessionID string
			Params    json.RawMessage
		}
		if json.Unmarshal(text[:len(text)-1], &m) != nil {
			continue
		}
		b.mu.Lock()
		waits, heard := b.waiting[m.ID], b.heard
		delete(b.waiting, m.ID)
		b.mu.Unlock()
		if waits != nil {
			waits <- m.reply
			continue
		}
		for _, hear := range heard {
			hear(m.SessionID, m.Method, m.Params)
		}
	}
}

// try calls a method of a tab, or of the browser.
func (b *browser) try(session, method string, params any) (json.RawMessage, error) {
	b.mu.Lock()
	b.last++
	m := map[string]any{"id": b.last, "method": method}
	if params != nil {
		m["params"] = params
	}
	if session != "" {
		m["sessionId"] = session
	}
	answer := make(chan reply, 1)
	b.waiting[b.last] = answer
	text, err := json.Marshal(m)
	if err == nil {
		_, err = b.in.Write(append(text, 0))
	}
	b.mu.Unlock()
	if err != nil {
		return nil, err
	}
	select {
	case r := <-answer:
		if r.Error != nil {
			return nil, fmt.Errorf("%s: %s", method, r.Error.Message)
		}
		return r.Result, nil
	case <-time.After(30 * time.Second):
		return nil, fmt.Errorf("%s: no answer in 30 s", method)
	}
}

// tab is a page of the browser, in a profile of its own.
type tab struct {
	*browser
	session string

	mu       sync.Mutex
	requests []string // addresses, in order
	problems []string // errors of scripts, and what the policy of a page stopped
	loaded   chan struct{}
}

func (b *browser) tab() *tab {
	b.t.Helper()
	var context struct{ BrowserContextID string }
	var target struct{ TargetID string }
	var attached struct{ SessionID string }
	t := &tab{browser: b, loaded: make(chan struct{}, 100)}
	b.call("", "Target.createBrowserContext", nil, &context)
	b.call("", "Target.createTarget", map[string]any{"url": "about:blank", "browserContextId": context.BrowserContextID},
		&target)
	b.call("", "Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
	t.session = attached.SessionID
	b.mu.Lock()
	b.heard = append(b.heard, t.hear)
	b.mu.Unlock()
	for _, domain := range []string{"Page.enable", "Network.enable", "Runtime.enable", "Log.enable"} {
		t.do(domain, nil, nil)
	}
	return t
}

func (b *browser) call(session, method string, params, out any) {
	b.t.Helper()
	text, err := b.try(session, method, params)
	if err == nil && out != nil {
		err = json.Unmarshal(text, out)
	}
	if err != nil {
		b.t.Fatal(err)
	}
}

func (t *tab) do(method string, params, out any) {
	t.t.Helper()
	t.call(t.session, method, params, out)
}

func (t *tab) hear(session, method string, params json.RawMessage) {
	if session != t.session {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	switch method {
	case "Page.loadEventFired":
		t.loaded <- struct{}{}
	case "Network.requestWillBeSent":
		var p struct{ Request struct{ URL string } }
		_ = json.Unmarshal(params, &p)
		t.requests = append(t.requests, p.Request.URL)
	case "Runtime.exceptionThrown", "Log.entryAdded":
		if text := string(params); !strings.Contains(text, `"source":"network"`) &&
			!strings.Contains(text, `"level":"info"`) {
			t.problems = append(t.problems, string(params))
		}
	}
}

// open goes to an address, and waits until it is loaded.
func (t *tab) open(address string) {
	t.t.Helper()
	for len(t.loaded) > 0 {
		<-t.loaded
	}
	t.do("Page.navigate", map[string]any{"url": address}, nil)
	t.wait()
}

func (t *tab) wait() {
	t.t.Helper()
	select {
	case <-t.loaded:
	case <-time.After(20 * time.Second):
		t.t.Fatal("a page does not load")
	}
}

// eval runs an expression in the page; a promise is waited for.
func (t *tab) eval(expression string, out any) {
	t.t.Helper()
	var r struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails json.RawMessage
	}
	t.do("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true, "awaitPromise": true}, &r)
	if r.ExceptionDetails != nil {
		t.t.Fatalf("%.200s: %s", expression, r.ExceptionDetails)
	}
	if out != nil {
		if err := json.Unmarshal(r.Result.Value, out); err != nil {
			t.t.Fatalf("%.200s: %s: %v", expression, r.Result.Value, err)
		}
	}
}

// until waits until an expression is true.
func (t *tab) until(expression string) {
	t.t.Helper()
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		ok := false
		if t.eval(expression, &ok); ok {
			return
		}
	}
	var text string
	t.eval("document.body.innerText", &text)
	t.t.Fatalf("never: %s\n%.2000s", expression, text)
}

// keys presses keys as a keyboard does: names of keys, or "=text" to type.
func (t *tab) keys(keys ...string) {
	t.t.Helper()
	codes := map[string]int{"Tab": 9, "Enter": 13, "ArrowDown": 40, "ArrowUp": 38, "Escape": 27, " ": 32}
	for _, key := range keys {
		if text, ok := strings.CutPrefix(key, "="); ok {
			for _, r := range text {
				t.do("Input.dispatchKeyEvent", map[string]any{"type": "char", "text": string(r)}, nil)
			}
			continue
		}
		modifiers := 0
		name, ctrl := strings.CutPrefix(key, "Ctrl+")
		if ctrl {
			modifiers = 2
		}
		name, shift := strings.CutPrefix(name, "Shift+")
		if shift {
			modifiers += 8
		}
		event := map[string]any{
			"type": "rawKeyDown", "key": name, "modifiers": modifiers,
			"windowsVirtualKeyCode": codes[name], "code": name,
		}
		if name == "Enter" || name == " " {
			event["type"], event["text"] = "keyDown", map[string]string{"Enter": "\r", " ": " "}[name]
		}
		t.do("Input.dispatchKeyEvent", event, nil)
		event["type"] = "keyUp"
		delete(event, "text")
		t.do("Input.dispatchKeyEvent", event, nil)
	}
}

// looks changes how wide the page is, in CSS pixels, and whether it is dark.
func (t *tab) looks(width, height int, dark bool) {
	t.t.Helper()
	scheme := "light"
	if dark {
		scheme = "dark"
	}
	t.do("Emulation.setDeviceMetricsOverride", map[string]any{
		"width": width, "height": height, "deviceScaleFactor": 1,
		"mobile": false,
	}, nil)
	t.do("Emulation.setEmulatedMedia", map[string]any{"features": []any{
		map[string]any{"name": "prefers-color-scheme", "value": scheme},
		map[string]any{"name": "prefers-reduced-motion", "value": "reduce"},
	}}, nil)
}

// screenshot is a PNG of what is seen.
func (t *tab) screenshot() []byte {
	t.t.Helper()
	var shot struct{ Data string }
	t.do("Page.captureScreenshot", map[string]any{"format": "png"}, &shot)
	png, err := base64.StdEncoding.DecodeString(shot.Data)
	if err != nil {
		t.t.Fatal(err)
	}
	return png
}
