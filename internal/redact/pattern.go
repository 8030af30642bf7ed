package redact

import (
	"regexp"
	"sync"
)

// pattern is a regular expression that is compiled when it is first used. There are eighty, most commands redact nothing, and
// to compile them all took a process that asks for help 4 ms.
type pattern struct{ compiled func() *regexp.Regexp }

func expr(text string) *pattern {
	return &pattern{sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })}
}

func (e *pattern) MatchString(s string) bool      { return e.compiled().MatchString(s) }
func (e *pattern) FindString(s string) string     { return e.compiled().FindString(s) }
func (e *pattern) FindStringIndex(s string) []int { return e.compiled().FindStringIndex(s) }
func (e *pattern) Split(s string, n int) []string { return e.compiled().Split(s, n) }
func (e *pattern) ReplaceAllString(s, by string) string {
	return e.compiled().ReplaceAllString(s, by)
}

func (e *pattern) FindStringSubmatchIndex(s string) []int {
	return e.compiled().FindStringSubmatchIndex(s)
}

func (e *pattern) FindAllStringIndex(s string, n int) [][]int {
	return e.compiled().FindAllStringIndex(s, n)
}

func (e *pattern) FindAllStringSubmatch(s string, n int) [][]string {
	return e.compiled().FindAllStringSubmatch(s, n)
}

func (e *pattern) FindAllStringSubmatchIndex(s string, n int) [][]int {
	return e.compiled().FindAllStringSubmatchIndex(s, n)
}
