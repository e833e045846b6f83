import { definedFields } from '../../../kernel/index.js';
import { registerLegacyHook } from '../../runner/register-hook.js';
import type { Registering } from '../api/registering.js';

/** Texts that wait in one session at most, by their kind, and sessions that texts wait in. */
const mostEvents = 20;
const mostInjections = 32;
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
function waitingTexts(plugin: Registering, kind: string, between: string, most: number) {
  const { pluginId, source, kernel, scope, clock } = plugin;
  const waiting = new Map<string, readonly WaitingText[]>();
  /** The texts of the last prompt of a session: another attempt of its run has them, too. */
  const taken = new Map<string, { readonly runId: string; readonly due: readonly WaitingText[] }>();
  const handler = (
    _: unknown,
    { sessionKey = '', runId = '' }: { readonly sessionKey?: string; readonly runId?: string },
  ) => {
    const before = taken.get(sessionKey);
    const isAgain = runId !== '' && before?.runId === runId;
    const due = isAgain ? before.due : of(sessionKey);
    if (!isAgain) waiting.delete(sessionKey);
    if (due.length > 0) setNewest(taken, sessionKey, { runId, due });
    else taken.delete(sessionKey);
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
      setNewest(waiting, sessionKey, [...of(sessionKey), text].slice(-most));
      return true;
    },
  };
}

/** Keeps something of a session, and forgets that of the oldest one if there are too many. */
function setNewest<Kept>(bySession: Map<string, Kept>, sessionKey: string, kept: Kept): void {
  bySession.delete(sessionKey); // the newest stands last
  bySession.set(sessionKey, kept);
  const [oldest] = bySession.keys();
  if (bySession.size > mostSessions && oldest !== undefined) bySession.delete(oldest);
}

/**
 * `api.runtime.system.enqueueSystemEvent`: a text that stands before the next prompt of a session.
 *
 * @returns `false` if the text does not wait: it is empty, or the same as the one before.
 */
export function systemEvents(plugin: Registering) {
  const texts = waitingTexts(plugin, 'system event', '\n', mostEvents);
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
  const texts = waitingTexts(plugin, 'next-turn injection', '\n\n', mostInjections);
  let count = 0;
  return async ({ sessionKey, placement, ttlMs, ...given }: NextTurnInjection) => {
    const id = given.idempotencyKey ?? `${plugin.pluginId}:${++count}`;
    const text = typeof given.text === 'string' ? given.text.trim() : ''; // from outside
    const isAfter = placement === 'append_context';
    const endsAtMs = ttlMs === undefined ? undefined : plugin.clock.now() + ttlMs;
    const open = texts.of(sessionKey);
    const isNew = text !== '' && open.length < mostInjections && open.every((one) => one.id !== id);
    const one = { id, text, isAfter, ...definedFields({ endsAtMs }) };
    return { enqueued: isNew && texts.add(sessionKey, one), id, sessionKey };
  };
}
