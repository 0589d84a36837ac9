// Command site makes the documentation site of the repository's pages: map.json says which page shows which file, or
// which sections of it. No page is a copy: each build reads the files, and points links between them to pages of the
// site and all others to the repository.
//
//	go run ./site stage VERSION    writes build/site-src, which VitePress reads
//	go run ./site finish VERSION   completes build/site/VERSION with Markdown, llms.txt and the list of versions
package main
