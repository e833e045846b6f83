import { describe, expect, it } from 'vitest';
import { landingPage } from '../../docs/site/landing.js';
import { firstSentence, llmsText } from '../../docs/site/llms.js';
import { apiPageOf, entryPoints, sidebar } from '../../docs/site/nav.js';
import { placeOf, sources } from '../../docs/site/pages.js';
import { readProjectFile } from '../support/source-tree.js';

const links = sidebar.flatMap(({ items }) => items.map(({ link }) => link));
const { exports } = JSON.parse(readProjectFile('package.json')) as { exports: object };

describe('the documentation site', () => {
  it('lists every page once, and no page that is not there', () => {
    const pages = Object.keys(entryPoints).map((name) => `/api/${apiPageOf(name)}.md`);
    for (const source of sources) pages.push(`/${placeOf(source)}`);
    expect(links.toSorted()).toEqual(pages.toSorted());
  });

  it('has an API page for each entry point of the package', () => {
    const names = Object.keys(exports)
      .filter((name) => !name.startsWith('./extensions/') && name !== './package.json')
      .map((name) => name.replace('.', 'sluice'));
    expect(Object.keys(entryPoints).toSorted()).toEqual(names.toSorted());
  });

  it.each(sources.filter((source) => source !== 'CONTRIBUTING.md'))(
    'says in a first sentence what %s is about',
    (source) => {
      expect(firstSentence(readProjectFile(source))).toMatch(/^\S.{15,}[.!]$/);
    },
  );

  it('lists its pages in llms.txt by title and first sentence', () => {
    const text = llmsText(
      [{ text: 'Begin', items: [{ text: 'A', link: '/docs/a.md' }] }],
      (path) =>
        path === 'index.md' ? '# Home\n\nIt is home. More.' : '# A page\n\nIt [says](b.md) a. B.',
    );
    expect(text).toBe('# Home\n\n> It is home.\n\n## Begin\n\n- [A page](docs/a.md): It says a.\n');
  });

  it('begins with the README: its readers are cards, and the rest follows', () => {
    const readme =
      '# Home\n\nIt\nis home.\n\nA problem.\n\n- **You stay.** Sit\n  down. [Chairs](docs/chairs.md)\n\n## More\n\nText.\n';
    const [, front = '', body = ''] = landingPage(readme).split(/^---$/m);
    expect(JSON.parse(front)).toMatchObject({
      layout: 'home',
      hero: { name: 'Home', tagline: 'It is home.' },
      features: [
        { title: 'You stay', details: 'Sit down.', link: '/docs/chairs', linkText: 'Chairs' },
      ],
    });
    expect(body.trim()).toBe('A problem.\n\n## More\n\nText.');
    expect(() => landingPage('# Home\n\nText.\n')).toThrow('a list of its readers');
    expect(landingPage(readProjectFile('README.md'))).toContain('"features":[{');
  });

  it('is built from a lock file that has the packages of every platform', () => {
    const { packages } = JSON.parse(readProjectFile('docs/site/package-lock.json')) as {
      packages: Record<string, { readonly optionalDependencies?: object }>;
    };
    const locked = Object.keys(packages);
    const missing = locked.flatMap((path) =>
      Object.keys(packages[path]?.optionalDependencies ?? {}).filter(
        (name) => !locked.some((other) => other.endsWith(`node_modules/${name}`)),
      ),
    );
    expect(missing).toEqual([]);
  });
});
