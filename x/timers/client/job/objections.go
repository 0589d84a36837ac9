package job

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/pflag"
)

const flagForce = "force"

// AddForce adds the flag of those who want what speaks against itself.
func AddForce(f *pflag.FlagSet) {
	f.Bool(flagForce, false, "send it although it would fail, or can't do what was asked for, as things are now")
}

// Object notes what speaks against sending a transaction that the chain would take. All of it is told together.
func (j *Job) Object(format string, args ...any) {
	j.objections = append(j.objections, j.Subject+fmt.Sprintf(format, args...))
}

// settle is an error that tells all objections, unless the user wants it all the same: then each is a warning.
func (j *Job) settle() error {
	if text, _ := j.Stated(flagForce); len(j.objections) == 0 || text == "true" {
		j.Warn()
		return nil
	}
	text := strings.Join(j.objections, "; ") + ". Nothing was sent"
	if j.Flags.Lookup(flagForce) != nil {
		text += "; --" + flagForce + " sends it all the same"
	}
	return errors.New(text)
}

// Warn tells all objections as warnings.
func (j *Job) Warn() {
	for _, objection := range j.objections {
		j.Notef("warning: %s", objection)
	}
	j.objections = nil
}
