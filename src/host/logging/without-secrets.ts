const shortest = 6;

/**
 * Makes a function that takes secrets out of a text, also where the text is JSON and they are written with escapes.
 * What is shorter than six characters is no secret: taking it out would tear up ordinary words.
 *
 * @example
 * withoutSecrets(['hunter22'])('token hunter22 was refused'); // 'token [secret] was refused'
 */
export function withoutSecrets(secrets: readonly string[]): (text: string) => string {
  const forms = secrets.flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1)]);
  const wanted = [...new Set(forms)]
    .filter(({ length }) => length >= shortest)
    .sort((one, other) => other.length - one.length); // one may hold another
  if (wanted.length === 0) return (text) => text;
  return (text) => wanted.reduce((left, secret) => left.replaceAll(secret, '[secret]'), text);
}
