package compress

import "strings"

// packager knows npm, yarn, pnpm, pip and apt.
type packager struct{}

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
	case strings.HasPrefix(text, "error ") && s.says&saysZero == 0, strings.HasPrefix(text, "➤ YN") && strings.Contains(text, "Error"):
		return fault, true
	case strings.HasPrefix(text, "➤ YN0013"), strings.HasPrefix(text, "➤ YN0019"):
		return noise, true
	}
	return plain, false
}
