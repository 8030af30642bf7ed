// The tools that make packages, kept apart so that nobody else downloads them. Run one with: go tool -modfile=.ci/dist.mod NAME
module github.com/git-rekal/git-rekal/dist

go 1.26.0
