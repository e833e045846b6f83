import { describe, it } from 'vitest';
import { points } from '../../../extensions/guard/src/agents/codec.js';
import { agents } from '../../../extensions/guard/src/agents/index.js';
import { expectFresh, heading, table } from '../../support/generated.js';

const about = `This page shows what the guard can do at each point of the work of each agent. It is made of the codecs.

- enforced: the agent obeys a refusal. "changes" says that it takes changed parameters, or a changed result, too.
- observed: the agent tells, and goes on.
- The releases are those whose hooks were read. "run" says that the real program was tried with a model on loopback, and
  "documented" that its documents were read. \`sluice guard doctor\` says so if yours is another.
`;

describe('the page of agents', () => {
  it('says what each codec says', () => {
    const rows = agents.map(({ title, points: own }) => [
      title,
      ...points.map((point) => {
        const codec = own[point];
        if (codec === undefined) return 'absent';
        return `${codec.effect}${codec.takesChanges ? ', changes' : ''}`;
      }),
    ]);
    const hooks = agents.map(({ title, points: own }) => [
      title,
      ...points.map((point) => (own[point] === undefined ? '' : `\`${own[point].hook}\``)),
    ]);
    const releases = agents.map(({ title, release, proof, tools }) => {
      const named = Object.entries(tools).map(([name, { is }]) => `${name} (${is})`);
      return [title, release, proof, named.join(', ')];
    });
    const text = [
      heading('Agents that the guard knows', about, 'test/guard/agents/guard-agents-page.test.ts'),
      table(['agent', ...points], rows),
      '\n## Releases and tools\n',
      'A tool without a shared name keeps its own, as tools of MCP servers do.\n',
      table(['agent', 'release', 'proof', 'tools with a shared name'], releases),
      '\n## Hooks\n',
      table(['agent', ...points], hooks),
      '',
    ].join('\n');
    expectFresh('docs/guard-agents.md', text);
  });
});
