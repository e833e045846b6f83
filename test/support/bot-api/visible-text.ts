const known = /^(b|strong|i|em|u|ins|s|strike|del|code|pre|a|blockquote|tg-spoiler)$/;

/** The text of HTML as people see it; nothing where Telegram would refuse it. Written apart from what it checks. */
export function visibleText(html: string): string | undefined {
  const open: string[] = [];
  let text = '';
  for (let at = 0; at < html.length; ) {
    const rest = html.slice(at);
    if (rest.startsWith('<')) {
      const end = rest.indexOf('>');
      if (end < 0) return undefined;
      const inside = rest.slice(1, end);
      const name = inside.replace(/^\//, '').split(/\s/)[0] ?? '';
      if (!known.test(name)) return undefined;
      if (!inside.startsWith('/')) open.push(name);
      else if (open.pop() !== name) return undefined;
      at += end + 1;
    } else if (rest.startsWith('&')) {
      const end = rest.indexOf(';');
      const name = end < 0 ? '' : rest.slice(1, end);
      const char = { lt: '<', gt: '>', amp: '&', quot: '"' }[name];
      if (char === undefined) return undefined;
      text += char;
      at += end + 1;
    } else {
      const next = rest.search(/[<&]/);
      const until = next < 0 ? rest.length : next;
      text += rest.slice(0, until);
      at += until;
    }
  }
  return open.length === 0 ? text : undefined;
}
