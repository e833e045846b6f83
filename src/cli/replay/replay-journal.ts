import { hostExtensionId, type ReplayedDispatch, replayDispatches } from '@sluice/host/internal';
import type { DispatchRecord } from '@sluice/journal';
import {
  type Author,
  definedFields,
  type Kernel,
  nameOf,
  type PlannedHandler,
} from 'sluice-kernel/internal';
import { jsonLine } from '../print/json-line.js';
import { laidOut } from '../print/layout.js';
import type { Shell } from '../shell/shell.js';
import { counted, printable } from '../shell/text.js';

/**
 * Dispatches the records of a journal again, and prints the differences.
 *
 * @param isOff names the handlers whose results are not compared. @param clear takes away what stands in the way of a line.
 * @returns how many were replayed, and how many would come to something else today.
 */
export async function replayJournal(
  kernel: Kernel,
  { stdout, palettes, width, stop }: Shell,
  wanted: {
    readonly json: boolean;
    readonly records: AsyncIterable<DispatchRecord> | Iterable<DispatchRecord>;
    readonly isOff: (author: Author) => boolean;
    readonly clear: () => void;
  },
) {
  const { json, records, isOff, clear } = wanted;
  let [replayed, differing] = [0, 0];
  const left = new Map<string, number>();
  const palette = palettes.stdout;
  for await (const one of replayDispatches(kernel, records, isOff)) {
    if (stop.aborted) break;
    if (one.notReplayed !== undefined)
      left.set(one.notReplayed, (left.get(one.notReplayed) ?? 0) + 1);
    else replayed++;
    if (json) {
      stdout.lines([jsonLine(dataOf(one))]);
    } else if (one.differences.length > 0) {
      const { family, eventId: id } = one.recorded.event;
      clear();
      stdout.lines([
        palette.strong(`${family} ${printable(id)}`),
        ...one.differences.flatMap(({ what }) =>
          laidOut(printable(what), 2, palette.changed, width),
        ),
      ]);
    }
    if (one.differences.length > 0) differing++;
    await stdout.flush();
  }
  clear();
  if (!json) {
    const reasons = [...left].map(([why, count]) => `${count} ${words[why] ?? why}`);
    const rest = reasons.length === 0 ? '' : `; not replayed: ${reasons.join(', ')}`;
    stdout.lines([
      palette.strong(
        `${counted(replayed, 'dispatch', 'dispatches')} replayed, ${differing} would differ${rest}`,
      ),
    ]);
  }
  return { replayed, differing };
}

const words: Readonly<Record<string, string>> = {
  'no-payload': 'without a payload',
  nested: 'that a handler makes',
  'does-not-fit': 'that no longer fit',
};

function dataOf({ recorded, today, notReplayed, differences }: ReplayedDispatch): object {
  const { eventId, family, correlationId } = recorded.event;
  return {
    eventId,
    family,
    correlationId,
    ...definedFields({ notReplayed }),
    was: recorded.status,
    ...(today !== undefined && { is: today.status }),
    differences,
  };
}

/** Tells which handlers of a kernel are observers: an observer decides nothing, and only has effects. */
export function observersOf(kernel: Kernel): (author: Author) => boolean {
  const names = new Set(
    kernel
      .stages()
      .flatMap(({ handlers }): readonly PlannedHandler[] => handlers)
      .filter((one) => one.class === 'observer' && one.extensionId !== hostExtensionId)
      .map(nameOf),
  );
  return (author) => names.has(nameOf(author));
}
