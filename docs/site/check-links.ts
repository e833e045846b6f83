/**
 * Reads the built site and names every link that leads nowhere: a page, a file or an anchor that is not there, and anything
 * that a browser would load from another server. Exit code 1 if there is one.
 */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type HTMLElement, parse } from 'node-html-parser';

const site = process.argv[2] ?? fileURLToPath(new URL('dist/', import.meta.url));

interface Page {
  readonly anchors: ReadonlySet<string>;
  readonly links: readonly string[];
  /** The addresses from which a browser loads something by itself: scripts, styles, pictures, fonts. */
  readonly loads: readonly string[];
}

const files = readdirSync(site, { recursive: true, encoding: 'utf8' });
const pages = new Map(
  files.filter((file) => file.endsWith('.html')).map((file) => [file, readPage(file)]),
);
const faults = [...pages].flatMap(([file, page]) => [
  ...page.links
    .filter((link) => isDead(file, link))
    .map((link) => `${file}: nothing is at ${link}`),
  ...page.loads
    .filter((address) => isForeign(address) || isDead(file, address))
    .map((address) => `${file}: loads ${address}`),
]);
for (const file of files.filter((name) => name.endsWith('.css')))
  for (const { 1: address = '' } of readText(file).matchAll(
    /(?:url\(|@import\s*)["']?([^"')\s]+)/g,
  ))
    if (isForeign(address)) faults.push(`${file}: loads ${address}`);
for (const { 1: link = '' } of readText('llms.txt').matchAll(/\]\(([^)]+)\)/g))
  if (isDead('llms.txt', link)) faults.push(`llms.txt: nothing is at ${link}`);

const count = [...pages.values()].reduce((sum, { links }) => sum + links.length, 0);
for (const fault of faults) console.error(fault);
console.log(`${pages.size} pages, ${count} links, ${faults.length} faults`);
if (pages.size < 2 || faults.length > 0) process.exitCode = 1;

function readText(file: string): string {
  return readFileSync(join(site, file), 'utf8');
}

function readPage(file: string): Page {
  const html = parse(readText(file));
  const all = (query: string, attribute: string) =>
    html.querySelectorAll(query).map((found: HTMLElement) => found.getAttribute(attribute) ?? '');
  return {
    anchors: new Set(all('[id]', 'id')),
    links: all('a[href]', 'href'),
    loads: [...all('[src]', 'src'), ...all('link[href]', 'href')],
  };
}

function isForeign(address: string): boolean {
  return /^(?:[a-z][a-z0-9+.-]*:)?\/\//i.test(address) && !address.startsWith('data:');
}

/** Says if a link inside the site leads nowhere. Links to other servers are not followed. */
function isDead(from: string, link: string): boolean {
  if (/^[a-z][a-z0-9+.-]*:/i.test(link)) return false;
  const [path = '', anchor] = decodeURI(link)
    .replace(/\?[^#]*/, '')
    .split('#');
  const target = path === '' ? from : placeOf(from, path);
  if (!existsSync(join(site, target)) || statSync(join(site, target)).isDirectory()) return true;
  return anchor !== undefined && anchor !== '' && pages.get(target)?.anchors.has(anchor) === false;
}

/** The file of the site that an address names; the address of a folder names its `index.html`. */
function placeOf(from: string, path: string): string {
  const place = path.startsWith('/') ? path.slice(1) : join(dirname(from), path);
  const file = /(?:^|\/)$/.test(place) ? `${place}index.html` : place;
  return relative('.', normalize(file));
}
