import { oneLine } from 'sluice-kernel/internal';
import { type Fields, isFields, textField } from '../frames/frame.js';
import {
  failureCode,
  isErrorResult,
  isInterruptedResult,
  isOfNoTurn,
  isOthersResult,
} from '../frames/result.js';
import type { CoderSink } from './coder-sink.js';
import { resultErrorMessage, usageBody } from './result-outcome.js';

/**
 * The end of a run. One run may bring several results: each tells its usage at once, and the last of the run's own
 * decides how it ends; the earlier ones are told as progress, and so are those of turns that something else began, and
 * those of no turn (C12).
 */
export function runOutcome(sink: CoderSink) {
  let ownResult: Fields | undefined;
  let backgroundResult: Fields | undefined;
  let isTurnOpen = false;
  let hasSpoken = false;

  /** A result of the run's own is there, and nothing goes on after it. */
  function isDecided(): boolean {
    const queued = ownResult?.queued_turn_count;
    return ownResult !== undefined && !isTurnOpen && !(typeof queued === 'number' && queued > 0);
  }

  /** The stream is over. */
  function finish(): void {
    const own = ownResult ?? backgroundResult;
    if (own === undefined) sink.emitOf({ reason: 'completed' }, { type: 'done' });
    else end(own);
  }

  /** Someone stopped the run. A result that nothing followed stands all the same: it was over. */
  function abort(reason: unknown): void {
    if (isDecided()) finish();
    else cancel({ reason }, reason === undefined ? '' : oneLine(reason));
  }

  function end(result: Fields): void {
    if (backgroundResult !== undefined && backgroundResult !== result) passedOver(backgroundResult);
    if (isInterruptedResult(result)) cancel(result, textField(result, 'terminal_reason') ?? '');
    else if (isErrorResult(result))
      sink.emitOf(result, {
        type: 'error',
        code: failureCode(result),
        message: resultErrorMessage(result),
      });
    else sink.emitOf(result, { type: 'done' });
  }

  function cancel(item: unknown, reason: string): void {
    const message = `The Claude run was interrupted${reason === '' ? '.' : `: ${reason}`}`;
    sink.emitOf(item, { type: 'cancelled' });
    sink.emitOf(item, { type: 'error', code: 'interrupted', message });
  }

  function passedOver(result: Fields): void {
    const label = `result/${textField(result, 'subtype') ?? 'unknown'}`;
    const detail = isFailed(result) ? { detail: resultErrorMessage(result) } : {};
    sink.emitOf(result, { type: 'progress', label, ...detail });
  }

  return {
    /** A turn goes on. @param isModels the model has spoken in it. */
    turn(isModels: boolean): void {
      isTurnOpen = true;
      hasSpoken ||= isModels;
    },

    result(result: Fields): void {
      const isBackground = isOthersResult(result) || (!hasSpoken && isOfNoTurn(result));
      const passed = isBackground ? backgroundResult : ownResult;
      if (passed !== undefined) passedOver(passed);
      const usage = usageBody(result);
      if (usage !== undefined) sink.emit(usage);
      isTurnOpen = false;
      hasSpoken = false;
      if (isBackground) backgroundResult = result;
      else ownResult = result;
    },
    isDecided,
    finish,
    abort,

    /** The stream has thrown. After a result that nothing followed it is only the process that ended badly. */
    threw(error: unknown): void {
      if (isAbort(error)) abort(error);
      else if (isDecided()) {
        // of a failed run it says the same once more; of another, nobody else would tell
        if (ownResult === undefined || !isFailed(ownResult))
          sink.emit({ type: 'progress', label: 'threw', detail: oneLine(error) });
        finish();
      } else sink.emit({ type: 'error', code: 'threw', message: oneLine(error) });
    },
  };
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
