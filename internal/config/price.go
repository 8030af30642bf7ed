package config

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Price is what a million tokens of a model cost, in the user's currency.
type Price struct{ Input, Output, CacheRead, CacheWrite float64 }

// Prices are the user's own, by a glob of models: rekal.price.claude-opus-*.input.
type Prices map[string]Price

// Of is the price of a model: of several globs that fit, that of the longest; 0 for a model without one.
func (p Prices) Of(model string) Price {
	best := ""
	for glob := range p {
		if fits, _ := path.Match(glob, model); fits && (len(glob) > len(best) || len(glob) == len(best) && glob > best) {
			best = glob
		}
	}
	return p[best]
}

// setPrice takes one of rekal.price.MODEL.KIND.
func (p Prices) setPrice(key, value string) (wrong string) {
	dot := strings.LastIndexByte(key, '.')
	if dot < 1 || isBadGlob(key[:dot]) {
		return "is for no model: rekal.price.MODEL.input, where MODEL may be a glob"
	}
	model, kind := key[:dot], key[dot+1:]
	price := p[model]
	of := map[string]*float64{
		"input": &price.Input, "output": &price.Output, "cacheread": &price.CacheRead,
		"cachewrite": &price.CacheWrite,
	}[kind]
	n, err := strconv.ParseFloat(value, 64)
	switch {
	case of == nil:
		return fmt.Sprintf("is for %q, which is none of input, output, cacheRead, cacheWrite", kind)
	case err != nil || !(n >= 0 && n < 1e9):
		return "is no price of a million tokens, such as 15 or 0.3"
	}
	*of = n
	p[model] = price
	return ""
}

// readPrices reads all of them. One that is wrong does not count.
func (c *Config) readPrices(conf map[string]string) {
	for _, key := range slices.Sorted(maps.Keys(conf)) {
		value := conf[key]
		if rest, ok := strings.CutPrefix(key, "rekal.price."); ok {
			if c.Prices == nil {
				c.Prices = Prices{}
			}
			if wrong := c.Prices.setPrice(rest, value); wrong != "" {
				c.Faults = append(c.Faults, &Fault{Key: key, Value: value, What: wrong})
			}
		}
	}
}
