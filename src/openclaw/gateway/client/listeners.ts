/** Those who want to hear of something. What one throws does not reach the others, nor who tells. */
export function listeners<T>(onError: (error: unknown) => void) {
  const entries = new Set<{ readonly listener: (value: T) => void }>();

  return {
    size: (): number => entries.size,

    /** Adds one, until what is returned is disposed. */
    add(listener: (value: T) => void): Disposable {
      const entry = { listener };
      entries.add(entry);
      return { [Symbol.dispose]: () => void entries.delete(entry) };
    },

    report(value: T): void {
      for (const { listener } of [...entries]) {
        try {
          listener(value);
        } catch (error) {
          onError(error);
        }
      }
    },
  };
}
