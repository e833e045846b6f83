/** Characters that a secret has at least: taking a shorter one out would tear up ordinary words. */
const shortest = 6;

/** The text that stands in the place of a secret. */
const mark = '[secret]';

/** The mark at the end of a text that was cut off. */
const cutOff = '…';

/**
 * Makes a function that takes secrets out of a text (spec §20.8): as they are, with the escapes of JSON (once or twice), in
 * one line, and as URLs, Base64 and hexadecimal digits write them; also where a text was cut off within one. In JSON it takes
 * the beginning of a secret from the end of a text that still grows, too. A text of fewer than six characters is no secret.
 * Without secrets it costs nothing, and with them one pass over the text.
 *
 * @example
 * withoutSecrets(['hunter22'])('token hunter22 was refused'); // 'token [secret] was refused'
 */
export function withoutSecrets(secrets: readonly string[]): (text: string) => string {
  const forms = [...new Set(secrets.filter(isLong).flatMap(formsOf))].filter(isLong);
  if (forms.length === 0) return (text) => text;
  forms.sort((one, other) => other.length - one.length); // one may hold another
  const all = new RegExp(forms.map(escaped).join('|'), 'g');
  const beginning = new RegExp(forms.map((form) => escaped(form.slice(0, shortest))).join('|'));
  const whole = (text: string): string => {
    const found = text.replace(all, mark);
    return found.includes(cutOff) ? withoutBeginnings(found, forms, false) : found;
  };
  const growing = (text: string): string => withoutBeginnings(text.replace(all, mark), forms, true);
  return (text) => {
    const found = whole(text);
    if (found === text && !(mayGrow(text) && beginning.test(text))) return text;
    return withinJson(text, { whole, growing, mark }) ?? found;
  };
}

function isLong({ length }: string): boolean {
  return length >= shortest;
}

function formsOf(secret: string): string[] {
  const line = secret.replace(/[\s\p{Cc}]+/gu, ' ').trim();
  const once = inJson(secret);
  const bytes = Buffer.from(secret, 'utf8');
  return [
    ...[secret, secret.trim(), line, once, inJson(once), inJson(line)],
    ...inUrls(secret),
    ...[bytes.toString('base64').replace(/=+$/, ''), bytes.toString('base64url')],
    bytes.toString('hex'),
  ];
}

function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

function inUrls(text: string): string[] {
  try {
    return [
      encodeURIComponent(text),
      encodeURI(text),
      String(new URLSearchParams({ '': text })).slice(1),
    ];
  } catch {
    return []; // half of a character cannot be written so
  }
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
}

/** Takes out what a cut has left of a secret: its beginning, right before the mark of the cut, or at the end of a text that grows. */
function withoutBeginnings(text: string, forms: readonly string[], grows: boolean): string {
  return text
    .split(cutOff)
    .map((part, at, { length }) => {
      if (at === length - 1 && !grows) return part; // nothing was cut off after it
      const left = forms.flatMap((form) => beginningAtEnd(part, form)).sort((a, b) => a - b)[0];
      return left === undefined ? part : part.slice(0, left) + mark;
    })
    .join(cutOff);
}

/** Finds the place of a form's beginning at the end of a text, if that beginning is long enough to tell. */
function beginningAtEnd(text: string, form: string): number[] {
  const head = form.slice(0, shortest);
  const from = Math.max(0, text.length - form.length);
  for (let at = text.indexOf(head, from); at !== -1; at = text.indexOf(head, at + 1))
    if (form.startsWith(text.slice(at))) return [at];
  return [];
}

/** The functions that take secrets out of one text. */
interface SecretFilter {
  /** Cleans a text that is whole. */
  readonly whole: (text: string) => string;
  /** Cleans a text that still grows: the beginning of a secret at its end goes, too. */
  readonly growing: (text: string) => string;
  /** The text that takes the place of a secret. */
  readonly mark: string;
}

/** Returns whether a text may be JSON that holds a text which still grows: a delta, or a reply that is shown before it is whole. */
function mayGrow(text: string): boolean {
  return isObject(text) && (text.includes('"streaming":true') || text.includes('"delta":"'));
}

/** Cleans the texts within a line of JSON: its keys, its numbers and its form stay. `undefined` if it is no JSON. */
function withinJson(text: string, filter: SecretFilter): string | undefined {
  if (!isObject(text)) return undefined;
  try {
    const found = JSON.stringify(cleaned(JSON.parse(text), filter));
    return text.endsWith('\n') ? `${found}\n` : found;
  } catch {
    return undefined;
  }
}

function isObject(text: string): boolean {
  return /^\s*[[{]/.test(text);
}

function cleaned(value: unknown, filter: SecretFilter): unknown {
  if (typeof value === 'string') return filter.whole(value);
  if (Array.isArray(value)) return value.map((item) => cleaned(item, filter));
  if (typeof value !== 'object' || value === null) return value;
  const grown = new Map(Object.entries(grownIn(value, filter)));
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, grown.get(key) ?? cleaned(item, filter)]),
  );
}

/** The texts of an object that still grow, cleaned: of `agent.output.delta`, and of a reply that is shown in parts. */
function grownIn(
  value: { readonly [key in 'text' | 'delta' | 'content' | 'streaming']?: unknown },
  { growing, mark }: SecretFilter,
): Readonly<Record<string, string>> {
  const { text, delta, content, streaming } = value;
  if (streaming === true && typeof content === 'string') return { content: growing(content) };
  if (typeof text !== 'string' || typeof delta !== 'string' || !text.endsWith(delta)) return {};
  const before = growing(text.slice(0, text.length - delta.length));
  const shown = growing(delta);
  // what was added goes as a whole if a secret began before it
  return { text: growing(text), delta: before + shown === growing(text) ? shown : mark };
}
