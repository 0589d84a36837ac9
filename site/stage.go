package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// written are the files of the site that are made of the repository's, by their paths.
type written map[string][]byte

// simulation is how pages name the file of a table that the page with the simulator can make.
var simulation = regexp.MustCompile("`timerd lab run lab/testdata/sims/(\\w+)\\.json`")

// render makes the Markdown of each page, and the pictures that they show. Links go to pages of the site or to the
// repository at a ref. The error names every link that leads nowhere.
func (p *plan) render(ref string) (written, error) {
	out, wrong := written{}, []error{}
	for _, one := range p.pages() {
		lines := one.lines
		if f := p.files[one.File]; f.main == one && len(f.parts) > 0 {
			lines = append(slices.Clone(lines), line{}, line{text: "## More of this page"}, line{})
			for _, part := range f.parts {
				lines = append(lines, line{text: fmt.Sprintf("- [%s](%s): %s", part.Title, "/"+part.Path, part.About)})
			}
		}
		text, err := relink(lines, func(target string, image bool) string {
			to, err := p.target(one, target, image, ref, out)
			if err != nil {
				wrong = append(wrong, fmt.Errorf("%s: link to %s: %w", one.File, target, err))
			}
			return to
		})
		if err != nil {
			wrong = append(wrong, fmt.Errorf("%s: %w", one.File, err))
		}
		if one.Path != "simulator" {
			run := fmt.Sprintf("$0 ([run it here](%s?table=$1))", relative(one, "simulator.md"))
			text = simulation.ReplaceAllString(text, run)
		}
		out[one.Path+".md"] = []byte(text)
	}
	return out, errors.Join(wrong...)
}

// relative path from a page to a file of the site.
func relative(from *page, to string) string {
	return strings.Repeat("../", strings.Count(from.Path, "/")) + to
}

// target of a link on a page. A picture is added to what is written.
func (p *plan) target(from *page, target string, image bool, ref string, out written) (string, error) {
	if strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:") {
		return target, nil
	}
	if own, of := strings.CutPrefix(target, "/"); of { // Made by render.
		return relative(from, own+".md"), nil
	}
	name, anchor, anchored := strings.Cut(target, "#")
	file := from.File
	if name != "" {
		file = path.Join(path.Dir(from.File), name)
	}
	if strings.HasPrefix(file, "../") {
		return "", errors.New("it is outside of the repository")
	}
	if to := p.files[file]; to != nil {
		if !anchored {
			return relative(from, to.main.Path+".md"), nil
		}
		for _, one := range append([]*page{to.main}, to.parts...) {
			slug, has := one.anchors[anchor]
			switch {
			case !has:
			case one == from:
				return "#" + slug, nil
			default:
				return relative(from, one.Path+".md#"+slug), nil
			}
		}
		return "", errors.New("the file has no such heading")
	}
	info, err := os.Stat(filepath.Join(p.root, filepath.FromSlash(file)))
	if err != nil {
		return "", errors.New("there is no such file")
	}
	if image {
		raw, err := os.ReadFile(filepath.Join(p.root, filepath.FromSlash(file)))
		out["files/"+file] = raw
		return relative(from, "files/"+file), err
	}
	kind := "blob"
	if info.IsDir() {
		kind = "tree"
	}
	if anchored {
		anchor = "#" + anchor
	}
	return fmt.Sprintf("%s/%s/%s/%s%s", p.Repository, kind, ref, file, anchor), nil
}

// llms is llms.txt: the title, a summary, and a line for each page, grouped as the site is. Links begin with prefix.
func (p *plan) llms(prefix string) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n> %s\n", p.Title, p.Summary)
	for _, s := range p.Sections {
		fmt.Fprintf(&b, "\n## %s\n\n", s.Title)
		for _, one := range s.Pages {
			fmt.Fprintf(&b, "- [%s](%s%s.md): %s\n", strings.ReplaceAll(one.Title, "`", ""), prefix, one.Path, one.About)
		}
	}
	return []byte(b.String())
}

// sidebar is what the generator's config needs: titles and links by section, and the file of each page.
func (p *plan) sidebar() []byte {
	type item struct {
		Text      string `json:"text"`
		Link      string `json:"link,omitempty"`
		Collapsed bool   `json:"collapsed"`
		Items     []item `json:"items,omitempty"`
	}
	var groups []item
	sources := map[string]string{}
	for _, s := range p.Sections {
		group := item{Text: s.Title, Collapsed: len(s.Pages) > 8}
		for _, one := range s.Pages {
			sources[one.Path] = one.File
			link := "/" + strings.TrimSuffix(one.Path, "index")
			group.Items = append(group.Items, item{Text: strings.ReplaceAll(one.Title, "`", ""), Link: link})
		}
		groups = append(groups, group)
	}
	out, err := json.MarshalIndent(map[string]any{
		"title": p.Title, "description": p.Summary, "repository": p.Repository, "sidebar": groups, "sources": sources,
	}, "", " ")
	if err != nil {
		panic(err) // Texts only.
	}
	return out
}

// writeAll writes files below a directory.
func writeAll(dir string, files written) error {
	for _, name := range slices.Sorted(maps.Keys(files)) {
		to := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(to, files[name], 0o600); err != nil {
			return err
		}
	}
	return nil
}

// stage writes what the generator reads: pages, pictures, the theme, and the tables of the simulator.
func stage(p *plan, version, to string) error {
	missing, err := p.unlisted()
	if err != nil {
		return err
	}
	if len(missing) > 0 {
		return fmt.Errorf("map.json: %s: no page shows it: add a page, or say in left_out why not",
			strings.Join(missing, ", "))
	}
	files, err := p.render(version)
	if err != nil {
		return err
	}
	if err := os.RemoveAll(to); err != nil {
		return err
	}
	files[".vitepress/site.json"] = p.sidebar()
	for from, below := range map[string]string{
		"site/theme": ".vitepress", "site/public": "public/simulator", "lab/testdata/sims": "public/simulator/tables",
	} {
		if err := copyInto(files, filepath.Join(p.root, from), below); err != nil {
			return err
		}
	}
	return writeAll(to, files)
}

func copyInto(files written, from, below string) error {
	return filepath.WalkDir(from, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		rel, err := filepath.Rel(from, name)
		if err != nil {
			return err
		}
		raw, err := os.ReadFile(name)
		files[path.Join(below, filepath.ToSlash(rel))] = raw
		return err
	})
}
