package compress

import "strings"

// cargo knows cargo and rustc.
type cargo struct {
	open  bool // behind an error or warning
	names bool // in the list of failures at the end
}

func (*cargo) looks() looks { return looks{first: "tfew", inner: "CDFRUL"} }

func (c *cargo) waits() bool { return c.open || c.names }

func (c *cargo) line(text string, _ scanned, k *keeper) (kind, bool) {
	bare := strings.TrimLeft(text, " ")
	switch {
	case strings.HasPrefix(text, "test ") && strings.Contains(text, " ... "):
		switch rest := text[strings.LastIndex(text, " ... ")+5:]; {
		case strings.HasPrefix(rest, "FAILED"):
			return failure, true
		case starts(rest, "ok", "ignored", "bench"):
			return noise, true
		}
	case starts(text, "test result: "):
		c.names, k.tests = false, true
		return total, true
	case text == "failures:":
		c.names = true
		return noise, true
	case c.names && strings.HasPrefix(text, "    "):
		return noise, true // named where they failed
	case starts(text, "error[", "error: "):
		c.open = true
		return fault, true
	case starts(text, "warning: ", "warning["):
		c.open = true
		return warning, true
	case starts(text, "   Compiling ", " Downloading ", "  Downloaded ", "    Checking ", "       Fresh ", "     Running ", "   Doc-tests ", "    Updating ", "     Locking ", "       Dirty "):
		return noise, true
	case starts(text, "    Finished "):
		return total, true
	case c.open && text == "":
		c.open = false
		return noise, true
	case c.open && strings.HasPrefix(bare, "--> "):
		return sign, true
	case c.open && (indented(text) || digits(text) > 0 || starts(text, "For more information", "Some errors have")):
		return detail, true
	}
	c.open = c.open && indented(text)
	return plain, false
}
