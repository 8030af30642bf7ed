#!/bin/sh
# Prints gitleaks' own test vectors, a JSON object a line. Its rule generator makes them, hands them to a
# validator and drops them; here it runs with a validator that writes them down. Most are drawn at random, one
# secret for all texts of a rule: of twelve draws two were below 99 of 100, 99.4 on average, so five are
# made. The generator is built with our versions of its modules, so that at most one is downloaded (reggen).
# TestLongVectorsOfTheLibrary in internal/redact runs this.
set -eu
cd "$(dirname "$0")/.."
library=github.com/zricethezav/gitleaks/v8
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r "$(go list -m -f '{{.Dir}}' $library)" "$work/gitleaks"
chmod -R u+w "$work/gitleaks"
cat >"$work/gitleaks/cmd/generate/config/utils/validate.go" <<'GO'
package utils

import (
	"encoding/json"
	"os"

	"github.com/zricethezav/gitleaks/v8/cmd/generate/config/base"
	"github.com/zricethezav/gitleaks/v8/config"
	"github.com/zricethezav/gitleaks/v8/detect"
)

func Validate(rule config.Rule, positive, negative []string) *config.Rule {
	for _, text := range positive {
		note(rule, "", text, true)
	}
	for _, text := range negative {
		note(rule, "", text, false)
	}
	return &rule
}

func ValidateWithPaths(rule config.Rule, positive, negative map[string]string) *config.Rule {
	for path, text := range positive {
		note(rule, path, text, true)
	}
	return &rule
}

func note(r config.Rule, path, text string, positive bool) {
	cfg := base.CreateGlobalConfig()
	cfg.Rules = map[string]config.Rule{r.RuleID: r}
	cfg.Keywords = map[string]struct{}{}
	for _, k := range r.Keywords {
		cfg.Keywords[k] = struct{}{}
	}
	for _, a := range cfg.Allowlists {
		if err := a.Validate(); err != nil {
			panic(err)
		}
	}
	var secrets []string
	for _, f := range detect.NewDetector(cfg).Detect(detect.Fragment{Raw: text, FilePath: path}) {
		secrets = append(secrets, f.Secret)
	}
	err := json.NewEncoder(os.Stdout).Encode(map[string]any{
		"rule": r.RuleID, "path": path, "text": text, "positive": positive, "secrets": secrets,
	})
	if err != nil {
		panic(err)
	}
}
GO
cp go.mod go.sum "$work"
go mod edit -replace="$library=$work/gitleaks" "$work/go.mod"
go build -mod=mod -modfile="$work/go.mod" -o "$work/generate" $library/cmd/generate/config
mkdir "$work/rules"
: >"$work/rules/config.tmpl"
cd "$work"
for draw in 1 2 3 4 5; do
	./generate rules.toml
done
