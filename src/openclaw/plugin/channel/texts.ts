import { fieldsOf } from 'sluice-kernel/internal';
import { sectionsOf, textOf } from './settings.js';

/** Characters of one message where nobody says another limit. */
const usualLimit = 4_000;

type Mode = 'length' | 'newline';

/** A fenced block of code, by its place in the text. */
interface Fence {
  readonly start: number;
  readonly end: number;
  /** Its first line. */
  readonly line: string;
  /** The line that ends it. */
  readonly close: string;
}

/** `resolveTextChunkLimit`: the characters of one message, as the account, the channel or the caller says. */
export function resolveTextChunkLimit(
  cfg: unknown,
  channel?: unknown,
  accountId?: unknown,
  options: { readonly fallbackLimit?: number } = {},
): number {
  const { fallbackLimit = usualLimit } = options;
  const set = sectionsOf(cfg, channel, accountId).map((section) => section['textChunkLimit']);
  const limit = set.find((one) => typeof one === 'number');
  if (typeof limit === 'number' && limit > 0) return limit;
  return fallbackLimit > 0 ? fallbackLimit : usualLimit;
}

/** `resolveChunkMode`: whether a text is cut at paragraphs, or only where it is too long. */
export function resolveChunkMode(cfg: unknown, channel?: unknown, accountId?: unknown): Mode {
  const set = sectionsOf(cfg, channel, accountId).map((section) => section['chunkMode']);
  return set.find((mode) => mode === 'newline' || mode === 'length') === 'newline'
    ? 'newline'
    : 'length';
}

/** `chunkText`: cuts a text at ends of lines, or else at blanks; brackets stay whole where they can. */
export function chunkText(text: string, limit: number): string[] {
  return cutAll(text, limit, []);
}

/** `chunkMarkdownText`: the same, and a block of code that is cut is closed and opened again. */
export function chunkMarkdownText(text: string, limit: number): string[] {
  return cutAll(text, limit, fencesOf(text));
}

/** `chunkTextWithMode`. */
export function chunkTextWithMode(text: string, limit: number, mode?: unknown): string[] {
  if (mode !== 'newline') return chunkText(text, limit);
  return paragraphsOf(text, limit).flatMap((part) => chunkText(part, limit));
}

/** `chunkMarkdownTextWithMode`. */
export function chunkMarkdownTextWithMode(text: string, limit: number, mode?: unknown): string[] {
  if (mode !== 'newline') return chunkMarkdownText(text, limit);
  return paragraphsOf(text, limit).flatMap((part) => chunkMarkdownText(part, limit));
}

/** `chunkByNewline`: a chunk for each line; blank lines stand before the next. */
export function chunkByNewline(
  text: string,
  limit: number,
  options: { readonly splitLongLines?: boolean; readonly trimLines?: boolean } = {},
): string[] {
  if (!(limit > 0)) return text.trim() === '' ? [] : [text];
  const chunks: string[] = [];
  let blank = 0;
  for (const line of text.split('\n')) {
    if (line.trim() === '') {
      blank += 1;
      continue;
    }
    const said = '\n'.repeat(Math.min(blank, limit - 1));
    const whole = `${said}${options.trimLines === false ? line : line.trim()}`;
    blank = 0;
    if (options.splitLongLines === false || whole.length <= limit) chunks.push(whole);
    else chunks.push(whole.slice(0, limit), ...chunkText(whole.slice(limit), limit));
  }
  const last = chunks.pop();
  return last === undefined ? [] : [...chunks, `${last}${'\n'.repeat(blank)}`];
}

function cutAll(text: string, limit: number, fences: readonly Fence[]): string[] {
  if (text === '') return [];
  if (!(limit > 0) || text.length <= limit) return [text];
  const chunks: string[] = [];
  let reopened: Fence | undefined;
  for (let at = 0; at < text.length; ) {
    const head = reopened === undefined ? '' : `${reopened.line}\n`;
    const room = Math.max(1, limit - head.length);
    if (text.length - at <= room) {
      chunks.push(`${head}${text.slice(at)}`);
      break;
    }
    const { cut, fence } = cutOf(text, at, room, fences);
    const part = `${head}${text.slice(at, cut)}`;
    chunks.push(
      fence === undefined ? part : `${part}${part.endsWith('\n') ? '' : '\n'}${fence.close}`,
    );
    reopened = fence;
    at = fence === undefined ? afterBreak(text, cut) : cut;
  }
  return chunks.filter((chunk) => chunk.trim() !== '');
}

/** Finds where a chunk ends, and the block of code that is cut there. */
function cutOf(
  text: string,
  at: number,
  room: number,
  fences: readonly Fence[],
): { readonly cut: number; readonly fence?: Fence } {
  const end = at + room;
  const soft = softBreak(text, at, end, fences);
  if (soft > at) return { cut: soft };
  const fence = fenceAt(fences, end);
  if (fence === undefined) return { cut: end };
  const latest = end - fence.close.length - 1; // its closing line must find room
  const body = fence.start + fence.line.length + 1;
  const newline = text.lastIndexOf('\n', latest - 1) + 1;
  if (newline > Math.max(at, body)) return { cut: newline, fence };
  return latest > Math.max(at, body) ? { cut: latest, fence } : { cut: end };
}

/** The last end of a line before `end`, else the last blank, outside of brackets and blocks of code. */
function softBreak(text: string, at: number, end: number, fences: readonly Fence[]): number {
  let newline = -1;
  let blank = -1;
  let depth = 0;
  for (let index = at; index < end; index += 1) {
    const fence = fenceAt(fences, index);
    if (fence !== undefined) {
      index = Math.min(fence.end, end) - 1;
      continue;
    }
    const character = text[index] ?? '';
    if (character === '(') depth += 1;
    else if (character === ')') depth = Math.max(0, depth - 1);
    else if (depth === 0 && character === '\n') newline = index;
    else if (depth === 0 && /\s/.test(character)) blank = index;
  }
  return newline > at ? newline : blank;
}

function afterBreak(text: string, cut: number): number {
  let at = /\s/.test(text[cut] ?? '') ? cut + 1 : cut;
  while (text[at] === '\n') at += 1;
  return at;
}

function fenceAt(fences: readonly Fence[], index: number): Fence | undefined {
  return fences.find(({ start, end }) => index > start && index < end);
}

/** The fenced blocks of a text. One that is not closed goes to the end. */
function fencesOf(text: string): readonly Fence[] {
  const fences: Fence[] = [];
  let open: { start: number; line: string; indent: string; marker: string } | undefined;
  let start = 0;
  for (const line of text.split('\n')) {
    const end = start + line.length;
    const [, indent = '', marker = ''] = /^( {0,3})(`{3,}|~{3,})/.exec(line) ?? [];
    if (marker !== '' && open === undefined) open = { start, line, indent, marker };
    else if (open !== undefined && marker.startsWith(open.marker)) {
      fences.push({ ...open, end, close: `${open.indent}${open.marker}` });
      open = undefined;
    }
    start = end + 1;
  }
  if (open !== undefined)
    fences.push({ ...open, end: text.length, close: `${open.indent}${open.marker}` });
  return fences;
}

/** The paragraphs of a text that are not blank; a blank line in a block of code ends none. */
function paragraphsOf(text: string, limit: number): readonly string[] {
  if (!(limit > 0)) return text === '' ? [] : [text];
  const lines = text.replaceAll(/\r\n?/g, '\n');
  const fences = fencesOf(lines);
  const parts: string[] = [];
  let from = 0;
  for (const { index, 0: gap } of lines.matchAll(/\n[\t ]*\n+/g)) {
    if (fenceAt(fences, index) !== undefined) continue;
    parts.push(lines.slice(from, index));
    from = index + gap.length;
  }
  parts.push(lines.slice(from));
  return parts.map((part) => part.trimEnd()).filter((part) => part.trim() !== '');
}

type TableMode = 'off' | 'bullets' | 'code';

/** The channels whose clients show another form of a table than a block of code. */
const usualModes: Readonly<Record<string, TableMode>> = {
  signal: 'bullets',
  whatsapp: 'bullets',
  mattermost: 'off',
};

/** `resolveMarkdownTableMode`: how a channel shows the tables of a text. */
export function resolveMarkdownTableMode(params: {
  readonly cfg?: unknown;
  readonly channel?: unknown;
  readonly accountId?: unknown;
}): TableMode {
  const { cfg, channel, accountId } = params;
  const set = sectionsOf(cfg, channel, accountId).map(
    (section) => fieldsOf(section['markdown'])['tables'],
  );
  return set.find(isMode) ?? usualModes[textOf(channel)?.toLowerCase() ?? ''] ?? 'code';
}

function isMode(value: unknown): value is TableMode {
  return value === 'off' || value === 'bullets' || value === 'code';
}

/** `convertMarkdownTables`: writes the tables of a text as blocks of code, or as lists. */
export function convertMarkdownTables(markdown: string, mode: unknown): string {
  if (mode !== 'bullets' && mode !== 'code') return markdown;
  if (!markdown.includes('|')) return markdown;
  const fences = fencesOf(markdown);
  const lines = markdown.split('\n');
  const said: string[] = [];
  let start = 0;
  for (let at = 0; at < lines.length; ) {
    const line = lines[at] ?? '';
    const inCode = fences.some((fence) => start >= fence.start && start <= fence.end);
    const table = inCode ? [] : tableAt(lines, at);
    said.push(...(table.length === 0 ? [line] : shown(table, mode)));
    for (const end = at + (table.length === 0 ? 1 : table.length + 1); at < end; at += 1)
      start += (lines[at] ?? '').length + 1;
  }
  return said.join('\n');
}

/** The rows of the table that begins at a line, its head first; none if no table begins there. */
function tableAt(lines: readonly string[], at: number): readonly (readonly string[])[] {
  const head = lines[at] ?? '';
  const rule = lines[at + 1] ?? '';
  const isRule = rule.includes('-') && cellsOf(rule).every((cell) => /^:?-+:?$/.test(cell));
  if (!head.includes('|') || !isRule || cellsOf(head).length !== cellsOf(rule).length) return [];
  const rows = [cellsOf(head)];
  for (let next = at + 2; (lines[next] ?? '').includes('|'); next += 1)
    rows.push(cellsOf(lines[next] ?? ''));
  return rows;
}

function cellsOf(line: string): readonly string[] {
  return line
    .trim()
    .replace(/^\|/, '')
    .replace(/(?<!\\)\|$/, '')
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim().replaceAll(String.raw`\|`, '|'));
}

function shown(table: readonly (readonly string[])[], mode: Exclude<TableMode, 'off'>) {
  const [head = [], ...rows] = table;
  if (mode === 'code') {
    const widths = head.map((_, column) =>
      Math.max(3, ...table.map((row) => (row[column] ?? '').length)),
    );
    const row = (cells: readonly string[]): string =>
      `|${widths.map((width, column) => ` ${(cells[column] ?? '').padEnd(width)} |`).join('')}`;
    const rule = `|${widths.map((width) => ` ${'-'.repeat(width)} |`).join('')}`;
    return ['```', row(head), rule, ...rows.map(row), '```'];
  }
  return rows.flatMap(([label = '', ...values]) => [
    ...(label === '' ? [] : [`**${label}**`]),
    ...values.flatMap((value, at) =>
      value === '' ? [] : [`• ${head[at + 1] || `Column ${at + 1}`}: ${value}`],
    ),
    '',
  ]);
}
