/** The ends that the body of an answer may have. */
export interface BodyEnds {
  /** All of it was read, nobody wants the rest, or it was stopped. */
  done(): void;
  /** Its source has thrown. */
  failed(error: unknown): void;
}

/** Passes a body on. It breaks off when the signal aborts; one of the ends is called once. */
export function boundedBody(
  body: ReadableStream<Uint8Array>,
  signal: AbortSignal,
  ends: BodyEnds,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  let isOver = false;
  const isFirst = (): boolean => !isOver && (isOver = true);
  return new ReadableStream<Uint8Array>(
    {
      start: (out) => {
        const stop = (): void => {
          if (!isFirst()) return;
          out.error(signal.reason);
          ends.done();
          reader.cancel(signal.reason).catch(() => undefined); // nobody reads it any more
        };
        if (signal.aborted) stop();
        else signal.addEventListener('abort', stop, { once: true });
      },
      pull: async (out) => {
        try {
          const part = await reader.read();
          if (isOver) return;
          if (!part.done) out.enqueue(part.value);
          else if (isFirst()) {
            out.close();
            ends.done();
          }
        } catch (error) {
          if (isFirst()) ends.failed(error);
          throw error;
        }
      },
      cancel: (reason) => {
        if (isFirst()) ends.done();
        return reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}
