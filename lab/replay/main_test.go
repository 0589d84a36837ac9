package replay_test

import (
	"testing"

	"github.com/cosmos-timers/timers/x/timers/testutil/draws"
)

func TestMain(m *testing.M) { draws.Main(m, 40) }
