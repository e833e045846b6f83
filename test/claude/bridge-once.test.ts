import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CsdkFrame } from '../../src/claude/index.js';
import type { FamilyName } from '../../src/kernel/internal.js';
import { type BridgeLab, bridged, frames, type SdkSide } from '../support/bridge-lab.js';

const { init, text, call, answer, result, system } = frames;

/** Comes once: a hook that comes again announces another compaction. */
const compacts: Step = ({ hook }) => hook('PreCompact', { trigger: 'auto' });

type Step = CsdkFrame | ((sdk: SdkSide) => unknown);

const bash = { command: 'ls' };
const task = { description: 'look', subagent_type: 'explore' };
const lane = { parent_tool_use_id: 'p', agent_id: 'a-1' };
const child = { task_id: 'a-1', tool_use_id: 'p', subagent_type: 'explore' };

/** A run with a tool, a subagent that calls one, and a compaction; each fact announced in several ways. */
function steps(): readonly Step[] {
  return [
    init(),
    ({ pre }) => pre('t', 'Bash', bash),
    call('t', 'Bash', bash),
    ({ permit }) => permit('t', 'Bash', bash),
    ({ hook }) => hook('PostToolUse', { tool_name: 'Bash', tool_use_id: 't' }),
    answer('t', 'a.txt'),
    call('p', 'Task', task),
    ({ pre }) => pre('p', 'Task', task),
    ({ hook }) => hook('SubagentStart', { agent_id: 'a-1', agent_type: 'explore' }),
    system('task_started', child),
    ({ pre }) => pre('c', 'Read', {}, { agent_id: 'a-1' }),
    call('c', 'Read', {}, lane),
    answer('c', 'text', lane),
    ({ hook }) => hook('SubagentStop', { agent_id: 'a-1' }),
    system('task_updated', { task_id: 'a-1', patch: { status: 'completed' } }),
    system('task_notification', { task_id: 'a-1', status: 'completed' }),
    answer('p', 'Saw it.'),
    compacts,
    system('compact_boundary', { compact_metadata: { trigger: 'auto' } }),
    text('m9', 'Done.'),
    result(),
  ];
}

/** How often each fact was told. */
function counts(lab: BridgeLab): Record<string, number> {
  const byCall = (family: 'agent.tool.calling' | 'agent.tool.called') =>
    Object.fromEntries(
      ['t', 'p', 'c'].map((id) => [
        `${family} ${id}`,
        lab.of(family).filter(({ payload }) => payload.toolCallId === id).length,
      ]),
    );
  const once: readonly FamilyName[] = [
    'agent.starting',
    'agent.llm.input',
    'subagent.spawning',
    'subagent.spawned',
    'subagent.completed',
    'compaction.before',
    'compaction.after',
    'agent.completed',
    'agent.llm.output',
  ];
  const families = Object.fromEntries(once.map((family) => [family, lab.of(family).length]));
  return { ...byCall('agent.tool.calling'), ...byCall('agent.tool.called'), ...families };
}

describe('a bridged run whose facts are announced again and again', () => {
  it('tells each of them once, whichever are repeated, awaited or left out (§18.1)', async () => {
    const times = fc.array(fc.constantFrom(1, 1, 1, 2, 3), { minLength: 21, maxLength: 21 });
    const isAwaited = fc.array(fc.boolean(), { minLength: 21, maxLength: 21 });
    const isLeftOut = fc.array(fc.boolean(), { minLength: 21, maxLength: 21 });
    await fc.assert(
      fc.asyncProperty(times, isAwaited, isLeftOut, async (often, awaited, leftOut) => {
        const lab = await bridged(async function* (sdk) {
          for (const [index, step] of steps().entries())
            for (let n = 0; n < (step === compacts ? 1 : (often[index] ?? 1)); n++)
              if (typeof step !== 'function') yield step;
              else if (leftOut[index] !== true) {
                const called = step(sdk);
                if (awaited[index] === true) await called;
              }
        });
        for (const [fact, count] of Object.entries(counts(lab))) expect(count, fact).toBe(1);
        expect(lab.families().slice(-2)).toEqual(['agent.completed', 'agent.llm.output']);
      }),
      { numRuns: 200 },
    );
  });
});
