import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const textOf = (name: string) =>
  readFileSync(new URL(`../../docs/several-hosts/${name}`, import.meta.url), 'utf8');

describe('the examples of several hosts', () => {
  it('have a unit of systemd whose lines are sections, settings and comments, each setting in its section', () => {
    const sections = new Map<string, string[]>();
    let section = '';
    for (const line of textOf('sluice.service').split('\n')) {
      if (line === '' || line.startsWith('#')) continue;
      const [, named] = /^\[(\w+)\]$/.exec(line) ?? [];
      if (named !== undefined) sections.set((section = named), []);
      else
        sections.get(section)?.push(/^([A-Z]\w+)=\S.*$/.exec(line)?.[1] ?? `no setting: ${line}`);
    }
    expect(Object.fromEntries(sections)).toEqual({
      Unit: ['After', 'Wants', 'StartLimitIntervalSec'],
      Service: [
        ...['WorkingDirectory', 'EnvironmentFile', 'ExecStart', 'Restart', 'RestartSec'],
        'TimeoutStopSec',
      ],
      Install: ['WantedBy'],
    });
  });

  it('have a compose file of lines that are indented by two, with a service of three hosts', () => {
    const lines = textOf('compose.yaml')
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'));
    for (const line of lines) expect(line).toMatch(/^(?: {2})*[\w-]+:(?: \S.*)?$/);
    expect(lines).toEqual(expect.arrayContaining(['services:', '  sluice:', '      replicas: 3']));
  });
});
