import { type ApprovalAnswer, judgeAsking } from '../../../src/agent/run/index.js';
import { registerLegacyHook } from '../../../src/openclaw/index.js';
import { createTestKernel } from '../../../src/testing/index.js';
import type { OpenClawRegions } from '../../support/openclaw-regions.js';

type Fields = Readonly<Record<string, unknown>>;

/** The words of a human of OpenClaw; `nobody` lets the time pass, `abort` ends the run meanwhile. */
export type Human = 'allow-once' | 'allow-always' | 'deny' | 'nobody' | 'abort';

/** One tool call: the answers of its plugins, in run order, and the human. */
export interface ApprovalCase {
  readonly answers: readonly Fields[];
  readonly human: Human;
}

/** What could be seen of the call. */
export interface ApprovalRun {
  /** The questions that people saw. */
  readonly asked: readonly {
    readonly title: string;
    readonly text: string | undefined;
    readonly timeoutMs: number | undefined;
    readonly mayAlways: boolean;
  }[];
  /** The parameters that it ran with; nothing if it was refused. */
  readonly ran: Fields | undefined;
  /** The calls of `onResolution`, by the plugin that gave it. */
  readonly resolutions: readonly string[];
}

const params = { command: 'ls' };

/** The handlers of a case: plugins `p0`, `p1` and so on. Each notes what its `onResolution` is called with. */
function handlersOf({ answers }: ApprovalCase, resolutions: string[]) {
  return answers.map((answer, index) => {
    const pluginId = `p${index}`;
    const onResolution = (decision: string) => void resolutions.push(`${pluginId} ${decision}`);
    const { requireApproval } = answer;
    const asks = typeof requireApproval === 'object' && requireApproval !== null;
    const value = asks
      ? { ...answer, requireApproval: { ...requireApproval, onResolution } }
      : answer;
    return { pluginId, hookName: 'before_tool_call' as const, handler: () => value };
  });
}

interface Real {
  createHookRunner(
    registry: object,
    options: object,
  ): { runBeforeToolCall(event: object, ctx: object): Promise<Fields | undefined> };
  EmbeddedPluginApprovalBroker: new () => {
    subscribe(listener: (event: { event: string; payload: RealRecord }) => void): () => void;
    resolve(id: string, decision: string): boolean;
  };
  setEmbeddedPluginApprovalBroker(broker: object): void;
  resolveBeforeToolCallApprovalOutcome(
    given: object,
  ): Promise<{ readonly blocked: boolean; readonly params: Fields } | undefined>;
  resolveCanonicalPluginApprovalRequestAllowedDecisions(request: object): readonly string[];
  readonly outside: { fire: () => void };
}

interface RealRecord {
  readonly id: string;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
  readonly request: { readonly title: string; readonly description?: string };
}

/** Stands for the rest of the system. The timer of the broker goes off when the case says so; no handler is late. */
const prelude = `
  const outside = { fire: () => undefined };
  const setTimeout = (act) => { outside.fire = act; return { unref() {} }; };
  const clearTimeout = () => undefined;
  let ids = 0;
  const randomUUID = () => String(++ids);
  const trackAsyncWork = (work) => work();
  const AsyncLocalStorage = class {};
  const normalizeLowercaseStringOrEmpty = (value) => String(value ?? '').trim().toLowerCase();
  const clampPositiveTimerTimeoutMs = (value) => value;
  const createSubsystemLogger = () => ({ warn: () => undefined });
  const isEmbeddedMode = () => true;
  const notifyListeners = (listeners, event) => { for (const one of listeners) one(event); };
  const addTimerTimeoutGraceMs = (timeoutMs, graceMs) => timeoutMs + graceMs;
  const isPlainObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);
  const GatewayClientRequestError = class extends Error {};
  const resolveToolErrorDiagnostic = () => ({ terminalReason: 'aborted' });
`;
const names = [
  'createHookRunner',
  'EmbeddedPluginApprovalBroker',
  'setEmbeddedPluginApprovalBroker',
  'resolveBeforeToolCallApprovalOutcome',
  'resolveCanonicalPluginApprovalRequestAllowedDecisions',
  'outside',
];

/** The decision of the real code of OpenClaw 2026.9: its hook runner, its approval of tool calls, and its embedded broker. */
export async function realSide(regions: OpenClawRegions) {
  const code = [prelude, ...Object.values(regions), `export { ${names.join(', ')} };`].join('\n');
  const url = `data:text/javascript;base64,${Buffer.from(code).toString('base64')}`;
  const real = (await import(/* @vite-ignore */ url)) as Real; // typed by hand: the package ships no such types
  return async (given: ApprovalCase): Promise<ApprovalRun> => {
    const resolutions: string[] = [];
    const asked: ApprovalRun['asked'][number][] = [];
    const broker = new real.EmbeddedPluginApprovalBroker();
    real.setEmbeddedPluginApprovalBroker(broker);
    const stop = new AbortController();
    broker.subscribe(({ event, payload }) => {
      if (event !== 'plugin.approval.requested') return;
      const { title, description } = payload.request;
      asked.push({
        ...{ title, text: description, timeoutMs: payload.expiresAtMs - payload.createdAtMs },
        mayAlways: real
          .resolveCanonicalPluginApprovalRequestAllowedDecisions(payload.request)
          .includes('allow-always'),
      });
      queueMicrotask(() => {
        if (given.human === 'abort') stop.abort();
        else if (given.human === 'nobody' || !broker.resolve(payload.id, given.human))
          real.outside.fire();
      });
    });
    const typedHooks = handlersOf(given, resolutions).map((one) => ({ ...one, source: 'a.js' }));
    const runner = real.createHookRunner({ typedHooks, plugins: [] }, {});
    const toolName = 'exec';
    const result = await runner.runBeforeToolCall({ toolName, params }, { toolName });
    if (result?.['block'] === true) return { asked, ran: undefined, resolutions }; // its caller asks nobody then
    const decided = await real.resolveBeforeToolCallApprovalOutcome({
      ...{ result, toolName, baseParams: params, signal: stop.signal },
    });
    const isBlocked = decided?.blocked === true;
    const changed = decided?.params ?? { ...params, ...Object(result?.['params']) };
    return { asked, ran: isBlocked ? undefined : changed, resolutions };
  };
}

const answerOf: Readonly<Record<Human, ApprovalAnswer>> = {
  'allow-once': { status: 'allowed', use: () => Promise.resolve(true) },
  'allow-always': { status: 'allowed', use: () => Promise.resolve(true) },
  deny: { status: 'denied' },
  nobody: { status: 'expired' },
  abort: { status: 'withdrawn' },
};

/** The same by the bridge: the plugins on `agent.tool.calling`, and the loop by which a run asks humans. */
export async function ourSide(given: ApprovalCase): Promise<ApprovalRun> {
  const { kernel } = createTestKernel();
  const resolutions: string[] = [];
  const asked: ApprovalRun['asked'][number][] = [];
  for (const registration of handlersOf(given, resolutions))
    registerLegacyHook(kernel, registration);
  const stop = new AbortController();
  const payload = { toolName: 'exec', toolCallId: 't', params };
  const { outcome, cancel } = await judgeAsking({
    ...{ family: 'agent.tool.calling', signal: stop.signal },
    approvals: {
      ask: ({ question: { title, text, timeoutMs, scopes } }) => {
        asked.push({ title, text, timeoutMs, mayAlways: scopes.includes('tool') });
        return Promise.resolve(answerOf[given.human]);
      },
    },
    dispatch: (again) =>
      kernel.dispatch('agent.tool.calling', again?.payload ?? payload, again?.given),
  });
  const isRefused = cancel !== undefined || outcome.status !== 'passed';
  await new Promise(setImmediate); // an onResolution is not waited for
  return { asked, ran: isRefused ? undefined : outcome.payload.params, resolutions };
}
