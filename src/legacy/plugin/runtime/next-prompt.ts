import { definedFields } from '../../../kernel/index.js';
import { registerLegacyHook } from '../../runner/register-hook.js';
import type { Registering } from '../api/registering.js';

/** Texts that wait in one session at most, and sessions that texts wait in. */
const mostWaiting = 20;
const mostSessions = 1_000;

/** A text that waits for the next prompt of a session. */
interface WaitingText {
  readonly id: string;
  readonly text: string;
  readonly isAfter: boolean;
  /** Milliseconds of the clock; absent: it waits as long as its plugin lives. */
  readonly endsAtMs?: number;
}

/** Texts that stand before or after the next prompts of sessions. They wait in memory. A plugin that may not write to the prompt is told so. */
function waitingTexts(plugin: Registering, kind: string, between: string) {
  const { pluginId, source, kernel, scope, clock } = plugin;
  const waiting = new Map<string, readonly WaitingText[]>();
  const handler = (_: unknown, { sessionKey = '' }: { readonly sessionKey?: string }) => {
    const due = of(sessionKey);
    waiting.delete(sessionKey);
    const joined = (isAfter: boolean): string | undefined =>
      due.flatMap((one) => (one.isAfter === isAfter ? [one.text] : [])).join(between) || undefined;
    return definedFields({ prependContext: joined(false), appendContext: joined(true) });
  };
  function of(sessionKey: string): readonly WaitingText[] {
    const now = clock.now();
    return (waiting.get(sessionKey) ?? []).filter(({ endsAtMs = Infinity }) => now < endsAtMs);
  }
  let isListening = false;
  return {
    of,
    /** @returns `false` if the plugin may not write to the prompt. */
    add: (sessionKey: string, text: WaitingText): boolean => {
      if (!plugin.allowPromptInjection) {
        plugin.tell('warn', `a ${kind} is left out: hooks.allowPromptInjection is false`);
        return false;
      }
      const registration = { pluginId, hookName: 'before_prompt_build', handler, source } as const;
      const profile = '2026.9'; // its row has a place after the prompt
      if (!isListening)
        scope.add(`${kind}s`, registerLegacyHook(kernel, registration, { profile }));
      isListening = true;
      const texts = [...of(sessionKey), text].slice(-mostWaiting);
      waiting.delete(sessionKey); // the newest session stands last
      waiting.set(sessionKey, texts);
      const [oldest] = waiting.keys();
      if (waiting.size > mostSessions && oldest !== undefined) waiting.delete(oldest);
      return true;
    },
  };
}

/**
 * `api.runtime.system.enqueueSystemEvent`: a text that stands before the next prompt of a session.
 *
 * @returns `false` if the text does not wait: it is empty, or the same as the one before.
 */
export function systemEvents(plugin: Registering) {
  const texts = waitingTexts(plugin, 'system event', '\n');
  return (given: string, { sessionKey }: { readonly sessionKey: string }): boolean => {
    const text = `System: ${given.trim()}`;
    if (given.trim() === '' || texts.of(sessionKey).at(-1)?.text === text) return false;
    return texts.add(sessionKey, { id: '', text, isAfter: false });
  };
}

interface NextTurnInjection {
  readonly sessionKey: string;
  readonly text: string;
  readonly placement?: string;
  readonly ttlMs?: number;
  readonly idempotencyKey?: string;
}

/** `api.session.workflow.enqueueNextTurnInjection`: a text that stands before or after the next prompt of a session. */
export function nextTurnInjections(plugin: Registering) {
  const texts = waitingTexts(plugin, 'next-turn injection', '\n\n');
  let count = 0;
  return async ({ sessionKey, placement, ttlMs, ...given }: NextTurnInjection) => {
    const id = given.idempotencyKey ?? `${plugin.pluginId}:${++count}`;
    const text = given.text.trim();
    const isAfter = placement === 'append_context';
    const endsAtMs = ttlMs === undefined ? undefined : plugin.clock.now() + ttlMs;
    const isNew = text !== '' && texts.of(sessionKey).every((one) => one.id !== id);
    const one = { id, text, isAfter, ...definedFields({ endsAtMs }) };
    return { enqueued: isNew && texts.add(sessionKey, one), id, sessionKey };
  };
}
