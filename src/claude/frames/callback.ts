import { Backlog } from '@sluice/sdk/stream/internal';

type Fields = Readonly<Record<string, unknown>>;

/**
 * A thing that the SDK tells its host by a call instead of a frame: a tool wants permission, the host has answered, or a
 * hook runs. Narrow by `kind`.
 */
export type CsdkCallback =
  | {
      /** `canUseTool` was called, or a PreToolUse hook that asks the pipeline. */
      readonly kind: 'permission_request';
      readonly toolUseId: string;
      readonly toolName: string;
      readonly input: Fields;
      /** The subagent that asks; absent in the main thread. */
      readonly agentId?: string;
      /** Present where the SDK gave one: a request that it repeats keeps its id. */
      readonly requestId?: string;
    }
  | {
      /** The answer of the host. */
      readonly kind: 'permission_decision';
      readonly toolUseId: string;
      readonly toolName: string;
      readonly decision: 'granted' | 'denied' | 'auto';
      /** The reason that the model is told, with a refusal. */
      readonly message?: string;
      /** The input that the tool runs with, if the host changed it. */
      readonly updatedInput?: Fields;
      readonly agentId?: string;
      readonly requestId?: string;
    }
  | {
      /** A hook ran: PreToolUse, PostToolUse, PreCompact, PostCompact, SubagentStart, SubagentStop, ... */
      readonly kind: 'hook';
      readonly event: string;
      readonly input: Fields;
      readonly toolUseId?: string;
    };

/** A queue of callbacks that is read as a stream. */
export interface CallbackQueue extends AsyncIterable<CsdkCallback> {
  /** Adds one. After `close` it is dropped. */
  push(callback: CsdkCallback): void;
  /** Ends the stream after what is in it. */
  close(): void;
}

/** Names the method by which a run reads a queue of its own: at once, so that each callback keeps its place. */
export const onCallback = Symbol('onCallback');

/** A queue that can call its reader. */
export interface CallingQueue extends CallbackQueue {
  /** Gives the reader what waits, then each callback when it is pushed. @returns a function that stops this. */
  [onCallback](reader: (callback: CsdkCallback) => void): () => void;
}

/**
 * Makes a queue for `options.callbacks`: SDK callbacks push into it, and never emit anything themselves, so that
 * one writer keeps the order (seed 000). It is read once.
 *
 * @example
 * const callbacks = callbackQueue();
 * const events = normalizeSession(query({ prompt, options: { canUseTool } }), { callbacks });
 */
export function callbackQueue(): CallbackQueue {
  const backlog = new Backlog<CsdkCallback>();
  let reader: ((callback: CsdkCallback) => void) | undefined;
  const queue: CallingQueue = {
    push(callback) {
      if (backlog.isClosed) return;
      if (reader !== undefined) return reader(callback);
      backlog.waiting.push(callback);
      backlog.wake();
    },
    [onCallback](called) {
      for (const callback of backlog.waiting.splice(0)) called(callback);
      reader = called;
      return () => {
        reader = undefined;
      };
    },
    close() {
      backlog.isClosed = true;
      backlog.wake();
    },
    [Symbol.asyncIterator]: () => backlog.read(),
  };
  return queue;
}
