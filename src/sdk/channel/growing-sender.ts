import type { StreamDelta, StreamSender } from '../stream/index.js';
import type { SendResult } from './message.js';
import type { SendPermit } from './permit.js';
import type { StreamPermits } from './stream-permits.js';

/** A place where one reply is shown while it grows: a message that is edited, or lines that are drawn again. */
export interface GrowingSurface {
  /** Shows a part in the place of the one before. A surface that is slow shows the newest alone. */
  show(part: StreamDelta & { phase: 'thinking' | 'content' }): Promise<void>;
  /** Shows the final in that place, and takes its permit. No part comes after it. */
  finish(permit: SendPermit, delta: StreamDelta & { phase: 'final' }): Promise<SendResult>;
  /** Takes back what was shown. No part comes after it. @param error the reason why the reply failed. */
  remove(error?: string): Promise<void>;
}

/** Shows one reply on a surface, by its permits: it is hidden, then shown, and has one end. */
export function growingSender(permits: StreamPermits, surface: GrowingSurface): StreamSender {
  let isOver = false;
  const show: GrowingSurface['show'] = async (part) => {
    if (!isOver) await surface.show(part);
  };
  const end = async (last: () => Promise<void>): Promise<void> => {
    if (isOver) return;
    isOver = true;
    await last();
  };
  return {
    onThinkingDelta: show,
    onContentDelta: show,
    onFinal: (delta) =>
      end(async () => {
        const permit = permits.final();
        if (permit === undefined) await surface.remove();
        else permits.report(await surface.finish(permit, delta));
      }),
    onError: ({ error }) => end(() => surface.remove(error)),
    abort: () => end(() => surface.remove()),
  };
}
