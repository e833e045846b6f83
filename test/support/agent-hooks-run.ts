import { isDeepStrictEqual } from 'node:util';
import { HooksHost, type InterceptionRecord } from './agent-hooks-host.js';
import { at, type Fields, type Vector } from './agent-hooks-vectors.js';

/** All that a run of a vector has shown. */
export interface HooksRun {
  readonly interceptions: readonly Fields[];
  readonly records: readonly InterceptionRecord[];
  readonly invocations: readonly { readonly name: string; readonly args: Fields }[];
  readonly finalOutput: unknown;
  readonly outcome: 'completed' | 'blocked';
}

/** Thrown where a denial ends the run. */
class Blocked extends Error {}

/** Runs the agent of a vector: its model answers as it is scripted, and its eight points are judged. */
export async function runVector(vector: Vector, recheck: boolean): Promise<HooksRun> {
  const host = new HooksHost(vector, recheck);
  const { input, tools = [], model_script = [] } = vector.scenario;
  const invocations: { name: string; args: Fields }[] = [];
  let sequence = 0;
  const emit = (interception_point: string, fields: Fields, target: unknown) =>
    host.intercept({
      spec: 'agent-hooks/0.1',
      interception_point,
      timestamp: '2026-01-01T00:00:00.000Z',
      sequence: sequence++,
      agent: { id: 'agent-1', framework: 'sluice-kernel' },
      session: { id: 's-1' },
      ...fields,
      target,
    });
  const mustPass = async (point: string, fields: Fields, target: unknown): Promise<Fields> => {
    const { context, denied } = await emit(point, fields, target);
    if (denied !== undefined) throw new Blocked(denied);
    return context;
  };
  const model = { id: 'scripted' };

  const callTool = async (call: Fields): Promise<string> => {
    const before = await emit('pre_tool_call', { tool_call: call }, call['args']);
    if (before.denied !== undefined) return before.denied;
    const name = String(call['name']);
    const args = at(before.context, 'tool_call.args') as Fields; // the schema of a call says so
    invocations.push({ name, args });
    const behavior = tools.find((tool) => tool.name === name)?.behavior ?? [];
    const answer = behavior.find(({ when_args = {} }) =>
      Object.entries(when_args).every(([key, value]) => isDeepStrictEqual(args[key], value)),
    );
    const { return: value = null, is_error = false } = answer ?? {};
    const told = { tool_call: { ...call, args }, tool_result: { value, is_error } };
    const after = await emit('post_tool_call', told, value);
    return after.denied ?? JSON.stringify(at(after.context, 'tool_result.value'));
  };

  const converse = async (): Promise<unknown> => {
    const tools_registered = tools.map(({ name }) => name);
    await mustPass('agent_startup', { agent_init: { tools_registered } }, { tools_registered });
    const asked = await mustPass('input', { input }, input);
    const messages: Fields[] = [{ role: 'user', content: at(asked, 'input.content') }];
    for (const { respond } of model_script) {
      const { stream: _, ...scripted } = respond as typeof respond & { readonly stream?: unknown };
      await mustPass('pre_model_call', { model, messages: [...messages] }, [...messages]);
      const told = await mustPass('post_model_call', { model, response: scripted }, scripted);
      const response = told['response'] as typeof respond; // as the schema of a response has it
      if (response.tool_calls.length === 0) {
        const output = { content: response.content };
        return at(await mustPass('output', { output }, output), 'output.content');
      }
      messages.push({ role: 'assistant', content: response.content });
      for (const call of response.tool_calls)
        messages.push({ role: 'tool', content: await callTool(call) });
    }
    return null;
  };

  const end = await converse().then(
    (finalOutput) => ({ finalOutput, outcome: 'completed' as const, reason: 'completed' }),
    (error: unknown) => {
      if (!(error instanceof Blocked)) throw error;
      return { finalOutput: null, outcome: 'blocked' as const, reason: 'error' };
    },
  );
  const { reason, ...ended } = end;
  await emit('agent_shutdown', { summary: { reason } }, { reason });
  return { ...ended, interceptions: host.interceptions, records: host.records, invocations };
}
