package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// plan is map.json: which page shows what.
type plan struct {
	// Repository is where links go that leave the site.
	Repository string    `json:"repository"`
	Title      string    `json:"title"`
	Summary    string    `json:"summary"`
	Sections   []section `json:"sections"`
	// LeftOut are Markdown files that no page shows, and why.
	LeftOut map[string]string `json:"left_out"`

	root  string
	files map[string]*file
}

// section of the site: pages for one kind of reader.
type section struct {
	Title string `json:"title"`
	// Reference pages are looked up, not read: they may be long.
	Reference bool    `json:"reference"`
	Pages     []*page `json:"pages"`
}

// page of the site.
type page struct {
	// Path below the version, without an extension.
	Path string `json:"path"`
	// File in the repository. Sections are the anchors of its second-level headings that the page shows; without them it
	// shows the beginning of the file, and all sections that no other page shows.
	File     string   `json:"file"`
	Sections []string `json:"sections"`
	// Title in place of the file's own. About is a line on what the page is for.
	Title string `json:"title"`
	About string `json:"about"`

	reference bool
	lines     []line
	// anchors of the file → those of the page.
	anchors map[string]string
}

// file is one that pages show.
type file struct {
	main  *page
	parts []*page
}

// pages in their order.
func (p *plan) pages() (all []*page) {
	for i := range p.Sections {
		all = append(all, p.Sections[i].Pages...)
	}
	return all
}

var pagePath = regexp.MustCompile(`^[a-z0-9-]+(/[a-z0-9-]+)*$`)

// readPlan reads map.json of a repository and the files that it names, and gives each page its lines.
func readPlan(root string) (*plan, error) {
	raw, err := os.ReadFile(filepath.Join(root, "site", "map.json"))
	if err != nil {
		return nil, err
	}
	p := &plan{root: root, files: map[string]*file{}}
	dec := json.NewDecoder(strings.NewReader(string(raw)))
	dec.DisallowUnknownFields()
	if err := dec.Decode(p); err != nil {
		return nil, fmt.Errorf("map.json: %w", err)
	}
	paths := map[string]bool{}
	for _, s := range p.Sections {
		for _, one := range s.Pages {
			one.reference = s.Reference
			if !pagePath.MatchString(one.Path) || paths[one.Path] {
				return nil, fmt.Errorf("map.json: page %q: want a path of its own, of lower-case letters, digits, - and /",
					one.Path)
			}
			if one.About == "" {
				return nil, fmt.Errorf("map.json: page %s: about is missing: want a line on what the page is for", one.Path)
			}
			paths[one.Path] = true
			f := p.files[one.File]
			if f == nil {
				f = &file{}
				p.files[one.File] = f
			}
			switch {
			case len(one.Sections) > 0:
				f.parts = append(f.parts, one)
			case f.main != nil:
				return nil, fmt.Errorf("map.json: %s: pages %s and %s both show its beginning", one.File, f.main.Path, one.Path)
			default:
				f.main = one
			}
		}
	}
	for name, f := range p.files {
		if f.main == nil {
			return nil, fmt.Errorf("map.json: no page shows the beginning of %s", name)
		}
		if err := f.read(root, name); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return p, nil
}

// read gives the lines of a file to its pages.
func (f *file) read(root, name string) error {
	raw, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		return err
	}
	lines := parse(string(raw))
	if len(lines) == 0 || lines[0].heading == nil || lines[0].heading.level != 1 {
		return errors.New("want a title in the first line: # Title")
	}
	pages := map[string]*page{}
	for _, part := range f.parts {
		for _, slug := range part.Sections {
			if pages[slug] != nil {
				return fmt.Errorf("pages %s and %s both show the section %s", pages[slug].Path, part.Path, slug)
			}
			pages[slug] = part
		}
	}
	at, found := f.main, map[string]bool{}
	for _, l := range lines {
		if l.heading != nil && l.heading.level <= 2 {
			if at = pages[l.heading.slug]; at == nil {
				at = f.main
			}
			found[l.heading.slug] = true
		}
		at.lines = append(at.lines, l)
	}
	for slug, part := range pages {
		if !found[slug] {
			return fmt.Errorf("page %s shows the section %s, which there is not", part.Path, slug)
		}
	}
	f.main.finishTitle()
	for _, part := range f.parts {
		part.finishTitle()
	}
	return nil
}

// finishTitle makes the first line the title: that of the map, or the file's own, or that of the only section, whose
// headings move up by one then. It sets the page's anchors.
func (p *page) finishTitle() {
	switch {
	case len(p.Sections) == 0 && p.Title != "":
		p.lines[0].text = "# " + p.Title
	case len(p.Sections) == 1 && p.Title == "":
		for i := range p.lines {
			if p.lines[i].heading != nil {
				p.lines[i].text = strings.TrimPrefix(p.lines[i].text, "#")
			}
		}
	case len(p.Sections) > 0:
		p.lines = append([]line{{text: "# " + p.Title}, {}}, p.lines...)
	}
	for p.lines[len(p.lines)-1].text == "" {
		p.lines = p.lines[:len(p.lines)-1]
	}
	anchors := slugs{}
	p.anchors = map[string]string{}
	for i := range p.lines {
		text := strings.TrimLeft(p.lines[i].text, "#")
		if h := p.lines[i].heading; h != nil {
			p.anchors[h.slug] = anchors.of(strings.TrimSpace(text))
		} else if i == 0 {
			anchors.of(strings.TrimSpace(text))
		}
	}
	p.Title = strings.TrimSpace(strings.TrimLeft(p.lines[0].text, "#"))
}

// unlisted are the Markdown files of the repository that are neither on a page nor left out.
func (p *plan) unlisted() (missing []string, err error) {
	skipped := []string{"build", "node_modules", "testdata", "target"}
	err = filepath.WalkDir(p.root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := entry.Name()
		if entry.IsDir() && name != p.root && (strings.HasPrefix(base, ".") || slices.Contains(skipped, base)) {
			return filepath.SkipDir
		}
		rel, err := filepath.Rel(p.root, name)
		if err != nil || path.Ext(base) != ".md" {
			return err
		}
		rel = filepath.ToSlash(rel)
		if p.files[rel] == nil && p.LeftOut[rel] == "" {
			missing = append(missing, rel)
		}
		return nil
	})
	return missing, err
}
