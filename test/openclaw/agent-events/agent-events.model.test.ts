import fc from 'fast-check';
import { expect, it } from 'vitest';
import { agentEventModel } from '../../support/agent-event-model.js';
import {
  agentEventSequences,
  agentTranscript,
  bridgedAgentBus,
} from '../../support/agent-event-sequences.js';

const seed = 20_260_316;

it(`the agent event bus does what its model does, in generated sequences (seed ${seed})`, () => {
  fc.assert(
    fc.property(agentEventSequences, (steps) => {
      const expected = agentTranscript(agentEventModel(), steps, '');
      expect(agentTranscript(bridgedAgentBus(), steps, '')).toStrictEqual(expected);
    }),
    { seed, numRuns: 300 },
  );
});
