import { tapRelayOf } from '@sluice/sdk/extension/internal';
import {
  type Clock,
  isThenable,
  type Kernel,
  type KernelOptions,
  type Logger,
  silentLogger,
  systemClock,
  type Tap,
} from 'sluice-kernel/internal';
import type { LiveEntry, NewEntry } from './timeline-entry.js';

declare module '@sluice/sdk/extension' {
  interface Facts {
    readonly live: LiveEntry;
  }
}

/** Hears each entry when it has happened. An error that it throws is logged, and changes nothing. */
export type TimelineListener = (entry: LiveEntry) => void;

/** The one place where the entries of a host come together. */
export interface TimelineRecorder {
  /** Somebody listens. */
  readonly isHeard: boolean;
  /** Hears every entry from now on. @param whose for the log. */
  listen(listener: TimelineListener, whose?: { readonly extensionId: string }): Disposable;
  /** Records an entry, which is made only if somebody listens. */
  record(make: () => NewEntry): void;
  /**
   * Options for the kernel of the host: it tells of its dispatches from the first one on, with a trace. Without a listener there
   * are none, and nothing is paid.
   */
  kernelOptions(): Pick<KernelOptions, 'tap'>;
  /** Hears a kernel and its extensions: a kernel that was not made with `kernelOptions` is tapped as long as somebody listens. */
  attach(kernel: Kernel): void;
}

/**
 * Makes a recorder (sight §1). Give the same one to the kernel and to the host.
 *
 * @example
 * const timeline = timelineRecorder();
 * using _lines = timeline.listen((entry) => console.log(entry.atMs, entry.kind, entry.id));
 * const kernel = createKernel(timeline.kernelOptions());
 * const host = createHost({ kernel, timeline, agents, channels });
 */
export function timelineRecorder({
  clock = systemClock,
  logger = silentLogger,
}: {
  readonly clock?: Clock;
  readonly logger?: Logger;
} = {}): TimelineRecorder {
  let listeners: readonly TimelineListener[] = [];
  let kernel: Kernel | undefined;
  let tapped: Disposable | undefined;
  let isBuiltIn = false;

  const report = (entry: LiveEntry): void => {
    for (const listener of listeners) listener(entry);
  };
  const tap: Tap = {
    trace: true,
    outcome: (outcome) => {
      const { eventId: id, correlationId, occurredAt: atMs } = outcome.event;
      report({ kind: 'dispatch', id, correlationId, atMs, outcome });
    },
    audit: (record, event) => {
      const { eventId: parentId, correlationId, occurredAt: atMs } = event;
      const id = `${parentId}/${record.extensionId}/${record.contributionId}`;
      report({ kind: 'audit', id, parentId, correlationId, atMs, record, event });
    },
  };
  const change = (next: readonly TimelineListener[]): void => {
    listeners = next;
    if (isBuiltIn || kernel === undefined) return;
    if (next.length > 0) tapped ??= kernel.tap(tap);
    else {
      tapped?.[Symbol.dispose]();
      tapped = undefined;
    }
  };

  const recorder: TimelineRecorder = {
    get isHeard() {
      return listeners.length > 0;
    },
    listen: (listener, whose) => {
      const failed = (error: unknown): void =>
        logger.error('a listener of the timelines failed', {
          ...(whose && { extensionId: whose.extensionId }),
          error,
        });
      const own: TimelineListener = (entry) => {
        try {
          const result: unknown = listener(entry); // JavaScript may return a promise
          if (typeof result === 'object' && result !== null && isThenable(result))
            Promise.resolve(result).catch(failed);
        } catch (error) {
          failed(error);
        }
      };
      change([...listeners, own]);
      return { [Symbol.dispose]: () => change(listeners.filter((one) => one !== own)) };
    },
    record: (make) => {
      if (listeners.length === 0) return;
      report({ atMs: clock.now(), ...make() });
    },
    kernelOptions: () => {
      if (listeners.length === 0) return {};
      isBuiltIn = true;
      return { tap };
    },
    attach: (given) => {
      kernel = given;
      change(listeners);
      tapRelayOf(given).from(recorder);
    },
  };
  return recorder;
}
