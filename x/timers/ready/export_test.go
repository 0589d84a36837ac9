package ready

import "github.com/cosmos-timers/timers/x/timers/policy"

// KindBits and FirstStated bound the kinds in names of lists.
const (
	KindBits    = kindBits
	FirstStated = firstStated
)

// SlackClass and SlackEdges sort slacks into classes.
var (
	SlackClass = slackClass
	SlackEdges = slackEdges
)

// Stated tells whether the list is one of stated asks.
func (l List) Stated() bool { return l.stated() }

// Candidate is the entry as the policy sees it.
func (e Entry) Candidate() policy.Candidate { return e.candidate() }
