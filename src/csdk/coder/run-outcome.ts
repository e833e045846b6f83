import { oneLine } from '../../kernel/index.js';
import { failureCode } from '../frames/failure-code.js';
import { isFields, textField } from '../frames/frame.js';
import { isBackgroundResult, isErrorResult, isInterruptedResult } from '../frames/result.js';
import type { CoderSink } from './coder-sink.js';
import { resultErrorMessage, usageBody } from './result-outcome.js';

type Fields = Readonly<Record<string, unknown>>;

/**
 * The end of a run. One run may bring several results: each tells its usage at once, and the last of the run's own
 * decides how it ends; the earlier ones are told as progress, and so are those of turns that a background task began
 * (C12).
 */
export class RunOutcome {
  readonly #sink: CoderSink;
  #own: Fields | undefined;
  #background: Fields | undefined;
  #isTurnOpen = false;

  constructor(sink: CoderSink) {
    this.#sink = sink;
  }

  /** The agent has begun, or goes on with, a turn. */
  turn(): void {
    this.#isTurnOpen = true;
  }

  result(result: Fields): void {
    const isBackground = isBackgroundResult(result);
    const passed = isBackground ? this.#background : this.#own;
    if (passed !== undefined) this.#passedOver(passed);
    const usage = usageBody(result);
    if (usage !== undefined) this.#sink.emit(usage);
    this.#isTurnOpen = false;
    if (isBackground) this.#background = result;
    else this.#own = result;
  }

  /** A result of the run's own is there, and nothing goes on after it. */
  get isDecided(): boolean {
    const queued = this.#own?.queued_turn_count;
    return (
      this.#own !== undefined && !this.#isTurnOpen && !(typeof queued === 'number' && queued > 0)
    );
  }

  /** The stream is over. */
  finish(): void {
    const own = this.#own ?? this.#background;
    if (own === undefined) this.#sink.emitOf({ reason: 'completed' }, { type: 'done' });
    else this.#end(own);
  }

  /** Someone stopped the run. A result that nothing followed stands all the same: it was over. */
  abort(reason: unknown): void {
    if (this.isDecided) this.finish();
    else this.#cancel({ reason }, reason === undefined ? '' : oneLine(reason));
  }

  /** The stream has thrown. After a result that nothing followed it is only the process that ended badly. */
  threw(error: unknown): void {
    if (isAbort(error)) this.abort(error);
    else if (this.isDecided) {
      // of a failed run it says the same once more; of another, nobody else would tell
      if (this.#own === undefined || !isFailed(this.#own))
        this.#sink.emit({ type: 'progress', label: 'threw', detail: oneLine(error) });
      this.finish();
    } else this.#sink.emit({ type: 'error', code: 'threw', message: oneLine(error) });
  }

  #end(result: Fields): void {
    if (this.#background !== undefined && this.#background !== result)
      this.#passedOver(this.#background);
    if (isInterruptedResult(result))
      this.#cancel(result, textField(result, 'terminal_reason') ?? '');
    else if (isErrorResult(result))
      this.#sink.emitOf(result, {
        type: 'error',
        code: failureCode(result),
        message: resultErrorMessage(result),
      });
    else this.#sink.emitOf(result, { type: 'done' });
  }

  #cancel(item: unknown, reason: string): void {
    const message = `The Claude run was interrupted${reason === '' ? '.' : `: ${reason}`}`;
    this.#sink.emitOf(item, { type: 'cancelled' });
    this.#sink.emitOf(item, { type: 'error', code: 'interrupted', message });
  }

  #passedOver(result: Fields): void {
    const label = `result/${textField(result, 'subtype') ?? 'unknown'}`;
    const detail = isFailed(result) ? { detail: resultErrorMessage(result) } : {};
    this.#sink.emitOf(result, { type: 'progress', label, ...detail });
  }
}

function isFailed(result: Fields): boolean {
  return isErrorResult(result) || isInterruptedResult(result);
}

/** The SDK's own AbortError goes by the name "Error": that one is known by the signal, which is read first. */
function isAbort(error: unknown): boolean {
  return (
    isFields(error) &&
    (error.name === 'AbortError' || error.code === 'ABORT_ERR' || error.code === 'interrupted')
  );
}
