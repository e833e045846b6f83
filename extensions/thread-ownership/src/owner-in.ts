/** How many bytes of a body are read for the owner's name. */
export const maxBodyBytes = 64 * 1_024;

/** How long a name may be to be shown. */
const maxOwnerLength = 200;

/**
 * The owner that a refusal names. Nothing if its body is absent, no JSON, names nobody, is longer than
 * `maxBodyBytes` or does not end before the signal. Never rejects: the refusal stands without a name.
 */
export async function ownerIn(
  { body }: Response,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    const text = await textOf(body, signal);
    const { owner } = JSON.parse(text) as { readonly owner?: unknown }; // any other text throws, or has no such field
    return typeof owner === 'string' ? shownName(owner) : undefined;
  } catch {
    return undefined;
  }
}

async function textOf(body: ReadableStream<Uint8Array> | null, signal: AbortSignal) {
  if (body === null) return '';
  const reader = body.getReader();
  let giveUp = (): void => undefined;
  // a body is told of the signal by whoever makes it, or by nobody
  const expiry = new Promise<never>((_, reject) => {
    giveUp = () => reject(new Error('its time is up'));
  });
  expiry.catch(() => undefined); // also where nobody waits for it
  signal.addEventListener('abort', giveUp, { once: true });
  if (signal.aborted) giveUp();
  try {
    const decoder = new TextDecoder();
    let text = '';
    for (let size = 0; ; ) {
      const { done, value } = await Promise.race([reader.read(), expiry]);
      if (done) return text + decoder.decode();
      size += value.byteLength;
      if (size > maxBodyBytes) throw new Error('it is too long');
      text += decoder.decode(value, { stream: true });
    }
  } finally {
    signal.removeEventListener('abort', giveUp);
    void reader.cancel().catch(() => undefined);
  }
}

/** A name of one line: it goes into logs and terminals. */
function shownName(owner: string): string | undefined {
  const name = owner.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ').trim();
  return name === '' ? undefined : name.slice(0, maxOwnerLength);
}
