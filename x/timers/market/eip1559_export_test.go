package market

// FirstStated is the first kind of lists of stated asks, FirstCapped that of asks with a spend cap.
const (
	FirstStated = firstStated
	FirstCapped = firstCapped
)

// SlackBucket and SlackEdges sort slacks into buckets; CandidateOf is an entry as the rules see it.
var (
	SlackBucket = slackBucket
	SlackEdges  = slackEdges
	CandidateOf = candidateOf
)

// IsStated tells whether the list is one of stated asks.
func IsStated(l List) bool { return isStated(l) }
