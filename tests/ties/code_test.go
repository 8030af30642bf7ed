package ties

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
)

// tongue is a language in which files are written: its templates, with a word for each $name, the same for the
// same name. Many of the lines repeat, in a file and from file to file, as those of real code do.
type tongue struct {
	ext        string
	indent     string
	head       []string
	functions  []string
	statements []string
}

var tongues = []tongue{
	{
		ext: ".go", indent: "\t",
		head: []string{"package $n1", "", "import (", "\t\"context\"", "\t\"errors\"", "\t\"fmt\"", ")", ""},
		functions: []string{
			"// $V1$N1 will $v1 the $n1 of a $n2.\nfunc (s *Store) $V1$N1(ctx context.Context, id string) (*$N2, error) {\n@\treturn $n2, nil\n}\n",
			"func $v1$N1($n1 *$N1, $n2 int) error {\n\tif $n1 == nil {\n\t\treturn errNo$N1\n\t}\n@\treturn nil\n}\n",
			"type $N1$N2 struct {\n\t$n1 string\n\t$n2 int\n\tmu  sync.Mutex\n}\n",
		},
		statements: []string{
			"$n1, err := s.$v1$N1(ctx, id)\nif err != nil {\n\treturn nil, err\n}",
			"for _, $n1 := range $n2.$N3s {\n\t$n3 = append($n3, $n1.$V1($n2, $n3))\n}",
			"s.mu.Lock()\ndefer s.mu.Unlock()",
			"if $n1.$N2 > max$N3 {\n\treturn nil, fmt.Errorf(\"$v1 %s: too many $n2s\", $n1.Name)\n}",
			"// A $n1 may be $v1ed before its $n2 is there, so $v2 the $n3 again.\n$n1.$V2($n3)",
			"$n1 := make(map[string]*$N2, len($n3))",
			"log.Printf(\"$v1 $n1 of %s: %v\", $n2.ID, err)",
		},
	},
	{
		ext: ".py", indent: "    ",
		head: []string{
			"import json", "import logging", "from typing import Optional", "",
			"log = logging.getLogger(__name__)", "",
		},
		functions: []string{
			"def $v1_$n1(self, $n1: str, $n2: Optional[int] = None) -> dict:\n    \"\"\"$V1 the $n1 of the $n2.\"\"\"\n@    return $n1\n\n",
			"class $N1$N2:\n    def __init__(self, $n1, $n2):\n        self.$n1 = $n1\n        self.$n2 = $n2\n\n",
		},
		statements: []string{
			"if $n1 is None:\n    return None",
			"try:\n    $n1 = self.$v1_$n2($n3)\nexcept KeyError:\n    log.warning(\"no $n2 to $v1\")\n    return None",
			"for $n1 in self.$n2s:\n    $n3.append($n1.$v1($n2=$n1.$n3))",
			"$n1 = json.loads($n2.$v1(\"$n3\"))",
			"self.$n1[$n2] = $v1_$n3($n1, $n2)",
			"# The $n1 comes late: $v1 it with the next $n2.",
		},
	},
	{
		ext: ".js", indent: "  ",
		head: []string{"'use strict'", "", "const fs = require('fs')", "const path = require('path')", ""},
		functions: []string{
			"async function $v1$N1 ($n1, $n2) {\n@  return $n1\n}\n",
			"exports.$v1$N1 = ($n1) => {\n  if (!$n1) {\n    return null\n  }\n@  return $n1.$n2\n}\n",
		},
		statements: []string{
			"if (!$n1) {\n  return null\n}",
			"const $n1 = await $v1$N2($n3, { $n1: true })",
			"for (const $n1 of $n2.$n3s) {\n  $n3.push($v1$N1($n1, $n2))\n}",
			"$n1.on('$n2', ($n3) => {\n  $v1($n3, $n1.$n2)\n})",
			"// $V1 no $n1 before the $n2 was $v2ed.",
			"console.error('$v1 $n1:', err)",
		},
	},
}

var (
	nouns = strings.Fields(`token queue session cache order user invoice cart route header cookie ledger batch worker
		policy tenant schema bucket cursor event stream buffer index lease quota`)
	verbs = strings.Fields("load store check parse merge fetch flush drain renew split apply reset count clean open close")
)

// fill gives each name in a template its word: a noun for $n1, a capital one for $N1, a verb for $v1.
func fill(rng *rand.Rand, template string) []string {
	words := map[string]string{}
	return strings.Split(os.Expand(template, func(name string) string {
		key, capital := strings.ToLower(name[:2]), name[0] < 'a'
		if words[key] == "" {
			from := nouns
			if key[0] == 'v' {
				from = verbs
			}
			words[key] = from[rng.IntN(len(from))]
		}
		word := words[key]
		if capital {
			word = strings.ToUpper(word[:1]) + word[1:]
		}
		return word + name[2:]
	}), "\n")
}

// statement is a few lines of a function's body.
func (t tongue) statement(rng *rand.Rand) []string {
	return fill(rng, t.statements[rng.IntN(len(t.statements))])
}

// indented puts lines so many levels deeper.
func (t tongue) indented(lines []string, levels int) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		if l = strings.ReplaceAll(l, "\t", t.indent); l != "" {
			l = strings.Repeat(t.indent, levels) + l
		}
		out[i] = l
	}
	return out
}

// function is a whole one, with an empty line behind it.
func (t tongue) function(rng *rand.Rand) []string {
	before, after, ok := strings.Cut(t.functions[rng.IntN(len(t.functions))], "@")
	if !ok {
		return fill(rng, before)
	}
	whole := fill(rng, before+"@\n"+after)
	var out []string
	for _, l := range whole {
		if l != "@" {
			out = append(out, l)
			continue
		}
		for range 1 + rng.IntN(4) {
			out = append(out, t.indented(t.statement(rng), 1)...)
		}
	}
	return out
}

// beginning is a file as somebody starts it.
func (t tongue) beginning(rng *rand.Rand, functions int) []string {
	out := fill(rng, strings.Join(t.head, "\n"))
	for range functions {
		out = append(out, t.function(rng)...)
	}
	return out
}

// tongueOf is the language of a file.
func tongueOf(path string) tongue {
	for _, t := range tongues {
		if strings.HasSuffix(path, t.ext) {
			return t
		}
	}
	panic(fmt.Sprintf("no language for %s", path))
}
