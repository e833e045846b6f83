import {
  definedFields,
  isSluiceError,
  isThenable,
  nearest,
  oneLine,
} from '../../../kernel/index.js';
import { type LegacyHookName, legacyHookNames, pluginHooks } from '../../hooks/index.js';
import { promptFields } from '../../hooks/prompt.js';
import { registerLegacyHook } from '../../runner/register-hook.js';
import type { Registering } from './registering.js';
import { isMatched, toolMatcher } from './tool-matcher.js';

type AnyHandler = (event: never, ctx: never) => unknown;

/** The hooks that write to the prompt. */
const promptHookNames: readonly string[] = ['before_prompt_build', 'before_agent_start'];

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
  options?: { readonly priority?: number; readonly matcher?: unknown },
): void {
  const { pluginId, kernel, source, trusted, scope, tell } = plugin;
  if (!isHookName(hookName)) {
    const close = nearest(String(hookName), legacyHookNames);
    const suggestion = close === undefined ? '' : `; did it mean "${close}"?`;
    tell(
      'warn',
      `there is no hook "${String(hookName)}" in profile 2026.3; it is ignored${suggestion}`,
    );
    return;
  }
  let called = handler;
  if (!plugin.allowPromptInjection && promptHookNames.includes(hookName)) {
    if (hookName === 'before_prompt_build') {
      tell('warn', `hook "${hookName}" is ignored: hooks.allowPromptInjection is false`);
      return;
    }
    tell(
      'warn',
      `hook "${hookName}" may not write to the prompt: hooks.allowPromptInjection is false`,
    );
    called = withoutPromptFields(handler);
  }
  const matched = isToolHook(hookName) ? toolMatcher(options?.matcher) : { names: undefined };
  if (typeof matched === 'string') {
    tell('error', `hook "${hookName}" cannot be registered: ${matched}`);
    return;
  }
  const judged = called;
  const { refusals } = plugin;
  if (typeof judged === 'function')
    called = (event, ctx) => {
      if (!isMatched(matched.names, event)) return undefined;
      const result = judged(event, ctx);
      if (!refusals.isAsked) return result; // nothing that is not there is in it, and no tick is added
      return isThenable(result) ? result.then(refusals.check) : refusals.check(result);
    };
  const priority = options?.priority;
  const registration = {
    pluginId,
    hookName,
    handler: called,
    source,
    ...definedFields({ priority }),
  };
  let registered: Disposable;
  try {
    registered = registerLegacyHook(kernel, registration, { trusted });
  } catch (thrown) {
    const problem = isSluiceError(thrown) ? thrown.message : oneLine(thrown);
    tell('error', `hook "${hookName}" cannot be registered: ${problem}`);
    return;
  }
  scope.add(`hook ${hookName}`, registered);
  plugin.hooks.push({
    hookName,
    ...definedFields({ priority }),
    parts: pluginHooks[hookName].parts.map(({ family, class: name }) => ({ family, class: name })),
  });
}

/** The hooks that OpenClaw reads `matcher` of. */
function isToolHook(hookName: LegacyHookName): boolean {
  return hookName === 'before_tool_call' || hookName === 'after_tool_call';
}

function isHookName(name: unknown): name is LegacyHookName {
  return (legacyHookNames as readonly unknown[]).includes(name);
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
