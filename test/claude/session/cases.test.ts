import { describe, expect, it } from 'vitest';
import {
  callbackQueue,
  checkOrdering,
  normalizeSession,
  type SessionDiagnostic,
} from '../../../src/claude/index.js';
import { SessionNormalizer } from '../../../src/claude/session/session-normalizer.js';
import type { SessionEvent } from '../../../src/sdk/stream/index.js';
import { csdkScript, type ScriptStep } from '../../support/csdk-script.js';
import { settleAll } from '../../support/faults-clock.js';
import { sessionNotation, withoutMessageIds } from '../../support/session-notation.js';
import { furtherCases, type SessionCase, workedCases } from './cases.js';

interface Ran {
  readonly events: readonly SessionEvent[];
  readonly told: readonly string[];
}

/** Through the state machine alone: it reads on after the end. */
function throughState({ input, options = {} }: SessionCase): Ran {
  const events: SessionEvent[] = [];
  const told: string[] = [];
  const session = new SessionNormalizer(
    options,
    (event) => events.push(event),
    ({ kind }) => told.push(kind),
  );
  for (const step of csdkScript(input)) {
    if (step.kind === 'frame') session.take(step.frame);
    else if (step.kind === 'callback') session.callback(step.callback);
    else if (step.kind === 'abort') session.abort();
    else if (step.kind === 'end') session.sourceEnded();
    else if (!session.ended) session.sourceThrew(step.error);
  }
  return { events, told };
}

/** Through the public function, as a host calls it. */
async function throughStream({ input, options = {} }: SessionCase): Promise<Ran> {
  const callbacks = callbackQueue();
  const abort = new AbortController();
  const told: string[] = [];
  const onDiagnostic = (one: SessionDiagnostic) => void told.push(one.kind);
  async function* messages(steps: readonly ScriptStep[]) {
    for (const step of steps) {
      if (step.kind === 'frame') yield step.frame;
      else if (step.kind === 'throw') throw step.error;
      else if (step.kind === 'end') return;
      else if (step.kind === 'abort') abort.abort();
      else callbacks.push(step.callback);
      await settleAll();
    }
  }
  const stream = normalizeSession(messages(csdkScript(input)), {
    ...options,
    callbacks,
    signal: abort.signal,
    onDiagnostic,
    check: true,
  });
  const events: SessionEvent[] = [];
  for await (const event of stream) events.push(event);
  return { events, told };
}

describe('the worked cases', () => {
  it.each([...workedCases, ...furtherCases])('$name', async (row) => {
    const state = throughState(row);
    expect(sessionNotation(state.events)).toBe(withoutMessageIds(row.output));
    expect(state.told.join(' ')).toBe(row.told ?? '');
    expect(checkOrdering(state.events)).toEqual([]);

    const stream = await throughStream(row);
    expect(sessionNotation(stream.events)).toBe(withoutMessageIds(row.output));
    expect(stream.told).toEqual(state.told.filter((kind) => kind !== 'after_end'));
  });
});
