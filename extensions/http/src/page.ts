import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** The chat page, and the policy that lets a browser run its own script and nothing else. */
export interface Page {
  readonly html: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Reads the page. */
export function readPage(): Page {
  const html = readFileSync(new URL('../page/index.html', import.meta.url), 'utf8'); // from the source as from the build
  const hashOf = (element: string): string => {
    const [, text = ''] = new RegExp(`<${element}>([^]*?)</${element}>`).exec(html) ?? [];
    return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
  };
  const policy = [
    ...["default-src 'none'", `script-src ${hashOf('script')}`, `style-src ${hashOf('style')}`],
    ...["connect-src 'self'", 'img-src data:', "base-uri 'none'", "form-action 'none'"],
    "frame-ancestors 'none'",
  ];
  const headers = {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': policy.join('; '),
    'cross-origin-opener-policy': 'same-origin',
    'referrer-policy': 'no-referrer',
  };
  return { html, headers };
}
