import type { MessageEnd } from '../../host/index.js';
import type { Clock, Outcome } from '../../kernel/index.js';
import type { Layout } from '../print/layout.js';
import { printable } from '../shell/text.js';
import { isEventful, stageLines, Way } from './way.js';

/**
 * Sorts dispatches by the message that they belong to, and prints the way of each message when it has ended. A dispatch of no
 * message (start, drain, accounts) is printed at once, if a handler had a part in it.
 */
export class WayPrinter {
  readonly #ways = new Map<string, { readonly way: Way; beganMs: number }>();
  readonly #print: (lines: readonly string[]) => void;
  readonly #layout: Layout;
  readonly #clock: Pick<Clock, 'monotonicMs'>;

  constructor(
    print: (lines: readonly string[]) => void,
    layout: Layout,
    clock: Pick<Clock, 'monotonicMs'>,
  ) {
    this.#print = print;
    this.#layout = layout;
    this.#clock = clock;
  }

  /** Takes a dispatch: the kernel's tap. */
  add(outcome: Outcome): void {
    const { correlationId, family } = outcome.event;
    let open = this.#ways.get(correlationId);
    if (open === undefined && family.startsWith('ingress.')) {
      open = { way: new Way(this.#layout), beganMs: this.#clock.monotonicMs() };
      this.#ways.set(correlationId, open);
    }
    if (open !== undefined) {
      if (family === 'ingress.normalized') open.beganMs = this.#clock.monotonicMs(); // it waited in its lane till now
      open.way.add(outcome);
    } else if (isEventful(outcome)) this.#print(stageLines(outcome, this.#layout));
  }

  /** Prints the way of a message that has ended. */
  end({ correlationId = '', status, reason }: MessageEnd): void {
    const open = this.#ways.get(correlationId);
    if (open === undefined) return;
    this.#ways.delete(correlationId);
    const ending = reason === undefined ? status : `${status} (${printable(reason)})`;
    this.#print(open.way.end(ending, this.#clock.monotonicMs() - open.beganMs));
  }
}
