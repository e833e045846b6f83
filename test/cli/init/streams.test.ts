import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import shout from '../../../docs/examples/shout.js';
import { starterFiles } from '../../../src/cli/init/starter-files.js';
import type { Extension } from '../../../src/index.js';
import { startTestHost, type TestHostOptions, virtualClock } from '../../../src/testing/index.js';
import { slowly } from '../../support/slowly.js';
import { root } from '../../support/source-tree.js';
import { streamingChannel } from '../../support/streaming-channel.js';
import { end, said, start } from '../../support/turn-lab.js';

type TestExtension = NonNullable<TestHostOptions['extensions']>[number];

/** The extension of a new host, as `sluice init` writes it: compiled from a file of this project, so that it finds `sluice`. */
async function guard(): Promise<TestExtension> {
  const folder = join(root, '.cache/compiled');
  mkdirSync(folder, { recursive: true });
  const file = join(folder, 'guard.ts');
  writeFileSync(file, starterFiles({ name: 'host', source: '*' })['extensions/guard.ts'] ?? '');
  const { default: extension } = (await import(file)) as { readonly default: Extension };
  return { extension, config: { signature: 'me' } };
}

const templates = join(root, 'extensions/create-sluice/templates');

async function template(kind: string): Promise<TestExtension> {
  const file = join(templates, kind, 'src/index.ts');
  const { default: extension } = (await import(file)) as { readonly default: Extension };
  return kind === 'channel' ? { extension, config: { port: 0 } } : extension;
}

/** What a person sees of an answer that grows, in a host with an extension. */
async function shownBeside(extension: TestExtension) {
  const channel = streamingChannel();
  const clock = virtualClock();
  const provider = slowly(clock, () => [start, ...said('Hello wide world'), end()]);
  const agents = [{ id: 'main', provider }];
  await using host = await startTestHost({
    channel,
    clock,
    agents,
    defaultAgent: 'main',
    extensions: [extension],
  });
  const saying = host.say('hi');
  await clock.advance(10_000);
  await saying;
  return channel.everShown;
}

describe('a host shows an answer while it grows (§14.7)', () => {
  it('with the extension that sluice init writes, which signs the whole', async () => {
    const shown = await shownBeside(await guard());
    expect(shown.filter(({ by }) => by === 'preview').length).toBeGreaterThan(1);
    expect(shown.at(-1)).toEqual({ by: 'final', text: 'Hello wide world\n-- me' });
  });

  const kinds = readdirSync(templates).filter((name) => name !== 'common');

  it.each(kinds)('with the extension of the template %s of create-sluice', async (kind) => {
    const shown = await shownBeside(await template(kind));
    expect(shown.filter(({ by }) => by === 'preview').length).toBeGreaterThan(1);
    expect(shown.at(-1)).toEqual({ by: 'final', text: 'Hello wide world' });
  });

  it('but not with the README’s shout, which says so: it changes the text as a whole', async () => {
    expect(await shownBeside(shout)).toEqual([{ by: 'send', text: 'HELLO WIDE WORLD' }]);
  });
});
