import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { agentEventRows } from '../../../src/openclaw/agent-events/rows.js';
import { internalHookRows } from '../../../src/openclaw/internal-hooks/rows.js';

const text = readFileSync(new URL('../../../spec/retirement.md', import.meta.url), 'utf8');

describe('spec/retirement.md', () => {
  it.each(internalHookRows)('says what becomes of $type:$action', ({ type, action, ...row }) => {
    const line = text
      .split('\n')
      .find((one) => one.startsWith('| `') && one.includes(`\`${type}:${action}\``));
    const [, , dispatched = '', heard = ''] = line?.split('|') ?? [];
    expect(/^ nothing/.test(dispatched)).toBe(row.source === undefined);
    const sinks = row.sinks.map(({ family }) => family);
    const told = heard.includes('the same') ? dispatched : heard;
    for (const family of sinks) expect(told).toContain(family);
  });

  it.each([...new Set(agentEventRows.map(({ stream }) => stream))])(
    'says what becomes of the stream %s',
    (stream) => {
      expect(text).toMatch(new RegExp(`streams? [^.]*\\b${stream}\\b`));
    },
  );
});
