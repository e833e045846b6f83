import type { AutoCompactionStart, SessionEvent } from '../../stream/index.js';
import type { DiagnosticFact } from './session-diagnostic.js';

type Reason = AutoCompactionStart['reason'];

/** The end of a compaction, as far as a frame tells it. */
export interface CompactionEnd {
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
 * The compactions of a run: never two at once, each reported once, although hooks, status frames and boundaries
 * all tell of it.
 */
export class Compaction {
  readonly #emit: (event: SessionEvent) => void;
  readonly #tell: (fact: DiagnosticFact) => void;
  #open: 'hook' | 'frame' | 'block' | undefined;
  #echo: Echo = 'none';

  constructor(emit: (event: SessionEvent) => void, tell: (fact: DiagnosticFact) => void) {
    this.#emit = emit;
    this.#tell = tell;
  }

  /** A hook announces one, ahead of its frames. */
  hook(reason: Reason): void {
    this.#echo = 'none';
    this.#start('hook', reason);
  }

  /** A frame says that the hook runs. */
  hookFrame(reason: Reason): void {
    if (this.#echo === 'frames') this.#tell({ kind: 'repeated_compaction', type: 'hook_started' });
    else this.hook(reason);
  }

  /** A block of a message is one. */
  block(): void {
    this.#start('block', 'threshold');
  }

  /** A status says that one runs. */
  status(reason: Reason): void {
    if (this.isStatusRepeated) {
      this.#echo = 'boundary';
      this.#tell({ kind: 'repeated_compaction', type: 'status' });
      return;
    }
    this.#echo = 'none';
    this.#start('frame', reason);
  }

  /** A status of a compaction would now be about one that has been reported. */
  get isStatusRepeated(): boolean {
    return this.#echo === 'frames';
  }

  /** One ended, and more will be heard of it: a status, or a hook, says so. */
  settle(end: CompactionEnd, by: 'hook' | 'frame'): void {
    if (this.#open === undefined) return;
    const isHooksAlone = by === 'hook' && this.#open === 'hook';
    this.#finish(end);
    if (end.errorMessage === undefined) this.#echo = isHooksAlone ? 'frames' : 'boundary';
  }

  /** The boundary: it ends the one that is open, repeats one that has ended, or is all that is told of one. */
  boundary(reason: Reason, end: CompactionEnd): void {
    if (this.isBoundaryRepeated) {
      this.#echo = 'none';
      this.#tell({ kind: 'repeated_compaction', type: 'compact_boundary' });
      return;
    }
    this.#start('frame', reason);
    this.#finish(end);
    this.#echo = 'none';
  }

  /** A boundary would now be about a compaction that has been reported. */
  get isBoundaryRepeated(): boolean {
    return this.#open === undefined && this.#echo !== 'none';
  }

  /** The block that is one has ended, or its message has. */
  blockEnded(): void {
    if (this.#open === 'block') this.#finish({});
  }

  /** The session begins anew: the usual way of a manual compaction, before its boundary. */
  sessionBegan(): void {
    if (this.#open === undefined || this.#open === 'block') return;
    this.#finish({});
    this.#echo = 'boundary';
  }

  /** The model speaks: it has ended, whatever was told of it. */
  modelSpoke(): void {
    if (this.#echo === 'boundary') this.#echo = 'none';
    if (this.#open === undefined || this.#open === 'block') return;
    const open = this.#open;
    this.#finish({});
    if (open === 'hook') this.#echo = 'frames'; // the hook may have overtaken these very frames
  }

  /** The run ends, or a turn of it. */
  end(aborted: boolean): void {
    if (this.#open !== undefined) this.#finish({ aborted });
    if (this.#echo === 'boundary') this.#echo = 'none';
  }

  #start(by: 'hook' | 'frame' | 'block', reason: Reason): void {
    if (this.#open === undefined) this.#emit({ type: 'auto_compaction_start', reason });
    if (this.#open !== 'block') this.#open = by === 'hook' ? (this.#open ?? by) : by;
  }

  #finish({ result, aborted, willRetry, errorMessage }: CompactionEnd): void {
    this.#open = undefined;
    this.#emit({
      type: 'auto_compaction_end',
      ...(result !== undefined && { result }),
      aborted: aborted === true,
      willRetry: willRetry === true,
      ...(errorMessage !== undefined && { errorMessage }),
    });
  }
}
