//go:build js && wasm

// Command simulator is the simulator in a browser: a web worker loads it, and calls simulate(file, progress). The
// answer is {"answer": ...} or {"error": "..."} as JSON text (package browser describes the answer).
package main

import (
	"context"
	"encoding/json"
	"syscall/js"

	"github.com/cosmos-timers/timers/lab/sim/browser"
)

func main() {
	js.Global().Set("simulate", js.FuncOf(func(_ js.Value, args []js.Value) any {
		if len(args) != 2 || args[0].Type() != js.TypeString || args[1].Type() != js.TypeFunction {
			return text(map[string]any{"error": "simulate wants the text of a file, and a function for the progress"})
		}
		answer, err := browser.Simulate(context.Background(), []byte(args[0].String()), func(p browser.Progress) {
			args[1].Invoke(p.Text, p.Runs, p.Total)
		})
		if err != nil {
			return text(map[string]any{"error": err.Error()})
		}
		return text(map[string]any{"answer": answer})
	}))
	select {}
}

// text of an answer in JSON. Means that are no number, such as those of a figure without values, have no form in JSON.
func text(value any) string {
	out, err := json.Marshal(value)
	if err != nil {
		return `{"error": "the answer has a number that JSON can't hold"}`
	}
	return string(out)
}
