package result

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// People are those whose names or addresses are known, to show who somebody is. Everybody gives himself name and
// address, so what may be taken for somebody else's is marked. The zero value knows nobody.
type People struct {
	names map[string]string   // by their addresses in lower case
	named map[string]int      // how many people have a name
	like  map[string][]string // addresses by what they look like
}

// NewPeople are people with their names ("" for none) by their addresses in lower case. proper tells which addresses
// are one person's; of others an address is a person.
func NewPeople(names, proper map[string]string) People {
	p := People{names: names, named: map[string]int{}, like: map[string][]string{}}
	counted := map[[2]string]bool{}
	for _, address := range slices.Sorted(maps.Keys(names)) {
		person := cmp.Or(proper[address], address)
		if one := [2]string{names[address], person}; !counted[one] {
			counted[one] = true
			p.named[names[address]]++
		}
		p.like[lookalikeForm(person)] = append(p.like[lookalikeForm(person)], person)
	}
	return p
}

// Name is the name of the person with an address. The address follows if several people have the name, or if the
// address is marked as doubtful. Without a name it is the address alone.
func (p People) Name(address string) string {
	name := p.names[strings.ToLower(address)]
	if mark := p.whyDoubtful(address); name == "" || mark != "" || p.named[name] > 1 {
		return p.NameAndAddress(address)
	}
	return name
}

// NameAndAddress is the name and the address, as git writes them.
func (p People) NameAndAddress(address string) string {
	mark := p.whyDoubtful(address)
	if name := p.names[strings.ToLower(address)]; name != "" {
		return name + " <" + address + ">" + mark
	}
	return address + mark
}

// whyDoubtful says why an address may not be whose it seems.
func (p People) whyDoubtful(address string) string {
	if strings.ContainsFunc(address, func(r rune) bool { return r >= utf8.RuneSelf }) {
		return " [not ASCII]"
	}
	address = strings.ToLower(address)
	for _, other := range p.like[lookalikeForm(address)] {
		if other != address {
			return " [looks like " + other + "]"
		}
	}
	return ""
}

// lookalikeForm is equal for addresses that look alike: "rn" becomes "m", "0" becomes "o".
func lookalikeForm(address string) string {
	return strings.NewReplacer("rn", "m", "vv", "w", "0", "o", "1", "l", "i", "l").Replace(strings.ToLower(address))
}
