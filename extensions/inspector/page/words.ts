// Data in words. Nothing here needs a browser.
import type { Author } from './shapes.js';

/** Controls, marks of direction and other characters without a look of their own. */
const unseen = /(?![\n\t\u200d])[\p{Cc}\p{Cf}]/gu;

/** Makes a text from outside plain: what would act on a screen is written out. */
export function plain(text: string): string {
  return text.replace(
    unseen,
    (one) => `\\u${(one.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`,
  );
}

/** Names an author. */
export function nameOf({ extensionId, contributionId }: Author): string {
  return extensionId === undefined ? 'the stage' : `${extensionId}/${contributionId ?? ''}`;
}

/** A length of time. */
export function span(ms: number): string {
  if (ms < 1) return ms === 0 ? '0 ms' : '<1 ms';
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  if (ms < 3_600_000)
    return `${Math.floor(ms / 60_000)} min ${Math.floor((ms % 60_000) / 1_000)} s`;
  return `${Math.floor(ms / 3_600_000)} h ${Math.floor((ms % 3_600_000) / 60_000)} min`;
}

/** A count of things: `1 cancel`, `2 cancels`. */
export function counted(count: number, name: string): string {
  return `${count} ${name}${count === 1 ? '' : 's'}`;
}

/** The parts of a second that a time may have. */
export type Finer = Pick<Intl.DateTimeFormatOptions, 'second' | 'fractionalSecondDigits'>;

/** A time of day on the clock of the reader, to the minute, with the day if that is not today. */
export function clockOf(ms: number, finer: Finer = {}): string {
  const date = new Date(ms);
  const isToday = date.toDateString() === new Date().toDateString();
  const day = isToday ? {} : ({ month: 'short', day: 'numeric' } as const);
  const minutes = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const;
  return date.toLocaleString('en', { ...day, ...minutes, ...finer });
}
