// Package authz lets accounts delegate timers through x/authz (x/timers/README.md, "3.8 Authz"). TimerAuthorization bounds
// what a grantee may schedule and how long it lasts. AppModule refuses authorizations without such
// bounds: a timer outlives the grant under which it was scheduled, so that a grant for any such message outlives its own
// revocation. A chain wires it in place of x/authz's own.
package authz
