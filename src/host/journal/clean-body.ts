/** Takes secrets out of a text. */
export type CleanText = (text: string) => string;

/** The fields of a message that hold what somebody said; the others say where it goes and what it is. */
const said: ReadonlySet<string> = new Set(['content', 'text', 'thinking', 'error', 'errorMessage']);

/**
 * Takes secrets out of the body of a row (spec §20.8). Of a dispatch each text is cleaned: it is there to be explained. Of a
 * send and of a transcript only what was said is: where a send goes must stay as it was. An update and a session are
 * kept as they came, since the next host takes them up. Keys and numbers stay as they are.
 *
 * @param body JSON.
 */
export function cleanBody(table: string, body: string, clean: CleanText): string {
  if (table !== 'dispatches' && table !== 'sends' && table !== 'transcripts') return body;
  const found = clean(body); // finds nothing in most bodies, and that costs one pass
  return table === 'dispatches' || found === body
    ? found
    : JSON.stringify(cleaned(JSON.parse(body), false, clean));
}

function cleaned(value: unknown, isFree: boolean, clean: CleanText): unknown {
  if (typeof value === 'string') return isFree ? clean(value) : value;
  if (Array.isArray(value)) return value.map((item) => cleaned(item, isFree, clean));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      key,
      cleaned(item, isFree || said.has(key), clean),
    ]),
  );
}
