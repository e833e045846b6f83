import { definedFields, isSluiceError, isThenable, nearest, oneLine } from 'sluice-kernel/internal';
import { promptFields } from '../../hooks/prompt.js';
import { isHookOf, type LegacyProfile, legacyHookNames, rowsOf } from '../../profiles/index.js';
import { otherProfileWith } from '../../profiles/infer-profile.js';
import { registerLegacyHook } from '../../runner/register-hook.js';
import type { Registering } from './registering.js';

type AnyHandler = (event: never, ctx: never) => unknown;

/** The third argument of `api.on`, as a plugin gives it. All but the priority are of profile 2026.9. */
type OnOptions = { readonly priority?: number } & {
  readonly [Name in
    | 'matcher'
    | 'timeoutMs'
    | 'eligibleTriggers'
    | 'eligibleDispatchKinds'
    | 'requiresToolAuthority']?: unknown;
};

/** The hooks that see what people and the agent say. */
const conversationHookNames: readonly string[] = [
  ...['before_model_resolve', 'agent_turn_prepare', 'before_prompt_build', 'before_agent_reply'],
  ...['llm_input', 'llm_output', 'before_agent_finalize', 'agent_end', 'before_agent_run'],
];

const noInjection = 'hooks.allowPromptInjection is false';

/** The hooks that write to the prompt. */
const promptHookNames: readonly string[] = [
  ...['before_prompt_build', 'before_agent_start'],
  ...['agent_turn_prepare', 'heartbeat_prompt_contribution'],
];

/**
 * `api.on`: registers a handler of a plugin hook. A name that there is not is told of and ignored, as OpenClaw does;
 * nothing is registered once only, and nothing is taken back but by the plugin's end.
 *
 * @throws SluiceError `scope-disposed` once the plugin has been disposed.
 */
export function registerOn(
  plugin: Registering,
  hookName: string,
  handler: AnyHandler,
  options: OnOptions = {},
): void {
  const { pluginId, profile, clock, kernel, source, trusted, scope, report } = plugin;
  const leaveOut = (level: 'warn' | 'error', why: string): void =>
    report(level, why, undefined, { kind: 'hook', name: String(hookName) });
  if (!isHookOf(profile, hookName)) {
    const other = otherProfileWith(String(hookName), profile);
    const close = nearest(String(hookName), legacyHookNames[profile]);
    const meant = close === undefined ? '' : `; did it mean "${close}"?`;
    const has = `; profile ${other} has it: --legacy-profile ${other} (legacy.profile in the config)`;
    const suggestion = other === undefined ? meant : has;
    const named = `there is no hook "${String(hookName)}" in profile ${profile}`;
    return void leaveOut('warn', `${named}; it is ignored${suggestion}`);
  }
  const refused = refusedIn(plugin, hookName, options);
  if (refused !== undefined)
    return void leaveOut('warn', `hook "${hookName}" is ignored: ${refused}`);
  let called = handler;
  if (!plugin.allowPromptInjection && promptHookNames.includes(hookName)) {
    if (hookName !== 'before_agent_start')
      return void leaveOut('warn', `hook "${hookName}" is ignored: ${noInjection}`);
    report('warn', `hook "${hookName}" may not write to the prompt: ${noInjection}`);
    called = withoutPromptFields(handler);
  }
  const matched = isToolHook(hookName) ? toolMatcher(options.matcher) : { names: undefined };
  if (typeof matched === 'string')
    return void leaveOut('error', `hook "${hookName}" cannot be registered: ${matched}`);
  const judged = called;
  const { refusals } = plugin;
  if (typeof judged === 'function')
    called = (event, ctx) => {
      const result = judged(event, ctx);
      if (!refusals.isAsked) return result; // nothing that is not there is in it, and no tick is added
      return isThenable(result) ? result.then(refusals.check) : refusals.check(result);
    };
  const { priority } = options;
  const registration = {
    pluginId,
    hookName,
    handler: called,
    source,
    ...definedFields({ priority, matcher: matched.names }),
    ...(profile === '2026.9' && laterOptions(plugin, hookName, options)),
  };
  let registered: Disposable;
  try {
    const how = { trusted, profile, clock };
    registered = registerLegacyHook<never, LegacyProfile>(kernel, registration as never, how); // of a hook of the profile
  } catch (thrown) {
    const problem = isSluiceError(thrown) ? thrown.message : oneLine(thrown);
    return void leaveOut('error', `hook "${hookName}" cannot be registered: ${problem}`);
  }
  scope.add(`hook ${hookName}`, registered);
  const { status, why, parts = [] } = rowsOf(profile)[hookName] ?? {};
  if (status === 'retired')
    return void leaveOut('warn', `hook "${hookName}" has no moment here. ${why}`);
  plugin.hooks.push({
    hookName,
    ...definedFields({ priority }),
    parts: parts.map(({ family, class: name }) => ({ family, class: name })),
  });
}

/** Why a hook of a plugin is not registered, if it is not. */
function refusedIn(
  { conversationAccess }: Registering,
  hookName: string,
  { requiresToolAuthority }: OnOptions,
): string | undefined {
  if (!conversationAccess && conversationHookNames.includes(hookName))
    return 'hooks.allowConversationAccess is false';
  if (requiresToolAuthority === true)
    return 'requiresToolAuthority: the tools of an agent are known to the agent alone';
  return undefined;
}

/** The options of profile 2026.9. A budget of the operator beats the plugin's; a list that is none restricts nothing. */
function laterOptions({ timeouts }: Registering, hookName: string, options: OnOptions): object {
  const { eligibleTriggers, eligibleDispatchKinds } = options;
  const timeoutMs = timeouts.timeouts?.[hookName] ?? timeouts.timeoutMs ?? options.timeoutMs;
  return definedFields({
    timeoutMs: typeof timeoutMs === 'number' ? timeoutMs : undefined,
    ...(hookName === 'before_agent_reply' && {
      eligibleTriggers: listOf(eligibleTriggers, ['cron', 'heartbeat', 'user']),
    }),
    ...(hookName === 'reply_dispatch' && {
      eligibleDispatchKinds: listOf(eligibleDispatchKinds, ['agent', 'acp']),
    }),
  });
}

function listOf(given: unknown, known: readonly string[]): readonly string[] | undefined {
  const list: readonly unknown[] = Array.isArray(given) ? given : [];
  return list.length > 0 && list.every((one) => known.includes(String(one)))
    ? list.map(String)
    : undefined;
}

/** The hooks that OpenClaw reads `matcher` of. */
function isToolHook(hookName: string): boolean {
  return hookName === 'before_tool_call' || hookName === 'after_tool_call';
}

/** Keeps the prompt fields of a handler's answers from being read. Nothing is answered where nothing is left. */
function withoutPromptFields(handler: AnyHandler): AnyHandler {
  return (event, ctx) => {
    const answer = handler(event, ctx);
    return isThenable(answer) ? answer.then(stripped) : stripped(answer);
  };
}

function stripped(answer: unknown): unknown {
  if (typeof answer !== 'object' || answer === null) return answer;
  const left = Object.entries(answer).filter(([field]) => !promptFields.includes(field));
  return left.length === 0 ? undefined : Object.fromEntries(left);
}

/** The names of tools that a hook of a plugin is for, in lower case; nothing if it is for all of them. */
type ToolMatcher = readonly string[] | undefined;

const named = (name: unknown): string =>
  typeof name === 'string' ? name.trim().toLowerCase() : '';

/**
 * Reads the option `matcher` of a tool hook, as OpenClaw 2026.9 has it: a list of the names of tools, without wildcards.
 *
 * @returns the names, or a problem in words.
 */
function toolMatcher(given: unknown): { readonly names: ToolMatcher } | string {
  if (given === undefined) return { names: undefined };
  if (!Array.isArray(given) || given.length === 0)
    return 'matcher must be a list of at least one name of a tool';
  const names = given.map(named);
  if (names.includes('')) return 'each name in matcher must be a text that is not empty';
  if (names.includes('*')) return 'matcher takes no wildcard: leave it out for all tools';
  return { names };
}
