import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { agentEventModel } from '../support/agent-event-model.js';
import {
  type AgentBus,
  agentCalls,
  agentEventSequences,
  agentTranscript,
  bridgedAgentBus,
} from '../support/agent-event-sequences.js';
import { type AgentEventsModule, openClawModule } from '../support/openclaw-modules.js';
import { openClawPackage } from '../support/openclaw-package.js';

const sets = 2_000;
const seed = 20_260_316;
const { root } = await openClawPackage();

/** The real bus. One instance serves all sequences: each has runs of its own, and takes its listeners away. */
function realBus(real: AgentEventsModule): AgentBus {
  return {
    emit: (event) => real.emitAgentEvent(event as never), // generated to be of the shape, or nearly
    on: (listener) => real.onAgentEvent(listener as never),
    register: (runId, context) => real.registerAgentRunContext(runId, context),
    context: (runId) => real.getAgentRunContext(runId),
    clear: (runId) => real.clearAgentRunContext(runId),
  };
}

describe.skipIf(root === undefined)('the agent event bus and the real one', () => {
  it(`do the same in ${sets} generated sequences, and so does the model`, async () => {
    const real = await openClawModule(root as string, 'agentEvents');
    let compared = 0;
    let calls = 0;
    fc.assert(
      fc.property(agentEventSequences, (steps) => {
        const salt = `-${compared}`;
        const expected = agentTranscript(realBus(real), steps, salt);
        real.clearAgentRunContext('');
        expect(agentTranscript(bridgedAgentBus(), steps, salt)).toStrictEqual(expected);
        expect(agentTranscript(agentEventModel(), steps, salt)).toStrictEqual(expected);
        compared++;
        calls += agentCalls(expected);
      }),
      { seed, numRuns: sets },
    );
    console.log(`agent events: ${compared} sequences, ${calls} listener calls, seed ${seed}`);
    expect(compared).toBeGreaterThanOrEqual(sets);
  }, 300_000);
});
