/** The values that the places of a template stand for. */
interface TemplateValues {
  readonly headers: Headers;
  /** The body, read. */
  readonly json?: unknown;
  readonly named?: Readonly<Record<string, string>>;
}

const place = /\{([^{}]*)\}/g;
const names = ['body', 'hex', 'base64'];

/** Says why a text is no template. */
export function problemOfTemplate(text: string): string | undefined {
  for (const [, inside = ''] of text.matchAll(place))
    if (!inside.startsWith('/') && !inside.startsWith('header:') && !names.includes(inside))
      return `{${inside}} is no place: write {/field/of/the/body} or {header:name}`;
  return undefined;
}

/**
 * Fills a template: `{/user/name}` is a field of the body by its JSON pointer, `{header:name}` a header.
 *
 * @returns the text, and the first place that has no value.
 */
export function fill(
  template: string,
  { headers, json, named = {} }: TemplateValues,
): { readonly text: string; readonly missing: string | undefined } {
  let missing: string | undefined;
  const text = template.replace(place, (_, inside: string) => {
    const value = inside.startsWith('/')
      ? fieldAt(json, inside)
      : (named[inside] ?? headers.get(inside.replace('header:', '')));
    if (value === null) missing ??= inside;
    return value ?? '';
  });
  return { text, missing };
}

/** The text at a JSON pointer. */
function fieldAt(json: unknown, pointer: string): string | null {
  let at: unknown = json;
  for (const step of pointer.slice(1).split('/')) {
    const own = step.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, own)) return null;
    at = (at as Readonly<Record<string, unknown>>)[own]; // it is an object that has the key
  }
  return ['string', 'number', 'boolean'].includes(typeof at) ? String(at) : null;
}
