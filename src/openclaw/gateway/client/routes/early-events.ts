import { type Clock, Timer } from 'sluice-kernel/internal';

/** Bounds the events of runs that are not registered yet. */
const maxEvents = 1_000;

/** Bounds the characters of those events. */
const maxChars = 4 * 1024 * 1024;

/** Milliseconds after an acknowledgement in which its run may be registered. */
const graceMs = 1_000;

/**
 * Keeps events that come before their run is registered: a gateway may begin to tell of a run before it has
 * acknowledged it. They are kept only while somebody waits for an acknowledgement, and shortly after.
 */
export function earlyEvents<Event extends { readonly runId: string }>(
  clock: Clock,
  onDrop: () => void,
) {
  let kept: { readonly event: Event; readonly chars: number }[] = [];
  let keptChars = 0;
  let waiting = 0;
  const grace = new Timer(clock);

  function clear(): void {
    kept = [];
    keptChars = 0;
    grace.clear();
  }

  return {
    size: (): number => kept.length,

    /** Notes that somebody waits for an acknowledgement, until the returned function is called once. */
    expect(): () => void {
      waiting++;
      return () => {
        if (--waiting > 0) return;
        grace.setIdly(graceMs, () => {
          if (waiting === 0) clear();
        });
      };
    },

    /** Keeps an event, if its run may still be registered. @param chars the length of its frame. */
    keep(event: Event, chars: number): void {
      if (waiting === 0 && !grace.isSet) return;
      kept.push({ event, chars });
      keptChars += chars;
      while (kept.length > maxEvents || keptChars > maxChars) {
        keptChars -= kept.shift()?.chars ?? 0;
        onDrop();
      }
    },

    /** Takes the events of a run out, in the order in which they came. */
    take(runId: string): readonly Event[] {
      const taken = kept.filter(({ event }) => event.runId === runId);
      if (taken.length === 0) return [];
      kept = kept.filter(({ event }) => event.runId !== runId);
      keptChars = kept.reduce((sum, { chars }) => sum + chars, 0);
      return taken.map(({ event }) => event);
    },
    clear,
  };
}

/** The parts of `earlyEvents` that others use. */
export type EarlyEvents<Event extends { readonly runId: string }> = ReturnType<
  typeof earlyEvents<Event>
>;
