/** Characters of a secret that are taken out of a text where they stand beside each other. */
const pieceChars = 8;
const secretHeader = /auth|key|token|secret|cookie/i;

/** Makes what takes the secrets of a request out of texts, and pieces of them: servers repeat a key that they do not know. */
export function redactor(headers: Headers): (text: string) => string {
  const secrets = [...headers].flatMap(([name, value]) =>
    secretHeader.test(name) ? value.split(/[\s;,=]+/) : [],
  );
  const pieces = new Set(
    secrets.flatMap((one) =>
      Array.from({ length: Math.max(0, one.length - pieceChars + 1) }, (_, at) =>
        one.slice(at, at + pieceChars),
      ),
    ),
  );
  return (text) => {
    let clean = '';
    let hiddenTo = 0;
    for (let at = 0; at < text.length; at++) {
      const isPiece = pieces.has(text.slice(at, at + pieceChars));
      if (isPiece && at >= hiddenTo) clean += '<key>';
      if (isPiece) hiddenTo = at + pieceChars;
      else if (at >= hiddenTo) clean += text.charAt(at);
    }
    return clean;
  };
}
