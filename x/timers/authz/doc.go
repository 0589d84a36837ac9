// Package authz lets accounts delegate timers through x/authz (x/timers/README.md, "3.8 Authz"). TimerAuthorization bounds
// what a grantee may schedule and how long it lasts. Package guard, below this one, refuses authorizations without such
// bounds.
package authz
