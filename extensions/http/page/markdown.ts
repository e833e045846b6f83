import MarkdownIt, { type Token } from 'markdown-it';

/** Raw HTML stays text; links that are no address of the web stay text, too. */
const reader = new MarkdownIt({ html: false, linkify: true });
reader.validateLink = (url) => /^(https?:|mailto:)/i.test(url.trim());

const elements = new Set(
  'p h1 h2 h3 h4 h5 h6 ul ol li blockquote table thead tbody tr th td em strong s'.split(' '),
);

/** Makes elements of a text in Markdown. No text is ever read as HTML, and nothing is loaded. */
function render(tokens: readonly Token[], into: Element): void {
  const open: Element[] = [into];
  const add = (node: Node | string): void => open.at(-1)?.append(node);
  const enter = (name: string): HTMLElement => {
    const element = document.createElement(name);
    add(element);
    open.push(element);
    return element;
  };
  for (const token of tokens) {
    const { type, tag, nesting, content, children } = token;
    if (nesting === -1) open.length = Math.max(1, open.length - 1);
    else if (type === 'inline') render(children ?? [], open.at(-1) ?? into);
    else if (type === 'link_open') enterLink(enter('a'), String(token.attrGet('href')));
    else if (nesting === 1) enterBlock(enter(elements.has(tag) ? tag : 'span'), token);
    else if (type === 'fence' || type === 'code_block') add(codeOf(content));
    else if (type === 'code_inline') add(elementOf('code', content));
    else if (type === 'softbreak') add('\n');
    else if (type === 'hardbreak' || type === 'hr') add(document.createElement(tag));
    else if (type === 'image') add(imageOf(token));
    else add(content);
  }
}

function enterLink(link: HTMLElement, href: string): void {
  for (const [name, value] of Object.entries({ href, rel: 'noreferrer', target: '_blank' }))
    link.setAttribute(name, value);
}

function enterBlock(element: HTMLElement, token: Token): void {
  const start = token.attrGet('start');
  if (start !== null) element.setAttribute('start', String(start));
  if (token.hidden) element.className = 'tight'; // the paragraph of a tight list
}

/** A picture is a link to it: the page loads nothing from elsewhere. */
function imageOf(token: Token): Element {
  const link = elementOf('a', token.content || 'picture');
  enterLink(link, String(token.attrGet('src')));
  return link;
}

function elementOf(name: string, text: string): HTMLElement {
  const element = document.createElement(name);
  element.textContent = text;
  return element;
}

/** Code with a button that copies it. */
function codeOf(text: string): Element {
  const box = elementOf('div', '');
  box.className = 'code';
  const pre = elementOf('pre', '');
  pre.append(elementOf('code', text));
  const copy = elementOf('button', 'Copy');
  copy.setAttribute('type', 'button');
  copy.addEventListener('click', () => {
    const told = (word: string) => () => {
      copy.textContent = word;
    };
    navigator.clipboard.writeText(text).then(told('Copied'), told('Not copied'));
  });
  box.append(pre, ...('clipboard' in navigator ? [copy] : [])); // without TLS there is none
  return box;
}

/**
 * A text in Markdown that grows. Blocks before the last one are made once, so a long answer costs no more than it has: only the last
 * block is made anew. `end` makes all of it once more, since a reference may be defined behind its use.
 */
export class GrowingText {
  readonly #element: Element;
  #text = '';
  /** How much of the text is in blocks that grow no more, and how many elements they are. */
  #settled = { characters: 0, elements: 0 };

  constructor(element: Element) {
    this.#element = element;
  }

  add(text: string): void {
    this.#text += text;
  }

  /** Draws what was added. */
  draw(): void {
    const rest = this.#text.slice(this.#settled.characters);
    const tokens = reader.parse(rest, {});
    for (const child of [...this.#element.children].slice(this.#settled.elements)) child.remove();
    const last = tokens.findLastIndex(({ level, nesting }) => level === 0 && nesting >= 0);
    const line = tokens[last]?.map?.[0] ?? 0;
    render(tokens.slice(0, Math.max(0, last)), this.#element);
    if (line > 0) {
      const before = rest.split('\n').slice(0, line).join('\n').length + 1;
      this.#settled = {
        characters: this.#settled.characters + before,
        elements: this.#element.children.length,
      };
    }
    render(tokens.slice(Math.max(0, last)), this.#element);
  }

  end(): void {
    this.#element.replaceChildren();
    render(reader.parse(this.#text, {}), this.#element);
  }
}
