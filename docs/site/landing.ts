/**
 * The first page of the site. The beginning of the README is its hero: the title, the first paragraph, and a card for each
 * reader of the list. The rest of the README follows. Throws if the README does not begin like that.
 */
export function landingPage(readme: string): string {
  const [title = '', tagline = '', problem = '', list = '', ...rest] = readme.split(/\n{2,}/);
  const cards = oneLine(list)
    .split(/(?:^| )- (?=\*\*)/)
    .slice(1)
    .map(cardOf);
  if (!title.startsWith('# ') || cards.length === 0)
    throw new Error(
      'README.md: it has to begin with a title, two paragraphs and a list of its readers',
    );
  const page = {
    layout: 'home',
    hero: {
      name: title.slice(2),
      tagline: oneLine(tagline),
      actions: [
        { theme: 'brand', text: 'Getting started', link: '/docs/getting-started' },
        { theme: 'alt', text: 'Why it is made so', link: '/docs/decisions' },
      ],
    },
    features: cards,
  };
  // JSON is YAML, too.
  return `---\n${JSON.stringify(page)}\n---\n\n${[problem, ...rest].join('\n\n')}`;
}

interface Card {
  readonly title: string;
  readonly details: string;
  readonly link: string;
  readonly linkText: string;
}

function cardOf(item: string): Card {
  const found = /^\*\*(.+?)\*\*(.*)\[(.+)\]\((.+)\.md\)$/.exec(item.trim());
  if (found === null) throw new Error(`README.md: no title and no link are in: ${item}`);
  const [, title = '', details = '', linkText = '', link = ''] = found;
  return { title: title.replace(/\.$/, ''), details: details.trim(), link: `/${link}`, linkText };
}

function oneLine(text: string): string {
  return text.replace(/\s*\n\s*/g, ' ');
}
