/** Characters of a secret that are taken out of a text where they stand beside each other. */
const pieceChars = 8;
const secretHeader = /auth|key|token|secret|cookie/i;

/** Makes what takes the secrets of a request out of texts, and pieces of them: servers repeat a key that they do not know. */
export function redactor(headers: Headers): (text: string) => string {
  const pieces = new Set<string>();
  for (const [name, value] of headers)
    for (const one of secretHeader.test(name) ? value.split(/[\s;,=]+/) : [])
      for (let at = 0; at <= one.length - pieceChars; at++)
        pieces.add(one.slice(at, at + pieceChars));
  return (text) => {
    let clean = '';
    let hiddenTo = 0;
    for (let at = 0; at < text.length; at++) {
      const isPiece = pieces.has(text.slice(at, at + pieceChars));
      if (at >= hiddenTo) clean += isPiece ? '<key>' : text.charAt(at);
      if (isPiece) hiddenTo = at + pieceChars;
    }
    return clean;
  };
}
