import { describe, expect, it } from 'vitest';
import {
  type CsdkFrame,
  checkOrdering,
  coderStream,
  normalizeSession,
} from '../../../src/claude/index.js';
import type { SessionEvent } from '../../../src/sdk/stream/index.js';
import { bridged, frames } from '../../support/bridge-lab.js';
import { recordings } from '../../support/recordings.js';

const { init, text, result, system } = frames;

function recorded(name: string): readonly CsdkFrame[] {
  const { lines = [] } = recordings().find((one) => one.name === name) ?? {};
  expect(lines).not.toEqual([]);
  return lines.map((line) => JSON.parse(line) as CsdkFrame); // recordings hold one a line
}

async function eventsOf(given: readonly CsdkFrame[]): Promise<readonly SessionEvent[]> {
  const events: SessionEvent[] = [];
  for await (const event of normalizeSession(given)) events.push(structuredClone(event));
  expect(checkOrdering(events)).toEqual([]);
  return events;
}

describe('a provider that fails (field trial IV.1, IV.7)', () => {
  it('marks the text that tells of it, from message_start on (csdk §3.12)', async () => {
    const events = await eventsOf(recorded('retries-exhausted.jsonl'));
    const providerError = { code: 'server_error', httpStatus: 529 };
    const [start, , , end] = events.filter(({ type }) => type.startsWith('message_'));
    expect(start).toMatchObject({ type: 'message_start', message: { providerError } });
    expect(events.find(({ type }) => type === 'message_end')).toMatchObject({
      message: {
        providerError,
        stopReason: 'error',
        errorMessage: expect.stringMatching(/^API Error: 529/),
      },
    });
    expect(end).toMatchObject({ type: 'message_update', message: { providerError } });
  });

  it.each([
    ['a code alone', { error: 'rate_limit' }, { code: 'rate_limit' }],
    ['a flag alone', { is_api_error_message: true }, { code: 'unknown' }],
  ])('is told by %s of an older or a newer SDK (csdk §3.12)', async (_, fields, providerError) => {
    const events = await eventsOf([text('m', 'API Error', fields), result({ is_error: true })]);
    const [start] = events.filter(({ type }) => type === 'message_start');
    expect(start).toMatchObject({ message: { providerError } });
  });

  it('marks nothing that the model said', async () => {
    for (const { lines, name } of recordings()) {
      if (name.endsWith('retries-exhausted.jsonl')) continue;
      const events = await eventsOf(lines.map((line) => JSON.parse(line) as CsdkFrame));
      const marked = events.filter(
        (event) => 'message' in event && 'providerError' in event.message,
      );
      expect(marked, name).toEqual([]);
    }
  });

  it('is an error that is named for its reason, never “success” (csdk §6.6)', async () => {
    const frames = recorded('retries-exhausted.jsonl');
    expect((await eventsOf(frames)).at(-1)).toMatchObject({
      error: { subtype: 'api_error', message: expect.stringMatching(/^API Error: 529/) },
    });
    const coder = [];
    for await (const event of coderStream(frames)) coder.push(event);
    expect(coder.at(-1)).toMatchObject({ type: 'error', code: 'api_error' });
  });

  it.each([
    [{ subtype: 'success', is_error: true }, 'error'],
    [{ subtype: 'success', is_error: true, terminal_reason: 'completed' }, 'error'],
    [{ subtype: 'success', is_error: true, terminal_reason: 'prompt_too_long' }, 'prompt_too_long'],
    [
      { subtype: 'error_max_turns', is_error: true, terminal_reason: 'max_turns' },
      'error_max_turns',
    ],
  ])('names the error of %j %s (csdk §6.6)', async (fields, subtype) => {
    const end = (await eventsOf([text('m', 'a'), result({ result: 'Why.', ...fields })])).at(-1);
    expect(end).toMatchObject({ error: { subtype, message: 'Why.' } });
  });

  it('is no text of the model in agent.llm.output, and its detail is the run’s error (§18)', async () => {
    const { of } = await bridged(recorded('retries-exhausted.jsonl'), { gate: 'observe-only' });
    const error = expect.stringMatching(/^api_error: API Error: 529/);
    expect(of('agent.llm.output')).toMatchObject([{ payload: { assistantTexts: [], error } }]);
    expect(of('agent.completed')).toMatchObject([{ payload: { success: false, error } }]);
  });
});

describe('a model in the place of another (field trial IV.4)', () => {
  const fellBack = {
    fromModel: 'claude-sonnet-4-5',
    toModel: 'claude-haiku-4-5',
    reason: 'Switched to Haiku 4.5 due to high demand for Sonnet 4.5',
  };

  it('stands in agent_end (csdk §6.7)', async () => {
    const events = await eventsOf(recorded('fallback-model.jsonl'));
    expect(events.at(-1)).toMatchObject({ type: 'agent_end', fallback: fellBack });
  });

  it('is the model of agent.llm.output, with who was asked and why (§18.9)', async () => {
    const { of } = await bridged(recorded('fallback-model.jsonl'), { gate: 'observe-only' });
    expect(of('agent.llm.output')[0]?.payload).toMatchObject({
      provider: 'anthropic',
      model: 'claude-haiku-4-5',
      fallback: {
        phase: 'active',
        selectedProvider: 'anthropic',
        selectedModel: 'claude-sonnet-4-5',
        activeProvider: 'anthropic',
        activeModel: 'claude-haiku-4-5',
        reasonSummary: fellBack.reason,
      },
    });
  });

  const by = (model: string, id: string) =>
    frames.says(id, [], { message: { id, model, content: [{ type: 'text', text: id }] } });
  const fallback = (fields = {}) =>
    system('model_fallback', { original_model: 'big', fallback_model: 'small', ...fields });

  it.each([
    ['the one that was asked answers again', [fallback(), by('small', 'a'), by('big', 'b')]],
    ['it is a subagent’s', [fallback({ agent_id: 'a-1' }), by('big', 'b')]],
    ['it was for a side question', [fallback({ scope: 'local' }), by('big', 'b')]],
    ['the SDK went back', [fallback(), by('small', 'a'), fallback({ direction: 'revert' })]],
  ])('is not told if %s (csdk §6.7)', async (_, given) => {
    expect((await eventsOf([init(), ...given, result()])).at(-1)).not.toHaveProperty('fallback');
  });

  it('is told of a refusal that another model answered, too (csdk §6.7)', async () => {
    const refusal = system('model_refusal_fallback', {
      trigger: 'refusal',
      direction: 'retry',
      original_model: 'big',
      fallback_model: 'small',
    });
    const events = await eventsOf([init(), by('small', 'a'), refusal, result()]);
    const expected = { fromModel: 'big', toModel: 'small', reason: 'refusal' };
    expect(events.at(-1)).toMatchObject({ fallback: expected });
  });
});
