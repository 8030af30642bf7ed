package compress

import "strings"

// packager knows npm, yarn, pnpm, pip and apt.
type packager struct{}

func (packager) looks() looks {
	return looks{first: "nEdWwPGHIUS(CDRBacruse\xe2f0123456789", inner: "EWDU"}
}

func (packager) waits() bool { return false }

func (packager) line(text string, s scanned, _ *keeper) (kind, bool) {
	switch {
	case text == "":
		return plain, false
	case starts(text, "npm error", "npm ERR!", "E: ", "ERROR: ", "dpkg: error", " ERR_PNPM", " ERROR "):
		return fault, true
	case starts(text, "npm warn", "npm WARN", "W: ", "WARNING: ", " WARN ", "warning "):
		return warning, true
	case starts(text, "npm http", "npm verb", "npm sill", "npm timing", "npm info", "npm notice", "Progress: ", "Get:", "Hit:", "Ign:", "Unpacking ", "Selecting ", "Preparing to ", "(Reading ",
		"Setting up ", "Processing triggers ", "Collecting ", "  Downloading ", "  Using cached ", "Downloading ", "Requirement already ", "Reading package ", "Building dependency ", "Reading state "):
		return noise, true
	case starts(text, "added ", "changed ", "removed ", "up to date", "Successfully installed", "Successfully built", "Successfully uninstalled", "success ", "Done in ", "Packages: "):
		return total, true
	case (text[0] == 'f' || digits(text) > 0) && strings.Contains(text, " vulnerabilit"), digits(text) > 0 && strings.Contains(text, " newly installed, "):
		return total, true
	case strings.HasPrefix(text, "error ") && s.says&saysZero == 0:
		return fault, true
	case strings.HasPrefix(text, "➤ YN"):
		return berry(text), true
	}
	return plain, false
}

// berry is what a line of yarn 2 and later is, by its code (yarnpkg.com/advanced/error-codes).
func berry(text string) kind {
	code, rest, _ := strings.Cut(strings.TrimPrefix(text, "➤ "), ": ")
	switch code {
	case "YN0000":
		if starts(rest, "Done", "Failed") {
			return total
		}
		return noise
	case "YN0002", "YN0060", "YN0061", "YN0086":
		return warning
	case "YN0007", "YN0013", "YN0019", "YN0085":
		return noise
	}
	return fault
}
