import { Recent } from '@sluice/sdk/stream/internal';
import { definedFields } from 'sluice-kernel/internal';
import { bridgeOf, type Injection, type LegacyBridge } from '../../runner/bridge-state.js';
import { registerLegacyHook } from '../../runner/register-hook.js';
import type { Registering } from '../api/registering.js';

/** Texts that wait in one session at most, by their kind, and sessions that texts wait in. */
const mostEvents = 20;
const mostInjections = 32;
const mostSessions = 1_000;

/**
 * Texts that stand before or after the next prompts of sessions. They wait in memory. A plugin that may not write to the prompt is
 * told so.
 *
 * @param listed gets the function that reads those of a run.
 */
function waitingTexts(
  plugin: Registering,
  kind: string,
  { between, most, listed }: { between: string; most: number; listed?: LegacyBridge['injections'] },
) {
  const { pluginId, name: pluginName, source, kernel, scope, clock } = plugin;
  const waiting = new Recent<string, readonly Injection[]>(mostSessions);
  /** The texts of the last prompt of a session: another attempt of its run has them, too. */
  const taken = new Recent<string, { readonly runId: string; readonly due: readonly Injection[] }>(
    mostSessions,
  );
  const of = (sessionKey: string): readonly Injection[] => {
    const now = clock.now();
    const isOpen = ({ createdAt, ttlMs = Infinity }: Injection) => now - createdAt <= ttlMs;
    return (waiting.get(sessionKey) ?? []).filter(isOpen);
  };
  const dueFor = (sessionKey: string, runId: string): readonly Injection[] => {
    const before = taken.get(sessionKey);
    return runId !== '' && before?.runId === runId ? before.due : of(sessionKey);
  };
  const handler = (
    _: unknown,
    { sessionKey = '', runId = '' }: { readonly sessionKey?: string; readonly runId?: string },
  ) => {
    const due = dueFor(sessionKey, runId);
    if (due !== taken.get(sessionKey)?.due) waiting.delete(sessionKey);
    if (due.length > 0) taken.set(sessionKey, { runId, due });
    else taken.delete(sessionKey);
    const joined = (placement: Injection['placement']): string | undefined =>
      due.flatMap((one) => (one.placement === placement ? [one.text] : [])).join(between) ||
      undefined;
    return definedFields({
      prependContext: joined('prepend_context'),
      appendContext: joined('append_context'),
    });
  };
  let isListening = false;
  return {
    of,
    /** @returns `false` if the plugin may not write to the prompt. */
    add: (sessionKey: string, text: Omit<Injection, 'pluginId' | 'pluginName'>): boolean => {
      if (!plugin.allowPromptInjection) {
        plugin.report('warn', `a ${kind} is left out: hooks.allowPromptInjection is false`);
        return false;
      }
      const registration = { pluginId, hookName: 'before_prompt_build', handler, source } as const;
      const profile = '2026.9'; // its row has a place after the prompt
      if (!isListening) {
        scope.add(`${kind}s`, registerLegacyHook(kernel, registration, { profile }));
        listed?.add(dueFor);
        scope.add(`list of ${kind}s`, () => void listed?.delete(dueFor));
      }
      isListening = true;
      const whole = { ...text, pluginId, pluginName };
      waiting.set(sessionKey, [...of(sessionKey), whole].slice(-most));
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
  const texts = waitingTexts(plugin, 'system event', { between: '\n', most: mostEvents });
  return (given: string, { sessionKey }: { readonly sessionKey: string }): boolean => {
    const text = `System: ${given.trim()}`;
    if (given.trim() === '' || texts.of(sessionKey).at(-1)?.text === text) return false;
    const createdAt = plugin.clock.now();
    return texts.add(sessionKey, { id: '', text, placement: 'prepend_context', createdAt });
  };
}

/** The checks of an injection as plugins write it, by field. */
const checks: Readonly<Record<string, (value: unknown) => boolean>> = {
  sessionKey: (value) => trimmed(value) !== '',
  text: (value) => trimmed(value) !== '' && trimmed(value).length <= 32_768,
  placement: (value = 'prepend_context') =>
    value === 'prepend_context' || value === 'append_context',
  ttlMs: (value = 0) => Number.isFinite(value) && Number(value) >= 0,
  idempotencyKey: (value = 'k') => trimmed(value) !== '' && trimmed(value).length <= 512,
};

const trimmed = (value: unknown): string => (typeof value === 'string' ? value.trim() : '');

/** `api.session.workflow.enqueueNextTurnInjection`: a text that stands before or after the next prompt of a session. */
export function nextTurnInjections(plugin: Registering) {
  const { pluginId, kernel, clock } = plugin;
  const listed = bridgeOf(kernel).injections;
  const limits = { between: '\n\n', most: mostInjections, listed };
  const texts = waitingTexts(plugin, 'next-turn injection', limits);
  let count = 0;
  return async (given: Partial<Injection> & { readonly sessionKey?: string }) => {
    const sessionKey = trimmed(given.sessionKey);
    if (!Object.entries(checks).every(([field, check]) => check(Reflect.get(given, field))))
      return { enqueued: false, id: '', sessionKey };
    const { placement = 'prepend_context', ttlMs, metadata } = given;
    const idempotencyKey = trimmed(given.idempotencyKey) || undefined;
    const id = idempotencyKey ?? `${pluginId}:${++count}`;
    const open = texts.of(sessionKey);
    const isNew = open.length < mostInjections && open.every((one) => one.id !== id);
    const more = definedFields({ ttlMs, idempotencyKey, metadata });
    const one = { id, text: trimmed(given.text), placement, createdAt: clock.now(), ...more };
    return { enqueued: isNew && texts.add(sessionKey, one), id, sessionKey };
  };
}
