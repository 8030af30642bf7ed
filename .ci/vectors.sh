#!/bin/sh
# gitleaks' own test vectors against internal/redact. They are made by its rule generator, which
# hands them to a validator and drops them; here the generator runs with a validator that writes
# them down. Most are drawn at random, so each run has others. `make vectors` runs it; it may
# download two modules, and is no part of `make test`.
set -eu
cd "$(dirname "$0")/.."
module=$(go list -m -f '{{.Dir}}' github.com/zricethezav/gitleaks/v8)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r "$module" "$work/gitleaks"
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
mkdir "$work/gitleaks/rules"
: >"$work/gitleaks/rules/config.tmpl"
(cd "$work/gitleaks" && GOFLAGS=-mod=mod go run ./cmd/generate/config "$work/rules.toml" >"$work/vectors.jsonl")
[ -z "${KEEP-}" ] || cp "$work/vectors.jsonl" "$KEEP"
REKAL_VECTORS=$work/vectors.jsonl go test -count=1 -v -run TestVectorsOfTheLibrary ./internal/redact
