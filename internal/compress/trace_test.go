package compress_test

import (
	"strings"
	"testing"

	"github.com/git-rekal/git-rekal/internal/compress"
)

// TestPythonFrames: a trace keeps the reader's own frames and the last one; others of Python and of packages go.
func TestPythonFrames(t *testing.T) {
	library := func(file string) string {
		return "  File \"" + file + "\", line 9, in run\n    run(again)\n    ^^^^^^^^^^\n"
	}
	own := func(file string) string {
		return "  File \"" + file + "\", line 3, in load\n    load(" + file + ")\n"
	}
	text := strings.Repeat("progress\n", 30) + "Traceback (most recent call last):\n" +
		library("<frozen runpy>") + library("/opt/py/lib/python3.12/unittest/__main__.py") +
		own("/work/shop/tests/test_cart.py") +
		library("/work/shop/.venv/lib/python3.12/site-packages/orm/session.py") +
		own("cart.py") + own("/work/shop/price.py") +
		library("/usr/lib/python3/json/__init__.py") + library("/usr/lib/python3/json/decoder.py") +
		"ValueError: no price\n" + strings.Repeat("progress\n", 30)
	got := compress.Text(text, compress.Options{}).Text
	for _, want := range []string{"test_cart.py\"", "cart.py\"", "price.py\"", "json/decoder.py\"", "no price"} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is not kept", want)
		}
	}
	for _, folded := range []string{"runpy", "__main__", "site-packages", "__init__"} {
		if strings.Contains(got, folded) {
			t.Errorf("%s is kept", folded)
		}
	}
	if t.Failed() {
		t.Log(got)
	}
}

// TestPythonTraces: each of several traces keeps its own frames, also where the output begins with one.
func TestPythonTraces(t *testing.T) {
	var text strings.Builder
	for _, name := range []string{"cart", "price", "stock"} {
		text.WriteString("Traceback (most recent call last):\n" +
			"  File \"<frozen runpy>\", line 198, in _run_module_as_main\n" +
			"  File \"/work/shop/" + name + ".py\", line 3, in load\n    load()\n" +
			"  File \"/usr/lib/python3.12/json/decoder.py\", line 9, in run\n    run(again)\n" +
			"ValueError: no " + name + "\n\n" + strings.Repeat("progress\n", 30))
	}
	got := compress.Text(text.String(), compress.Options{}).Text
	for _, want := range []string{"/cart.py\"", "/price.py\"", "/stock.py\"", "ValueError: no stock"} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is not kept:\n%s", want, got)
		}
	}
	if strings.Contains(got, "runpy") {
		t.Errorf("runpy is kept:\n%s", got)
	}
}
