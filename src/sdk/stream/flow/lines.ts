/**
 * Cuts a stream of text or bytes into lines, without their ends (LF or CRLF). A last line without an end
 * counts. Holds no more than one line and one chunk.
 *
 * @example
 * for await (const line of readLines(process.stdin)) console.log(line);
 */
export async function* readLines(
  chunks: AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>,
): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of chunks) {
    rest += typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true });
    let from = 0;
    for (let end = rest.indexOf('\n'); end !== -1; end = rest.indexOf('\n', from)) {
      yield withoutReturn(rest.slice(from, end));
      from = end + 1;
    }
    rest = rest.slice(from);
  }
  rest += decoder.decode();
  if (rest !== '') yield withoutReturn(rest);
}

function withoutReturn(line: string): string {
  return line.endsWith('\r') ? line.slice(0, -1) : line;
}
