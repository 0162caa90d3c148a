// Package policy checks the house rules of this repository: who may import
// whom, where unsafe may live, how long a file may get, whether the documents
// still tell the truth.
//
// The rules run as the test TestPolicy at the root of the repository; the
// tables they are given (layers, dependencies, exceptions) stand there too, so
// that changing a rule is a visible change of one file. Only tests import this
// package.
//
// Sources are parsed, never listed by the go command: the test cache knows
// which files a test has opened but not what a child process has read, and a
// passing result would be replayed over a tree that breaks the rules.
package policy
