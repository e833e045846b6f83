/** The values that the places of a template stand for. */
export interface TemplateValues {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
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
 * @returns the text, or the first place that has no value.
 */
export function fill(
  template: string,
  values: TemplateValues,
): { readonly text: string } | { readonly missing: string } {
  let missing: string | undefined;
  const text = template.replace(place, (_, inside: string) => {
    const value = valueAt(inside, values);
    if (value === undefined) missing ??= inside;
    return value ?? '';
  });
  return missing === undefined ? { text } : { missing };
}

function valueAt(inside: string, { headers, json, named }: TemplateValues): string | undefined {
  if (!inside.startsWith('/')) {
    if (!inside.startsWith('header:')) return named?.[inside];
    const header = headers[inside.slice('header:'.length).toLowerCase()];
    return typeof header === 'string' ? header : undefined;
  }
  let at: unknown = json;
  for (const step of inside.slice(1).split('/')) {
    const own = step.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, own)) return undefined;
    at = (at as Readonly<Record<string, unknown>>)[own]; // it is an object that has the key
  }
  if (typeof at === 'string') return at;
  return typeof at === 'number' || typeof at === 'boolean' ? String(at) : undefined;
}
