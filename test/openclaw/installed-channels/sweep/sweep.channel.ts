import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { modes } from './faults.js';
import { providers } from './providers.js';
import { phases, type Sweep, type SweepCase, type SweepSays, startSweep } from './sweep.js';

const openclaw = inject('openClawWithChannels');
/** All channels, moments and faults; otherwise three channels whose members throw when a message comes. */
const isWhole = process.env['SWEEP'] === 'whole';
const channels = isWhole ? Object.keys(providers) : ['signal', 'mattermost', 'feishu'];
const shortPhases: readonly SweepCase['phase'][] = ['message'];
/** The functions of an object that a member has made: a plugin looks whether it has one. */
const isMade = /\.(?:open|create|getChild)[A-Z]\w*\./;

describe.skipIf(openclaw === undefined)(
  'a member of the api that fails (event-pipeline §17.36)',
  () => {
    let sweep: Sweep;
    beforeAll(async () => {
      sweep = await startSweep(channels);
    });
    afterAll(() => sweep[Symbol.asyncDispose]());

    /** The members that a channel calls from a moment on, if nothing fails: then it answers. */
    const calledIn = async (one: SweepCase): Promise<readonly string[]> => {
      const said = await sweep.run(one);
      expect(said).toMatchObject({ verdict: 'answered' });
      return said.called;
    };

    it.each(channels)(
      'loses no message of %s silently: it is answered, told, or waits',
      async (channel) => {
        const tally: Record<string, number> = {};
        const lost: SweepSays[] = [];
        const never = new Set(isWhole ? await sweep.members() : []);
        for (const phase of isWhole ? phases : shortPhases) {
          const called = await calledIn({ channel, phase });
          for (const member of called) {
            never.delete(member);
            for (const mode of isWhole ? modes : modes.slice(0, 1)) {
              if (mode === 'is absent' && isMade.test(member)) continue;
              const said = await sweep.run({ channel, phase, fault: { member, mode } });
              tally[said.verdict] = (tally[said.verdict] ?? 0) + 1;
              if (['lost', 'acknowledged', 'broken'].includes(said.verdict)) lost.push(said);
            }
          }
        }
        for (const member of never) {
          const said = await sweep.run({
            channel,
            phase: 'start',
            fault: { member, mode: 'throws' },
          });
          if (said.verdict !== 'answered') lost.push(said);
        }
        console.log(
          `${channel}: ${JSON.stringify(tally)}, and ${never.size} members that it never calls`,
        );
        expect(lost).toEqual([]);
        expect(Object.keys(tally).length).toBeGreaterThan(1);
      },
    );
  },
);
