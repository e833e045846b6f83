import { createHash, timingSafeEqual } from 'node:crypto';

/**
 * Makes what judges an `Authorization` header. How long it takes says nothing of the token: two digests of one length
 * are compared.
 *
 * @param token without one, everybody may ask.
 */
export function bearerCheck(token: string | undefined): (header: string | undefined) => boolean {
  if (token === undefined) return () => true;
  const wanted = digest(token);
  return (header = '') => {
    const given = /^bearer +(\S+)$/i.exec(header)?.[1];
    return given !== undefined && timingSafeEqual(digest(given), wanted);
  };
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
