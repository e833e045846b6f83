import { describe, expect, it } from 'vitest';
import http from '../../extensions/http/src/index.js';
import quietHours from '../../extensions/quiet-hours/src/index.js';
import slack from '../../extensions/slack/src/index.js';
import telegram from '../../extensions/telegram/src/index.js';
import threadOwnership from '../../extensions/thread-ownership/src/index.js';
import { type Extension, loadExtension } from '../../src/sdk/extension/index.js';
import { createTestKernel } from '../../src/testing/index.js';

const agents = [{ id: 'main', name: 'Main' }];
const pilots: readonly (readonly [string, Extension, object, readonly string[]])[] = [
  ['quiet-hours', quietHours, { from: '22:00', to: '07:00' }, ['veto:egress.preparing']],
  ['thread-ownership', threadOwnership, { agents }, ['veto:egress.preparing']],
  ['telegram', telegram, {}, ['provide:channel']],
  ['slack', slack, {}, ['provide:channel']],
  ['http', http, {}, ['provide:channel', 'veto:egress.preparing']],
];

describe.each(pilots)('the manifest of %s (§13.6)', (id, extension, config, grants) => {
  it('asks for what the extension needs under least privilege (§12.5), and for no more', async () => {
    expect(extension.manifest.grants).toEqual(grants);
    const { kernel } = createTestKernel({
      leastPrivilege: true,
      grants: { [id]: grants },
    });
    const loaded = await loadExtension(kernel, extension, { config });
    expect(loaded).toMatchObject({ status: 'loaded', manifest: { sluice: '~0.2.0' } });
    const used = kernel
      .stages()
      .flatMap(({ stage, handlers }) => handlers.map((one) => `${one.class}:${stage.family}`))
      .filter((use) => !use.startsWith('observer:'));
    if (loaded.status === 'loaded' && loaded.provided('channel').length > 0)
      used.push('provide:channel');
    expect(used.toSorted()).toEqual([...grants].toSorted());
  });

  it('names what is missing where nothing is granted', async () => {
    const { kernel } = createTestKernel({ leastPrivilege: true });
    const loaded = await loadExtension(kernel, extension, { config });
    expect(loaded).toMatchObject({
      status: 'disabled',
      error: {
        code: 'not-granted',
        message: expect.stringContaining(`Its manifest asks for: ${grants.join(', ')}.`),
      },
    });
  });
});
