package types

// MaxLabelBytes bounds a label.
const MaxLabelBytes = 64

// CheckLabel returns ErrInvalidLabel unless a label is at most MaxLabelBytes of printable ASCII, from space to tilde. Lists
// show the labels of strangers: other scripts have invisible characters, characters that turn the direction of what
// follows, and characters that look like others.
func CheckLabel(label string) error {
	if len(label) > MaxLabelBytes {
		return ErrInvalidLabel.Wrapf("%d bytes, want at most %d", len(label), MaxLabelBytes)
	}
	for i := range len(label) {
		if c := label[i]; c < ' ' || c > '~' {
			return ErrInvalidLabel.Wrapf("byte %d is 0x%02x, want printable ASCII: space to tilde", i, c)
		}
	}
	return nil
}
