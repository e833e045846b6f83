const entities: Readonly<Record<string, string>> = { '&amp;': '&', '&lt;': '<', '&gt;': '>' };

/**
 * The text of a message as its writer wrote it: links as Markdown, channels and groups by their names. A mention of a
 * person stays as Slack writes it, `<@U012AB3CD>`: it is an id, and names are not in the message.
 */
export function readableText(text: string): string {
  const links = text.replace(/<([^<>]+)>/g, (whole, inside: string) => {
    if (!/^(?:[#!]|[a-z][a-z\d+.-]*:)/i.test(inside)) return whole;
    const [target = '', label] = inside.split(/\|(.*)/s);
    if (target.startsWith('#')) return `#${label || target.slice(1)}`;
    if (target.startsWith('!')) return label || `@${target.slice(1).split('^')[0]}`;
    return label === undefined || label === target ? target : `[${label}](${target})`;
  });
  return links.replace(/&(?:amp|lt|gt);/g, (entity) => entities[entity] ?? entity).trim();
}

/** Returns whether a text mentions a member. */
export function mentions(text: string, userId: string): boolean {
  return text.includes(`<@${userId}>`) || text.includes(`<@${userId}|`);
}
