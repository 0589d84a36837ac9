package lane

import "testing"

func TestBudget(t *testing.T) {
	if Budget(1) != 1 {
		t.Fatal("a budget is a number")
	}
}
