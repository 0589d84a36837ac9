// Package rulesof makes the rules of the guests of the module, the policies that a chain registers if it wants them, of their
// parameters. The module's types know these parameters and not the rules, so that a chain without the guests links neither.
package rulesof
