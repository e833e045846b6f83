import { describe, expect, it } from 'vitest';
import { withProgress } from '../../../src/cli/print/progress-bar.js';
import { virtualClock } from '../../../src/testing/index.js';

/** Some work with its bar: what was written to stderr, and the end of the work. */
function working(isTerminal: boolean, json: boolean, measure?: () => number | undefined) {
  const clock = virtualClock();
  const written: string[] = [];
  let end = (): void => undefined;
  const work = new Promise<void>((resolve) => {
    end = resolve;
  });
  const write = async (text: string): Promise<void> => void written.push(text);
  const stderr = { write, lines: () => undefined, flush: () => work, gone: AbortSignal.any([]) };
  const shell = { stderr, isTerminal: { stdin: false, stdout: false, stderr: isTerminal } };
  const ended = withProgress(shell, { json }, 'copied', () => work, measure, clock);
  return { clock, written, end, ended };
}

describe('the progress of a command', () => {
  it('is drawn on a terminal after two seconds, grows, and is gone at the end (§20.16)', async () => {
    let part = 0.25;
    const { clock, written, end, ended } = working(true, false, () => part);
    await clock.advance(1_999);
    expect(written).toEqual([]);
    await clock.advance(1);
    expect(written).toEqual(['\r\u001b[2Kcopied [######..................]  25 %, 2.0 s']);
    part = 2; // a file may have grown meanwhile
    await clock.advance(250);
    expect(written.at(-1)).toBe('\r\u001b[2Kcopied [########################] 100 %, 2.3 s');
    end();
    await ended;
    expect([written.at(-1), clock.pending]).toEqual(['\r\u001b[2K', 0]);
  });

  it('is a time alone if nobody knows how far it has come (§20.16)', async () => {
    const { clock, written } = working(true, false);
    await clock.advance(2_000);
    expect(written).toEqual(['\r\u001b[2Kcopied, 2.0 s']);
  });

  it.each([
    ['stderr is no terminal', false, false],
    ['--json is given', true, true],
  ])('is silent if %s (§20.16)', async (_, isTerminal, json) => {
    const { clock, written, end, ended } = working(isTerminal, json, () => 0.5);
    await clock.advance(10_000);
    end();
    await ended;
    expect(written).toEqual([]);
  });
});
