// The site's generator. SITE_VERSION is the version that is built, SITE_BASE the path below which all versions are
// served.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { defineConfig } from 'vitepress';

const site = JSON.parse(readFileSync(path.resolve('../build/site-src/.vitepress/site.json'), 'utf8'));
const version = process.env.SITE_VERSION ?? 'main';
const base = `${(process.env.SITE_BASE ?? '/').replace(/\/*$/, '/')}${version}/`;

// The anchors that GitHub gives to headings: links between files state them.
const slugify = (text) =>
  text.trim().toLowerCase().replace(/[^\p{L}\p{M}\p{N}\p{Pc} -]/gu, '').replaceAll(' ', '-');

export default defineConfig({
  title: site.title,
  description: site.description,
  lang: 'en',
  base,
  outDir: `../site/${version}`,
  metaChunk: true,
  markdown: {
    // Pages are Markdown as GitHub shows it: no markup, no attributes, no names of emoji, no templates.
    html: false,
    attrs: { disable: true },
    anchor: { slugify },
    config(md) {
      md.core.ruler.disable('emoji');
      const text = md.renderer.rules.text;
      md.renderer.rules.text = (...args) => text(...args).replaceAll('{{', '&#123;&#123;');
    },
  },
  themeConfig: {
    version,
    sources: site.sources,
    repository: site.repository,
    nav: [
      { text: 'Use', link: '/tutorials/first-timer' },
      { text: 'Operate', link: '/tutorials/node' },
      { text: 'Extend', link: '/tutorials/wiring' },
      { text: 'Symptoms', link: '/symptoms/' },
      { text: 'Simulator', link: '/simulator' },
      { text: 'Reference', link: '/reference/' },
    ],
    sidebar: site.sidebar,
    outline: [2, 3],
    // One letter of a word of five or more may differ: of shorter ones others come close, as "was" to "gas".
    search: {
      provider: 'local',
      options: { miniSearch: { searchOptions: { prefix: true, fuzzy: 0.1, boost: { title: 4, titles: 2, text: 1 } } } },
    },
    socialLinks: [{ icon: 'github', link: site.repository }],
  },
  // The worker and its program are files of their own, below public.
  vite: { build: { chunkSizeWarningLimit: 2_000 } },
});
