import { describe, expect, it } from 'vitest';
import { slackDecisions, slackParts } from '../pilots/slack/mapping.js';
import { expectFresh, heading, table } from '../support/generated.js';
import { testTitles } from '../support/test-titles.js';

describe('spec/pilots/slack.md', () => {
  it.each(slackParts)('%s has a test, which is there', (_, __, test) => {
    expect(testTitles(test.file)).toContain(test.title);
  });

  it('shows the mapping and the decisions', () => {
    const about =
      'Each part of Slack that `extensions/slack` uses, and its counterpart. The tests run the real channel with Slack’s own\n' +
      'libraries against a Slack on loopback: Web API, sockets and Events API, with faults. They were not run against Slack\n' +
      'itself, and the channel was not compared with OpenClaw’s own.';
    const parts = slackParts.map(([slack, here, { file, title }]) => [
      slack,
      here,
      `${file.split('/').at(-1)}: ${title}`,
    ]);
    const document = [
      heading('Pilot: slack', about, 'test/spec/slack.test.ts').trimEnd(),
      `## Slack to canonical\n\n${table(['Slack', 'canonical', 'test'], parts)}`,
      `## Decisions\n\n${table(['what', 'why'], slackDecisions)}`,
    ].join('\n\n');
    expectFresh('spec/pilots/slack.md', `${document}\n`);
  });
});
