/** The text that stands in place of a secret. */
export const redacted = '<token>';

/**
 * Makes what takes a secret out of texts: as it is, as part of a URL, and its second half alone, which is the part
 * that must not be known.
 */
export function redactor(token: string): (text: string) => string {
  const secrets = [token, encodeURIComponent(token), token.slice(token.indexOf(':') + 1)];
  return (text) => secrets.reduce((clean, secret) => clean.replaceAll(secret, redacted), text);
}
