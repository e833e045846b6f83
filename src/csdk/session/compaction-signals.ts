import type { AutoCompactionStart } from '../../stream/index.js';
import { type CsdkFrame, isFields, textField } from '../frames/frame.js';
import type { MessageReader } from '../messages/message-reader.js';
import type { Compaction } from './compaction.js';

type Fields = Readonly<Record<string, unknown>>;
type Reason = AutoCompactionStart['reason'];

/** The frames and hooks that tell of compactions: each closes the turn that is open (csdk §5). */
export class CompactionSignals {
  readonly #compaction: Compaction;
  readonly #messages: MessageReader;
  /** One that a hook announced while a message was open: the hook may be ahead of that message's frames. */
  #announced: Reason | undefined;

  constructor(compaction: Compaction, messages: MessageReader) {
    this.#compaction = compaction;
    this.#messages = messages;
  }

  /** `system/status`. */
  status(frame: CsdkFrame): void {
    if (frame.status === 'compacting') {
      if (!this.#compaction.isStatusRepeated) this.#messages.displace();
      this.#compaction.status('manual'); // the CLI has a status for /compact; automatic ones have the boundary alone
    } else if (frame.status !== undefined) {
      const failed = frame.compact_result === 'failed';
      const errorMessage = textField(frame, 'compact_error') ?? 'the compaction failed';
      this.#compaction.settle(
        { willRetry: willRetry(frame), ...(failed && { errorMessage }) },
        'frame',
      );
    }
  }

  /** `system/compact_boundary`. */
  boundary(frame: CsdkFrame): void {
    const metadata = isFields(frame.compact_metadata) ? frame.compact_metadata : {};
    if (!this.#compaction.isBoundaryRepeated) this.#messages.displace();
    this.#compaction.boundary(reasonOf(metadata.trigger), {
      result: frame.compact_metadata,
      willRetry: willRetry(frame),
    });
  }

  /** `system/hook_started`. */
  hookStarted(frame: CsdkFrame): void {
    if (frame.hook_event !== 'PreCompact') return;
    if (!this.#compaction.isStatusRepeated) this.#messages.displace();
    this.#compaction.hookFrame('threshold');
  }

  /** A hook that the host has. */
  hook(event: string, input: Fields): void {
    if (event === 'PreCompact') {
      const reason = reasonOf(input.trigger);
      if (this.#messages.open === undefined) this.#compaction.hook(reason);
      else this.#announced = reason;
    } else if (event === 'PostCompact')
      this.#compaction.settle({ result: { summary: input.compact_summary } }, 'hook');
  }

  /** A message has ended: what a hook announced in it begins. */
  messageEnded(): void {
    const reason = this.#announced;
    this.#announced = undefined;
    if (reason !== undefined) this.#compaction.hook(reason);
  }

  /** `system/init`. */
  sessionBegan(): void {
    this.#compaction.sessionBegan();
  }

  /** A message of the model begins, or goes on. */
  modelSpoke(): void {
    this.#compaction.modelSpoke();
  }

  /** A turn ends, or the run. */
  end(aborted: boolean): void {
    this.#compaction.end(aborted);
  }
}

function reasonOf(trigger: unknown): Reason {
  return trigger === 'manual' ? 'manual' : 'threshold';
}

/** The SDK has no such field; other writers of these frames do (csdk §5.6). */
function willRetry(frame: CsdkFrame): boolean {
  const metadata = isFields(frame.compact_metadata) ? frame.compact_metadata : {};
  return [frame.willRetry, frame.will_retry, metadata.willRetry, metadata.will_retry].includes(
    true,
  );
}
