/** Text from outside that says too much about nothing. */
const maxLength = 500;

/**
 * Makes text from outside fit to be shown: without the secrets, on one line, of bounded length. A gateway, or a
 * proxy before it, may say back what it was sent.
 */
export function redactor(secrets: readonly (string | undefined)[]): (text: string) => string {
  const known = secrets.filter((secret): secret is string => secret !== undefined && secret !== '');
  return (text) => {
    let shown = text;
    for (const secret of known) shown = shown.replaceAll(secret, '[secret]');
    shown = shown.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ');
    return shown.length <= maxLength ? shown : `${shown.slice(0, maxLength)}…`;
  };
}
