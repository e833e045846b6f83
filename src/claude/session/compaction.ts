import type { AutoCompactionStart, SessionEvent } from '@sluice/sdk/stream';
import { type CsdkFrame, type Fields, isFields, textField } from '../frames/frame.js';
import type { MessageReader } from '../messages/message-reader.js';
import type { DiagnosticFact } from './session-diagnostic.js';

type Reason = AutoCompactionStart['reason'];

/** The end of a compaction, as far as a frame tells it. */
interface CompactionEnd {
  readonly result?: unknown;
  readonly aborted?: boolean;
  readonly willRetry?: boolean;
  readonly errorMessage?: string;
}

/**
 * The frames that still come for a compaction that has been reported as ended: none; the boundary that follows a
 * status; or, where only a hook told of it and the hook was ahead of the frames, all of its frames (csdk §5).
 */
type Echo = 'none' | 'boundary' | 'frames';

/**
 * The compactions of a run: never two at once, each reported once, although hooks, status frames, boundaries and
 * blocks all tell of it. Each frame that tells of one closes the turn that is open (csdk §5).
 */
export function compactions(
  emit: (event: SessionEvent) => void,
  report: (fact: DiagnosticFact) => void,
  messages: () => MessageReader,
) {
  let open: 'hook' | 'frame' | 'block' | undefined;
  let echo: Echo = 'none';
  /** One that a hook announced while a message was open: the hook may be ahead of that message's frames. */
  let announced: Reason | undefined;

  function start(by: 'hook' | 'frame' | 'block', reason: Reason): void {
    if (open === undefined) emit({ type: 'auto_compaction_start', reason });
    if (open !== 'block') open = by === 'hook' ? (open ?? by) : by;
  }

  function finish({ result, aborted, willRetry, errorMessage }: CompactionEnd): void {
    open = undefined;
    emit({
      type: 'auto_compaction_end',
      ...(result !== undefined && { result }),
      aborted: aborted === true,
      willRetry: willRetry === true,
      ...(errorMessage !== undefined && { errorMessage }),
    });
  }

  /** A hook announces one, ahead of its frames. */
  function hooked(reason: Reason): void {
    echo = 'none';
    start('hook', reason);
  }

  /** One ended, and more will be heard of it: a status, or a hook, says so. */
  function settle(end: CompactionEnd, by: 'hook' | 'frame'): void {
    if (open === undefined) return;
    const isHooksAlone = by === 'hook' && open === 'hook';
    finish(end);
    if (end.errorMessage === undefined) echo = isHooksAlone ? 'frames' : 'boundary';
  }

  /** A boundary would now be about a compaction that has been reported. */
  const isBoundaryRepeated = (): boolean => open === undefined && echo !== 'none';

  const repeated = (type: string): void => report({ kind: 'repeated_compaction', type });

  return {
    /** `system/status`. The CLI has a status for /compact; automatic compactions have the boundary alone. */
    status(frame: CsdkFrame): void {
      if (frame.status === undefined) return;
      if (frame.status !== 'compacting') {
        const failed = frame.compact_result === 'failed';
        const errorMessage = textField(frame, 'compact_error') ?? 'the compaction failed';
        settle({ willRetry: willRetry(frame), ...(failed && { errorMessage }) }, 'frame');
      } else if (echo === 'frames') {
        echo = 'boundary';
        repeated('status');
      } else {
        messages().displace();
        echo = 'none';
        start('frame', 'manual');
      }
    },

    /** `system/compact_boundary`: it ends an open compaction, repeats an ended one, or reports one that had no start. */
    boundary(frame: CsdkFrame): void {
      if (!isBoundaryRepeated()) messages().displace();
      const { compact_metadata: result } = frame;
      if (isBoundaryRepeated()) repeated('compact_boundary');
      else {
        start('frame', reasonOf(isFields(result) ? result.trigger : undefined));
        finish({ result, willRetry: willRetry(frame) });
      }
      echo = 'none';
    },

    /** `system/hook_started`. */
    hookStarted(frame: CsdkFrame): void {
      if (frame.hook_event !== 'PreCompact') return;
      if (echo === 'frames') repeated('hook_started');
      else {
        messages().displace();
        hooked('threshold');
      }
    },

    /** A hook that the host has. */
    hook(event: string, input: Fields): void {
      if (event === 'PostCompact') settle({ result: { summary: input.compact_summary } }, 'hook');
      if (event !== 'PreCompact') return;
      if (messages().open === undefined) hooked(reasonOf(input.trigger));
      else announced = reasonOf(input.trigger);
    },

    /** A message has ended: what a hook announced in it begins. */
    messageEnded(): void {
      const reason = announced;
      announced = undefined;
      if (reason !== undefined) hooked(reason);
    },

    /** A block of a message is one, or has ended, or its message has. */
    block(phase: 'start' | 'end'): void {
      if (phase === 'start') start('block', 'threshold');
      else if (open === 'block') finish({});
    },

    /** `system/init`: the session begins anew, as it usually does before the boundary of a manual compaction. */
    sessionBegan(): void {
      if (open === undefined || open === 'block') return;
      finish({});
      echo = 'boundary';
    },

    /** A message of the model begins, or goes on: a compaction has ended, whatever was told of it. */
    modelSpoke(): void {
      if (echo === 'boundary') echo = 'none';
      if (open === undefined || open === 'block') return;
      const by = open;
      finish({});
      if (by === 'hook') echo = 'frames'; // the hook may have overtaken these very frames
    },

    /** A turn ends, or the run. */
    end(aborted: boolean): void {
      if (open !== undefined) finish({ aborted });
      if (echo === 'boundary') echo = 'none';
    },
  };
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
