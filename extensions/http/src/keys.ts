import { createHash, timingSafeEqual } from 'node:crypto';
import type { HttpConfig } from './config.js';

/** The one that a request comes from. */
export interface Caller {
  readonly name: string;
  /** A key has proven it. */
  readonly isProven: boolean;
  /** It speaks for several people. */
  readonly isFrontEnd: boolean;
}

/**
 * Finds the caller of an `Authorization` header. Each key is compared, in the same time whatever was given.
 *
 * @returns nothing if keys are needed, and this is none.
 */
export function callerOf(
  { keys }: Pick<HttpConfig, 'keys'>,
  authorization: string,
): Caller | undefined {
  if (keys.length === 0) return { name: 'local', isProven: false, isFrontEnd: false };
  const given = sha256(authorization.replace(/^bearer +/i, ''));
  let caller: Caller | undefined;
  for (const { name, sha256: wanted, frontEnd } of keys)
    if (timingSafeEqual(given, Buffer.from(wanted, 'hex')))
      caller = { name, isProven: true, isFrontEnd: frontEnd };
  return caller;
}

export function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** The bytes of a secret that signs, also of one as Standard Webhooks writes it. */
export function secretOf(secret: string): Buffer {
  return secret.startsWith('whsec_') ? Buffer.from(secret.slice(6), 'base64') : Buffer.from(secret);
}

/** A short name for plain data: different data has a different name. */
export function digestOf(...data: readonly unknown[]): string {
  return sha256(JSON.stringify(data)).toString('hex').slice(0, 32);
}
