/** The content of a `MEDIA:` line. */
interface MediaLine {
  /** Addresses of media, or paths as written. */
  readonly mediaUrls: readonly string[];
  /** The other words of the line. */
  readonly rest: string;
}

/**
 * A line that is longer than this, in UTF-16 code units, names no media in a text that grows: nobody waits for its
 * end.
 */
export const longestMediaLine = 8192;
const longestSource = 4096;
const mediaStart = /^\s*MEDIA:/;
const address = /^https?:\/\//i;
const localPath = /^(?:\/|\.{1,2}\/|~|[a-z]:[\\/]|\\\\|file:\/\/)/i;
const fileName = /^(?!\w+:\/\/).*\.\w{1,10}$/s;

/** Returns whether a line, or the beginning of one, may be a `MEDIA:` line. */
export function mayBeMediaLine(line: string): boolean {
  const text = line.trimStart();
  return text.startsWith('MEDIA:') || 'MEDIA:'.startsWith(text);
}

/**
 * Reads a line that names media for the reply. Nothing if it does not.
 *
 * @example
 * readMediaLine('MEDIA: https://example.org/a.png'); // { mediaUrls: ['https://example.org/a.png'], rest: '' }
 */
export function readMediaLine(line: string): MediaLine | undefined {
  const start = mediaStart.exec(line);
  if (start === null) return undefined;
  const said = line.slice(start[0].length).trim();
  const whole = source(said);
  if (unquoted(said) !== undefined) return whole === undefined ? undefined : all(whole);
  const words = said.split(/\s+/);
  const found = words.map((word) => source(word, words.length === 1));
  const mediaUrls = found.filter((one) => one !== undefined);
  if (mediaUrls.length === words.length) return { mediaUrls, rest: '' };
  if (whole !== undefined && !address.test(said)) return all(whole);
  if (mediaUrls.length === 0) return undefined;
  return { mediaUrls, rest: words.filter((_, index) => found[index] === undefined).join(' ') };
}

function all(url: string): MediaLine {
  return { mediaUrls: [url], rest: '' };
}

/** A source as it is used, or nothing if the text is none. A bare file name is one only where it stands alone. */
function source(text: string, isAlone = true): string | undefined {
  const bare = unquoted(text) ?? text.replace(/^[`"'[{(]+|[`"'\]}),]+$/g, '');
  const url = bare.startsWith('file://') ? bare.slice('file://'.length) : bare;
  if (url === '' || url.length > longestSource) return undefined;
  if (address.test(url)) return /\s/.test(url) ? undefined : url;
  return localPath.test(bare) || (isAlone && fileName.test(url)) ? url : undefined;
}

function unquoted(text: string): string | undefined {
  const quote = text[0];
  if (text.length < 3 || quote === undefined || !'"\'`'.includes(quote)) return undefined;
  const inner = text.slice(1, -1);
  return text.endsWith(quote) && !inner.includes(quote) ? inner : undefined;
}
