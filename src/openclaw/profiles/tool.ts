import { cancel, type Fields, isFields, type PayloadOf } from 'sluice-kernel/internal';
import { type Answer, type AtCall, lastGiven } from '../hooks/row.js';
import { readApproval, readParams, toolHooks } from '../hooks/tool.js';
import { fieldsOf, hostedHook, merged } from './merging.js';
import type { LegacyRunContext } from './shapes.js';

const { honoursInPlace: _, ...before } = toolHooks.before_tool_call;
const family = 'agent.tool.calling';

const asked = (answers: readonly Fields[]): Fields | undefined =>
  answers.find((answer) => answer['requireApproval']);

/** The last parameters win whole: those that a handler before has set and this one has not are as they were emitted. */
const readLastParams = (answer: Answer, { emitted, earlier }: AtCall) => {
  const before = earlier();
  if (asked(before) !== undefined) return undefined; // what is asked about stays as it is
  const read = readParams({ ...answer, inPlace: undefined });
  if (read === undefined || !isFields(read.params)) return read;
  const { params } = emitted as PayloadOf<typeof family>;
  const set = before.flatMap((one) => (isFields(one['params']) ? Object.keys(one['params']) : []));
  const back = set.filter((key) => Object.hasOwn(params, key)).map((key) => [key, params[key]]);
  return { params: { ...Object.fromEntries(back), ...read.params } };
};

const readBlock = ({ value }: Answer, { earlier }: AtCall) => {
  const { block, blockReason, requireApproval } = value;
  if (block === true)
    return cancel('blocked', typeof blockReason === 'string' ? { text: blockReason } : {});
  return requireApproval && asked(earlier()) === undefined
    ? readApproval(requireApproval)
    : undefined;
};

/** The parameters that the runner gives back: those of the last answer that counts, with what canonical handlers set. */
function paramsOf(
  payload: PayloadOf<typeof family>,
  answers: readonly Fields[],
  writes: readonly string[],
) {
  const first = answers.findIndex((answer) => answer['requireApproval']);
  const counting = first === -1 ? answers : answers.slice(0, first + 1);
  const last = lastGiven(counting, 'params');
  const keys = writes.filter((path) => path.startsWith('params.')).map((path) => path.slice(7));
  if (keys.length === 0) return last;
  return {
    ...fieldsOf(last),
    ...Object.fromEntries(keys.map((key) => [key, payload.params[key]])),
  };
}

/** The hooks around a tool call, as profile 2026.9 has them. */
export const toolHooks9 = {
  before_tool_call: {
    ...before,
    parts: [
      { family, class: 'mutator', read: readLastParams },
      { family, class: 'veto', read: readBlock },
    ],
    why: 'As in 2026.3, but each handler has a copy of the event, a handler that fails or takes too long refuses the call, and only the first approval is asked for. Parameters that come after it do not count.',
    merge: 'params: the last, whole, until an approval is required; block: true ends the stage',
    timeoutMs: 15_000,
    isClosed: true,
    copies: 'each',
    ends: (answer) => (fieldsOf(answer)['block'] === true ? 'block=true' : undefined),
    result: (ending) => {
      const { outcomes, answers, plugins, canonicalWrites } = ending;
      const [outcome] = outcomes;
      const question = asked(answers);
      const cancelled = outcome.status === 'cancelled' ? outcome.cancel : undefined;
      const isOwnQuestion = question !== undefined && cancelled?.question !== undefined;
      return merged(ending, {
        params: paramsOf(outcome.payload as PayloadOf<typeof family>, answers, canonicalWrites),
        block: outcome.status === 'passed' || isOwnQuestion ? undefined : true,
        blockReason:
          lastGiven(answers, 'blockReason') ?? (isOwnQuestion ? undefined : cancelled?.text),
        requireApproval: question && {
          ...fieldsOf(question['requireApproval']),
          pluginId: plugins[answers.indexOf(question)],
        },
      });
    },
  } satisfies typeof before,
  after_tool_call: toolHooks.after_tool_call,
  resolve_exec_env: hostedHook<
    { sessionKey?: string; toolName: 'exec'; host: string },
    LegacyRunContext,
    Record<string, string>
  >()({
    kind: 'modifying',
    why: 'The environment of a command belongs to the tool that starts it. The tools of an agent are its own here, so nobody asks.',
    merge: 'by name, the last of each',
  }),
};
