import { describe, expect, it } from 'vitest';
import { recordedRuns } from '../../src/cli/recorded-runs.js';
import type { CsdkFrame } from '../../src/csdk/index.js';

async function* recording(types: string): AsyncGenerator<CsdkFrame> {
  for (const type of types.split(' ').filter((word) => word !== '')) yield { type };
}

async function runsOf(types: string): Promise<string[]> {
  const runs: string[] = [];
  for await (const run of recordedRuns(recording(types))) {
    const read: string[] = [];
    for await (const { type } of run) read.push(type);
    runs.push(read.join(' '));
  }
  return runs;
}

describe('the runs of a recording', () => {
  it('end with their result', async () => {
    expect(await runsOf('system assistant result system stream_event result')).toEqual([
      'system assistant result',
      'system stream_event result',
    ]);
  });

  it('take what follows the last result only where the model speaks in it', async () => {
    expect(await runsOf('assistant result system')).toEqual(['assistant result']);
    expect(await runsOf('assistant result assistant')).toEqual(['assistant result', 'assistant']);
  });

  it('are one where there is no result, and none where there is nothing', async () => {
    expect(await runsOf('system')).toEqual(['system']);
    expect(await runsOf('')).toEqual([]);
  });

  it('begin after 1,000 frames without speech, so that a large file is not held in memory', async () => {
    const [run = ''] = await runsOf('system '.repeat(2_500));
    expect(run.split(' ')).toHaveLength(2_500);
    let given = 0;
    async function* silent(): AsyncGenerator<CsdkFrame> {
      for (;;) yield { type: 'system', n: given++ };
    }
    for await (const _ of recordedRuns(silent())) break;
    expect(given).toBe(1_000);
  });

  it('are skipped to their end where they are not read to it', async () => {
    let count = 0;
    for await (const run of recordedRuns(recording('assistant user result assistant result'))) {
      count++;
      for await (const _ of run) break;
    }
    expect(count).toBe(2);
  });
});
