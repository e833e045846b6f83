import type { IncomingMessage } from 'node:http';

/** How many bytes the body of a request may have. */
export const maxRequestBytes = 16 * 1_024;

/**
 * Reads a body, as far as it may go.
 *
 * @returns nothing if it is longer; the rest of it is not read then.
 * @throws Error where the connection breaks.
 */
export function requestBody(request: IncomingMessage): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const tooLong = (): void => {
      request.pause(); // and not destroyed: the answer goes back by its connection
      resolve(undefined);
    };
    if (Number(request.headers['content-length'] ?? 0) > maxRequestBytes) return tooLong();
    request.on('data', (chunk: Buffer) => {
      size += chunk.byteLength;
      if (size > maxRequestBytes) tooLong();
      else chunks.push(chunk);
    });
    request.on('end', () => resolve(Buffer.concat(chunks).toString('utf8')));
    request.on('error', reject);
  });
}
