// Package templates carries texts for others to read: the skill that tells a coding agent when and how to recall, the README of a ledger
// branch, and the shells' completion scripts.
//
// In: nothing. Out: the texts, and the sums of skills that earlier releases installed, so that setup can tell them from a person's own file.
// The texts name only what this release has. The package never touches a disk.
package templates

import "embed"

//go:embed SKILL.md
var skill string

//go:embed ledger-README.md
var ledgerReadme string

//go:embed all:completion
var completion embed.FS

// Completion is the completion script of a shell: bash, zsh or fish. Of another one it is "".
func Completion(shell string) string {
	raw, _ := completion.ReadFile("completion/" + map[string]string{"bash": "git-rekal.bash", "zsh": "_git-rekal", "fish": "git-rekal.fish"}[shell])
	return string(raw)
}

// Skill is the text of .claude/skills/rekal/SKILL.md.
func Skill() string { return skill }

// FormerSkills are the hex SHA-256 sums of every skill that main had before, the latest first.
// Whoever changes the skill adds the sum of the old text here: otherwise what was installed
// would be taken for a file that its user edited, and never updated. A test tells the sum.
func FormerSkills() []string {
	return []string{
		"b8a3ae8982063405a0eb3ece33eec84fb45edbfc644214489bcb7f2059b9e21a",
		"bbae5102925ec56d015eb61685ee4a17f3bcbd9b705f26621f10d77f307ea60a",
		"c041b0fb94e2e72c6e6a893e9c947d1bfd3cc441760cccb90b2d605e45a3ef9e",
		"ee213df914c7c84da6236d3e0520385678b5e373234e34f9399922e68d06e45a",
		"985784da2cf0dacff4f3720eb3c1b96a09a7e38cb195a99c69f173827dd83d2e",
		"1fd275177cec2bfbdbb89171b04df0ca6d7c4401ffc9a6447cc5b46b3900e130",
		"18037835cc992ccab4d71cce1f63d20cdc4cba6c8e67721293e643c9bb9e0ae9",
		"78ce23f3b7a203bb57790b9db398352e8a8a8f0c948b6f2f8425afceed43a14a",
		"934bfb5c72aabe51c950adc529faaadb1d80190038431c17f2fd78533c354bc4",
		"eba182cd399a5b72b3545d0b42fb9d4b693381a7887ea758053d7cd28988cbca",
		"7f5b88dc479fc0fd203c39066d2b9f76fb948efcb86949dfc20ee25e891f5de9",
		"142cee37ef78263e2fd8f12f01c0186974337f5bb50fb62018f4a67c1f38c5c1",
		"83a11574ec2f6e013c13f16046acfaf91f290bfdd32e78bce7080741f541b48e",
		"006e076626fbd13a770b0ffdb79450ec5f75173da7b1a49d82bc482f5a6c9e14",
		"aef9fa9c243e981732408c9a20dc1ee7abb2f59cbdb1582078ac134a050b48e3",
		"8609e0aeb90290269e0a7e7da234a3214157a30834799f9e685303e3fb975291",
		"32018c097f895f3b9f4083d57771bdcf6a4c04a04e4b6538bd2bc5d1ecd4f27a",
		"b321f69a276b5ec029cc6fe08f3c15179a30e1d9fdf4dd0a386cf16f6d9ccd9d",
		"c1bb15f10fa78a9a285451b338806e1ca2f21d9a341f8c2037067dd1b3afe2bb",
		"33fe819afdae5679d15b2c753e364563821d5acf585ea20e791e85a809d1ce11",
		"0e9e7d55c0d74a5c9cb7158993b284544475dc8d4b6c156cc96dd73765cb63d3",
		"ea90470aac9b7ad3699f90e03da08a4edfef41f06d3fd1b811e8e358e87b4cf7",
		"ffb6cd014c7f1c172b1e67717023230da546bb5cea5ab930e42831566cc36aea",
		"c8b40f735886979124174f09c6e010b907e4a7281be938c429528ff9a04dbf97",
		"19a2621990a35966282282c0fae243e236b7ca5adbdae0e54109e23553d141fd",
		"87f1d7d15260a0965d888c4bcf250870ab6f225913e388ebd222c95eb7588311",
		"c6a41f3158c188db937777685f39319d00cda5b8d60e282a495e58171dc4955e",
		"54df1af683f2322b1acb00da3a76ab4f1b9a427b369760e9aadb2bfbe00af32c",
		"c56201184c768040c1a2a00ed8608bcf52cd6fe58a653573d45ce87ffc31a0f3",
		"813a44159cb01ccacbff17e323f15e5cc29a5606351ca01b0902b1c86b3d044a",
		"3007e73eb40e36d31bfefa6a0af676c7465317a805af65d9afbc993f9f2d62bb",
	}
}

// LedgerReadme is the text of README.md on a ledger branch.
func LedgerReadme() string { return ledgerReadme }
