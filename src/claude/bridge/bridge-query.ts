import { leavable, type SessionEvent } from '@sluice/sdk/stream';
import { definedFields, type Kernel } from 'sluice-kernel/internal';
import { type CallbackQueue, callbackQueue } from '../frames/callback.js';
import type { CsdkFrame } from '../frames/frame.js';
import { csdkHookEvents } from '../gate/hook-events.js';
import type {
  CsdkHook,
  CsdkHookMatcher,
  CsdkHooks,
  CsdkPermissionAnswer,
  CsdkPermissionOptions,
} from '../gate/sdk-callbacks.js';
import { type CsdkToolGate, toolGate } from '../gate/tool-gate.js';
import { type LiveRunsOptions, watchedRuns } from '../runs/live-runs.js';
import { bridgeCsdk, type CsdkBridge } from './bridge-csdk.js';
import type { BridgeOptions } from './bridge-options.js';

type PerRun = 'runId' | 'prompt' | 'systemPrompt' | 'imagesCount' | 'trigger' | 'after' | 'refs';

/** The options for bridging a query of several runs. */
export interface QueryBridgeOptions<
  Options extends CsdkPermissionOptions = CsdkPermissionOptions,
  Answer extends CsdkPermissionAnswer | null = CsdkPermissionAnswer,
> extends Omit<BridgeOptions<Options, Answer>, PerRun | 'gate'>,
    Pick<LiveRunsOptions, 'end' | 'leave'> {
  /** Gives the options for bridging the n-th run, from 1. It is asked when the run begins, or when the SDK first asks about it. */
  readonly run: (number: number) => Pick<BridgeOptions, PerRun>;
}

/** A live query of several runs, on its way into the pipeline. */
export interface QueryBridge<
  Options extends CsdkPermissionOptions = CsdkPermissionOptions,
  Answer extends CsdkPermissionAnswer | null = CsdkPermissionAnswer,
> extends CsdkToolGate<Options, Answer> {
  /** The place where the host's own hooks may say what they were called with. */
  readonly callbacks: Pick<CallbackQueue, 'push'>;
  /**
   * Reads the query, once: the session events of each run, one run after the other, each bridged as `bridgeCsdk` does. Who
   * leaves a run abandons it alone; who stops reading the runs closes the query.
   */
  runs(
    messages: AsyncIterable<CsdkFrame> | Iterable<CsdkFrame>,
  ): AsyncGenerator<AsyncGenerator<SessionEvent>>;
}

/**
 * Feeds a query with streaming input into the pipeline, run by run (§18.10). The query has one `canUseTool` and one set of
 * hooks: what the SDK asks by them goes to the run that is under way, and between two runs to the next one.
 *
 * @throws SluiceError `run-driven`, while the runs are read.
 * @example
 * const { canUseTool, hooks, runs } = bridgeQuery(kernel, { session, run: (n) => ({ runId: `${id}-${n}` }) });
 * for await (const run of runs(query({ prompt: prompts, options: { canUseTool, hooks } })))
 *   for await (const event of run) show(event);
 */
export function bridgeQuery<
  Options extends CsdkPermissionOptions = CsdkPermissionOptions,
  Answer extends CsdkPermissionAnswer | null = CsdkPermissionAnswer,
>(
  kernel: Kernel,
  { run: perRun, end, leave, ...options }: QueryBridgeOptions<Options, Answer>,
): QueryBridge<Options, Answer> {
  let number = 0;
  let current: CsdkBridge<Options, Answer> | undefined;
  const { signal, clock } = options;
  const bridge = (): CsdkBridge<Options, Answer> => {
    current ??= bridgeCsdk(kernel, { ...options, ...perRun(++number) });
    return current;
  };
  const { hooks } = toolGate(nobody, callbackQueue(), options.permissions);
  return {
    canUseTool: (...asked) => bridge().canUseTool(...asked),
    hooks: routed(hooks, (event) => bridge().hooks[event]),
    callbacks: { push: (callback) => bridge().callbacks.push(callback) },
    runs(messages) {
      const { idleTimeoutMs } = options.normalize ?? {};
      const how = definedFields({ end, leave, signal, clock, idleTimeoutMs });
      // The SDK may ask about the next run while this one's last frame is still being told.
      const split = watchedRuns(messages, how, () => {
        current = undefined;
      });
      let reading: AsyncGenerator<SessionEvent> | undefined;
      const events = async function* (): AsyncGenerator<AsyncGenerator<SessionEvent>> {
        for await (const frames of split) {
          reading = bridge().run(frames);
          yield reading;
          await reading.return(undefined); // who asks for the next run leaves this one
        }
      };
      const release = async (): Promise<void> => {
        await split.return(undefined);
        await reading?.return(undefined);
        // A run that the SDK asked about, and that never came, has begun all the same: it ends here.
        await current?.run([]).return(undefined);
      };
      return leavable(events(), { close: () => void split.return(undefined), release });
    },
  };
}

/** The hooks of a query, each answered by the run that is under way when it is called. */
function routed(template: CsdkHooks, now: (event: keyof CsdkHooks) => readonly CsdkHookMatcher[]) {
  const routes = csdkHookEvents.map((event) => [
    event,
    template[event].map((matcher, at) => ({
      ...matcher,
      hooks: matcher.hooks.map(
        (_, place): CsdkHook =>
          async (...called) =>
            (await now(event)[at]?.hooks[place]?.(...called)) ?? {},
      ),
    })),
  ]);
  return Object.fromEntries(routes) as CsdkHooks; // a route for each event of the template
}

/** Never asked: only the shape of the hooks is wanted. */
const nobody = async () => ({ allowed: false, reason: 'there is no run' }) as const;
