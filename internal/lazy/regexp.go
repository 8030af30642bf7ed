// Package lazy compiles regular expressions when they are first used. A process of git-rekal often lives for 20 ms, and
// compiling all expressions took several of them.
package lazy

import (
	"regexp"
	"sync"
)

// Regexp is a regular expression that is compiled at its first use. Several goroutines may use it. Its methods are
// those of regexp.Regexp.
type Regexp struct {
	text string
	once sync.Once
	re   *regexp.Regexp
}

// Expr is the expression that text says. A text that is none panics at the first use, as regexp.MustCompile does. A
// package's variable that it is given to costs nothing at the start: the compiler lays it out.
func Expr(text string) *Regexp { return &Regexp{text: text} }

func (e *Regexp) compiled() *regexp.Regexp {
	e.once.Do(func() { e.re = regexp.MustCompile(e.text) })
	return e.re
}

// FindAllString is that of regexp.Regexp.
func (e *Regexp) FindAllString(s string, n int) []string { return e.compiled().FindAllString(s, n) }

// FindAllStringIndex is that of regexp.Regexp.
func (e *Regexp) FindAllStringIndex(s string, n int) [][]int {
	return e.compiled().FindAllStringIndex(s, n)
}

// FindAllStringSubmatch is that of regexp.Regexp.
func (e *Regexp) FindAllStringSubmatch(s string, n int) [][]string {
	return e.compiled().FindAllStringSubmatch(s, n)
}

// FindAllStringSubmatchIndex is that of regexp.Regexp.
func (e *Regexp) FindAllStringSubmatchIndex(s string, n int) [][]int {
	return e.compiled().FindAllStringSubmatchIndex(s, n)
}

// FindString is that of regexp.Regexp.
func (e *Regexp) FindString(s string) string { return e.compiled().FindString(s) }

// FindStringIndex is that of regexp.Regexp.
func (e *Regexp) FindStringIndex(s string) []int { return e.compiled().FindStringIndex(s) }

// FindStringSubmatch is that of regexp.Regexp.
func (e *Regexp) FindStringSubmatch(s string) []string { return e.compiled().FindStringSubmatch(s) }

// FindStringSubmatchIndex is that of regexp.Regexp.
func (e *Regexp) FindStringSubmatchIndex(s string) []int {
	return e.compiled().FindStringSubmatchIndex(s)
}

// MatchString is that of regexp.Regexp.
func (e *Regexp) MatchString(s string) bool { return e.compiled().MatchString(s) }

// ReplaceAllString is that of regexp.Regexp.
func (e *Regexp) ReplaceAllString(s, by string) string { return e.compiled().ReplaceAllString(s, by) }

// Split is that of regexp.Regexp.
func (e *Regexp) Split(s string, n int) []string { return e.compiled().Split(s, n) }

// String is the expression's text.
func (e *Regexp) String() string { return e.text }

// ReplaceAllStringFunc is that of regexp.Regexp.
func (e *Regexp) ReplaceAllStringFunc(s string, with func(string) string) string {
	return e.compiled().ReplaceAllStringFunc(s, with)
}
