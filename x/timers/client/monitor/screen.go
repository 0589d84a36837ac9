package monitor

import (
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// What the view needs of a terminal: ANSI sequences that every terminal has known for decades.
const (
	// The other screen, so that what was there before comes back; and no cursor, which would jump about.
	ansiEnter = "\x1b[?1049h\x1b[?25l"
	ansiLeave = "\x1b[?25h\x1b[?1049l"
	ansiHome  = "\x1b[H"
	// The rest of the line, and of the screen.
	ansiEndLine   = "\x1b[K"
	ansiEndScreen = "\x1b[J"
)

// screen draws lines in place. Its terminal stays in its ordinary mode, in which Ctrl-C is a signal.
type screen struct {
	out io.Writer
	// size is the terminal's, in characters; it may change at any time.
	size func() (width, height int)
	last []string
}

// terminalOf is the screen on which out is shown, or nil if out is no terminal that understands the sequences.
func terminalOf(out io.Writer) *screen {
	file, ok := out.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) || os.Getenv("TERM") == "dumb" {
		return nil
	}
	return &screen{out: out, size: func() (int, int) {
		width, height, err := term.GetSize(int(file.Fd()))
		if err != nil || width <= 0 || height <= 0 {
			return 80, 24
		}
		return width, height
	}}
}

func (s *screen) enter() error {
	_, err := io.WriteString(s.out, ansiEnter+ansiHome+ansiEndScreen)
	return err
}

// leave restores the terminal, and leaves the last view behind as ordinary output.
func (s *screen) leave() error {
	text := ansiLeave
	for _, line := range s.last {
		text += line + "\n"
	}
	_, err := io.WriteString(s.out, text)
	return err
}

// draw replaces what is shown.
func (s *screen) draw(b *board) error {
	s.last = b.lines(s.size())
	_, err := io.WriteString(s.out, ansiHome+strings.Join(s.last, ansiEndLine+"\n")+ansiEndLine+ansiEndScreen)
	return err
}
