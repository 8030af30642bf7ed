package failure

import (
	"strings"
	"sync"
)

// vocabulary is the words of which terms of a message are made: those of compilers, linters, tests, shells, git and
// package managers. Any other word of a message is left out, so that what somebody's program said never leaves the
// machine.
//
//nolint:gochecknoglobals // a table that is read once
var vocabulary = sync.OnceValue(func() map[string]bool {
	out := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		out[w] = true
	}
	return out
})

// vague are words that alone say nothing of what went wrong.
//
//nolint:gochecknoglobals // a table that is read once
var vague = sync.OnceValue(func() map[string]bool {
	out := map[string]bool{}
	for w := range strings.FieldsSeq(vagueWords) {
		out[w] = true
	}
	return out
})

const vagueWords = `a an and are as at be but by did does error errors exit exited fail failed failing failure failures fatal for from has have in is it
	line no not of on or status task test tests than that the there this to was were with within you your found run running result file files`

const words = vagueWords + ` abort aborted absolute abstract accept accepted access address after against alias allocate allocation allowed already ambiguous
	applied apply argument arguments array assert assertion assign assignable assigned assignment async attempt attribute authentication auto automatic
	await bad base because before binary blank block boolean borrow borrowed both bound bounds branch branches break broken buffer build bus byte bytes
	cache call called caller calls can cannot capacity case cases cast catch certificate changed changes char character check checked checking checkout
	child circular class clean cleanup client clone close closed code column command commit committed compare comparison compatible compile compiled
	compiler component config configuration conflict conflicts connect connection constant constraint construct constructor contain contains content
	context conversion convert copy core correct corrupt could count crash crashed create created credentials cycle cycles cyclic cyclomatic cognitive
	complexity daemon data database date deadlock declaration declared deduce default define defined definition delete deleted denied dependencies
	dependency deprecated depth dereference descriptor destination detached detected device diff different digest directory dirty disabled disk diverged
	division docker does dumped duplicate duplicated duplicates dynamic early empty enabled encode encoding end engine enough ensure entity entry enum
	environment escape exceeded exceeds except exception exec executable execute executing execution exhausted exist existing exists expect expected
	expecting expired explicit exported exports expression external fast fatal fetch field fields filename find fixture fixtures flag flags float folder
	forbidden force forced fork format formatted formatting forward function functions future generic get git given global go goroutine got grammar
	group handle handler hash head header heap help hint hook hooks host hung identifier identity ignored illegal implement implementation implemented
	implements implicit implicitly import imported importing imports inaccessible incompatible incomplete inconsistent incorrect indent indentation index
	infinite initialize initialized inner input insert inside install installed instance int integer interface internal interpreter interrupt interrupted
	invalid invocation is isn't issue issues iterable iterator job join json key keyword killed kind label language large leak left length level library
	lifetime limit lint linter linting literal load loaded loading local lock locked locking login long loop lost main malformed manifest manifest map
	mark match matched matches matching maximum may member members memory merge merged merging message metadata method methods mismatch missing mixed
	mock modified module modules more most move moved multiple must mutable mutex name named names namespace negative network never new nil node none
	null number numeric object objects occurrences occurrence old one only open operand operation operator option optional options order original
	other out output outside overflow overlaps override overwritten owned owner package packages panic parallel parameter parameters parent parse parsed
	parser parsing part passed password patch path paths pattern pending permanently permission permissions permitted persistent pipe plugin pointer
	pool port possible possibly prefix present print private process processing program project promise promises property protected protocol provided
	public pull push pushed query queue quota race range rate raw reach reachable read readable readonly receive received receiver record recursion
	recursive redeclared reference referenced references refused refusing register registered registry reject rejected rejection relation relative release
	remote removed rename repeated replace repository request requested require required requirement requirements requires reset resolve resolved resource
	response restrict retry return returned returning returns revert revision rewrite root row rule runtime safe schema scope script search second secret
	section see segment segmentation select self semicolon send separate sequence server service session set shadow shadows shared shell short should
	shutdown side signal signature single size skip skipped slice snapshot socket some source space spawn specified specifier split stack stale standard
	start started starting state statement static still stop stopped storage stream strict string strings struct structure style submodule such suffix
	suite super support supported symbol symbolic symlink sync syntax system tab table tag tags target template temporary terminal terminated their
	thread threads thrown throws time timed timeout timeouts title token tokens too took top trace tracked traceback trailing transaction tree true try
	tuple two type typed types unable unacceptable unauthorized unbound uncaught unchecked uncommitted undeclared undefined underlying unexpected unhandled
	uninitialized union unique unit unknown unmatched unmerged unmet unreachable unreadable unrecognized unreferenced unrelated unresolved unsafe unsaved
	unset unstaged unsupported unterminated untracked unused unwrap up update updates upgrade upper upstream usage use used user uses using utf valid
	validate validation value values variable variables vendor verify version versions virtual visible void wait waiting want wanted warning warnings
	while whitespace wide wildcard will word worker workspace worktree would wrap wrapped write writable writing written wrong yield zero
	nilness shadowed naked mixed magic dupe copies addressable comparable unkeyed underflow pinned exitcode unlock lints fmt vet tidy mod sum gomod
	eof enoent eacces eperm eexist econnrefused eaddrinuse emfile eisdir enotdir enospc epipe etimedout sigsegv sigkill sigterm sigabrt oom`
